"""The rules of grading BIRD-Interact, and its jobs; `birdenv.grading.InteractGrader` does them."""

from birdenv.grading.interact._job import (
    GRADING_RULES,
    STRICT_RULES,
    Category,
    Grade,
    GradeStatus,
    GradingJob,
    GradingRules,
)

__all__ = [
    "GRADING_RULES",
    "STRICT_RULES",
    "Category",
    "Grade",
    "GradeStatus",
    "GradingJob",
    "GradingRules",
]
