"""Grading BIRD-Interact: jobs, Management, and the reference evaluators' rules."""

from birdenv.grading.interact._grader import InteractGrader
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
    "InteractGrader",
]
