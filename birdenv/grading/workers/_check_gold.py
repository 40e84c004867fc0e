"""Checking that a gold passes its own grading."""

from __future__ import annotations

from typing import Final

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading._gold_check import GoldCheck
from birdenv.grading._second_run import with_second_run
from birdenv.grading.workers._graded import GradingSettings
from birdenv.grading.workers._grading import Grading, places_of

_DEFAULT_LIMITS: Final = Limits()


def check_gold(source: DatabaseSource, db_id: str, sql: str, limits: Limits = _DEFAULT_LIMITS) -> GoldCheck:
    """Run a gold twice, each time on a fresh database, and compare it with itself in every mode.

    `superset` is left out where the result is empty: it never agrees there. Values that are nested too deeply
    to be compared are a failure under `gold`. Where a time limit ended a run, both run once more, alone and
    with twice the limit.

    Raises:
        InputError: the database cannot be opened.
    """

    def run(limits: Limits) -> tuple[GoldCheck, bool]:
        settings = GradingSettings(places_of(source), limits, "gold")
        grading = Grading(settings, lambda reason: GoldCheck({"gold": reason}, 0.0), source)
        graded = grading.do([(db_id, sql)])[0]
        return graded.found, graded.was_late

    return with_second_run(run, limits, lambda found: found[1])[0]
