"""Grading in c-Interact and a-Interact: a Query by its rows, a Management task by its test cases."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading._second_run import with_second_run
from birdenv.grading.interact._job import Grade, GradingJob
from birdenv.grading.workers._graded import Graded, GradingSettings
from birdenv.grading.workers._grading import Grading, places_of

_DEFAULT_LIMITS: Final = Limits()


class InteractGrader:
    """Grades c-Interact submissions under any rules, in worker processes; may be used by several threads."""

    def __init__(self, source: DatabaseSource, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._under = lru_cache(maxsize=2)(
            lambda limits: Grading(
                GradingSettings(places_of(source), limits, "interact"), _uncompared, source
            )
        )

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """Grade one submission.

        What the prediction leaves in an open transaction is lost, and counts as not done (under strict
        rules). `base_pred` is the prediction's too: where it fails, the prediction fails. Where a limit ended
        a statement, everything runs once more, alone and with twice the limit, before that is the verdict.
        Rows that cannot be compared within 30 s of processor time do not agree.

        Raises:
            InputError: the database cannot be opened.
            InfrastructureError: there is no memory for grading, nor was in a new worker; or no worker can be
                started.
        """
        if not prediction.strip():
            return Grade(False, "no_submission", "no SQL was submitted")
        if not job.gold:
            return Grade(False, "infra_error", "there is no gold SQL")
        graded = with_second_run(
            lambda limits: self._under(limits).do([(job, prediction)])[0], self._limits, _was_late
        )
        grade: Grade = graded.found
        return grade


def _was_late(graded: Graded) -> bool:
    """Whether a limit may have made the grade what it is."""
    return graded.was_late or (graded.state_was_late and graded.found.status == "infra_error")


def _uncompared(reason: str) -> Grade:
    return Grade(False, "wrong_result", reason)
