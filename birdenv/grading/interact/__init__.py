"""Grade BIRD-Interact submissions, for `birdenv.grading.InteractGrader`."""

from birdenv.grading.interact._job import (
    GRADING_RULES,
    STRICT_RULES,
    Category,
    Grade,
    GradingJob,
    GradingRules,
)

__all__ = [
    "GRADING_RULES",
    "STRICT_RULES",
    "Category",
    "Grade",
    "GradingJob",
    "GradingRules",
]
