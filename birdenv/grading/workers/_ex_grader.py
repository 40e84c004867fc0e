"""Execution accuracy (EX): does a predicted query return what a gold query returns?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, cast

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading._second_run import with_second_run
from birdenv.grading._verdict import ExVerdict
from birdenv.grading.compare._metrics import Metric
from birdenv.grading.workers._graded import ExSettings, GradingSettings
from birdenv.grading.workers._grading import Grading, places_of

_DEFAULT_LIMITS: Final = Limits()


class ExGrader:
    """Grades predictions against golds, every query on its own freshly opened database.

    Grading runs in worker processes. Where a time limit ended a statement, the pair is graded once more,
    alone and with twice the limit, before that is the verdict. Rows that cannot be compared within 30 s of
    processor time do not agree. One grader may be used by several threads.

    Args:
        source: the databases.
        limits: of each statement.
        clean: take away what surrounds the SQL (`clean_sql`) before `ex` and the `metrics` are worked out.
        metrics: beside EX.
        fail_doubtful: a prediction that reads no table fails, by every metric, if the gold reads some.
    """

    def __init__(
        self,
        source: DatabaseSource,
        limits: Limits = _DEFAULT_LIMITS,
        clean: bool = False,
        metrics: Sequence[Metric] = (),
        *,
        fail_doubtful: bool = False,
    ) -> None:
        self._limits = limits
        settings = ExSettings(clean, tuple(metrics), fail_doubtful)
        self._under = lru_cache(maxsize=2)(lambda limits: ex_grading(source, limits, settings))

    def grade(self, db_id: str, golds: Sequence[str], prediction: str | None) -> ExVerdict:
        """Return whether the prediction returns what any of the golds returns, and why not.

        A gold that fails to run matches nothing; if no other gold matches, the status is `gold_error`. Values
        that are nested too deeply to be compared are an error of the prediction's.

        Raises:
            InputError: the database cannot be opened.
            InfrastructureError: there is no memory for grading, nor was in a new worker; or no worker can be
                started.
        """
        job = (db_id, tuple(golds), prediction)
        return with_second_run(
            lambda limits: cast(ExVerdict, self._under(limits).do([job])[0].found),
            self._limits,
            lambda verdict: verdict.was_late,
        )


def ex_grading(source: DatabaseSource, limits: Limits, settings: ExSettings) -> Grading:
    """Return what does jobs of (database, golds, prediction)."""

    def uncompared(reason: str) -> ExVerdict:
        return ExVerdict(False, False, reason, "wrong_result", metrics=dict.fromkeys(settings.metrics, 0.0))

    return Grading(GradingSettings(places_of(source), limits, settings), uncompared, source)
