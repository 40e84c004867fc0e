"""Grading in c-Interact: a Query by its rows, a Management task by its test cases.

`GradingJob.rules` say how: ours (BIRD-Interact §4, the strict column of §7.4), where the gold runs on its own
pristine copy and never after the prediction, a Query prediction may only read, and a benchmark that does not
run is not the model's failure; or those of the published evaluators, on a disposable copy.
"""

from __future__ import annotations

from typing import Final, cast

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading._second_run import NotedSource, with_memory, with_second_run
from birdenv.grading.compare._nested import NESTED_TOO_DEEPLY
from birdenv.grading.interact._job import (
    Grade,
    GradingJob,
)
from birdenv.grading.interact._management import ManagementGrader
from birdenv.grading.interact._query import StrictQueryGrader
from birdenv.grading.interact._reference import ReferenceGrader

_DEFAULT_LIMITS: Final = Limits()


class InteractGrader:
    """Grades c-Interact submissions under any rules; may be used by several threads."""

    def __init__(self, source: DatabaseSource, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._source = source
        self._limits = limits

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """Grade one submission.

        What the prediction leaves in an open transaction is lost, and counts as not done (under strict
        rules). `base_pred` is the prediction's too: where it fails, the prediction fails. Where a limit ended
        a statement, everything runs once more, alone and with twice the limit, before that is the verdict.

        Raises:
            InputError: the database cannot be opened.
            InfrastructureError: there is no memory for grading, nor was after a garbage collection.
        """
        try:
            return with_memory(lambda: self._grade(job, prediction))
        except RecursionError:
            return Grade(False, "sql_error", NESTED_TOO_DEEPLY)

    def _grade(self, job: GradingJob, prediction: str) -> Grade:
        if not prediction.strip():
            return Grade(False, "no_submission", "no SQL was submitted")
        if not job.gold:
            return Grade(False, "infra_error", "there is no gold SQL")
        grade, _ = with_second_run(
            lambda limits: self._grade_once(job, prediction, limits), self._limits, lambda found: found[1]
        )
        return grade

    def _grade_once(self, job: GradingJob, prediction: str, limits: Limits) -> tuple[Grade, bool]:
        """The grade, and whether a limit may have made it what it is."""
        noted = NotedSource(self._source)
        source = cast(DatabaseSource, noted)
        grader: ReferenceGrader | ManagementGrader | StrictQueryGrader
        if job.rules.comparison == "published":
            grader = ReferenceGrader(source, limits)
        elif job.category == "Management":
            grader = ManagementGrader(source, limits)
        else:
            grader = StrictQueryGrader(source, limits)
        grade = grader.grade(job, prediction)
        return grade, noted.was_late or (noted.state_was_late and grade.status == "infra_error")
