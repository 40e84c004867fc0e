"""Grading in c-Interact: a Query by its rows, a Management task by its test cases.

`GradingJob.rules` say how: ours (BIRD-Interact §4, the strict column of §7.4), where the gold runs on its own
pristine copy and never after the prediction, a Query prediction may only read, and a benchmark that does not
run is not the model's failure; or those of the published evaluators, on a disposable copy.
"""

from __future__ import annotations

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading.interact._job import (
    Grade,
    GradingJob,
)
from birdenv.grading.interact._management import ManagementGrader
from birdenv.grading.interact._query import StrictQueryGrader
from birdenv.grading.interact._reference import ReferenceGrader


class LocalInteractGrader:
    """Grades c-Interact submissions under any rules, in the process that asks, which is a worker."""

    def __init__(self, source: DatabaseSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """See `InteractGrader.grade`; without a second run."""
        grader: ReferenceGrader | ManagementGrader | StrictQueryGrader
        if job.rules.comparison == "published":
            grader = ReferenceGrader(self._source, self._limits)
        elif job.category == "Management":
            grader = ManagementGrader(self._source, self._limits)
        else:
            grader = StrictQueryGrader(self._source, self._limits)
        return grader.grade(job, prediction)
