"""What runs in a worker that grades: SQL and comparisons, so that no rows of others leave it.

It may be killed at any time, by the kernel where a statement or a comparison is late.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from birdenv.databases import DatabaseSource, DatedSource, QueryError, Result
from birdenv.databases.sqlite import LocalSource, limit_process, watchdog
from birdenv.grading._ex import LocalExGrader
from birdenv.grading._gold_check import check_gold_here
from birdenv.grading.em_esm._pair_rules import LocalPairGrader
from birdenv.grading.interact._rules import LocalInteractGrader
from birdenv.grading.workers._graded import (
    ExSettings,
    Files,
    Graded,
    GradingSettings,
    Job,
    PairSettings,
)
from birdenv.grading.workers._page import Page
from birdenv.grading.workers._server_source import AskedSource
from birdenv.grading.workers._watched_source import WatchedSource
from birdenv.processes.child import Owner

_MOST_SETTINGS: Final = 4  # whose graders are kept


def main(owner: Owner, page: int) -> None:
    """Grade until the owner closes the connection."""
    limit_process(0)
    owner.serve(_GradingWorker(owner, Page(page)).answer)


class _GradingWorker:
    def __init__(self, owner: Owner, page: Page) -> None:
        self._owner = owner
        self._page = page
        self._graders: OrderedDict[bytes, tuple[WatchedSource, Callable[..., Any]]] = OrderedDict()

    def answer(self, settings: bytes, comparing_seconds: float, jobs: list[Job]) -> list[Graded]:
        """Do jobs under one choice of `GradingSettings`.

        The work between two statements, which is mostly comparing, may take so many seconds of processor
        time. Beyond them, the kernel ends this process.
        """
        source, grade = self._grader(settings)
        watchdog.limit_between(comparing_seconds)
        try:
            return [self._graded(source, grade, *job) for job in jobs]
        finally:
            watchdog.limit_between(0.0)
            self._page.clear()

    def _graded(
        self,
        source: WatchedSource,
        grade: Callable[..., Any],
        number: int,
        arguments: tuple[Any, ...],
        known: Mapping[bytes, QueryError],
    ) -> Graded:
        self._page.begin(number)
        source.begin(known)
        try:
            found = grade(*arguments)
        except RecursionError:
            return Graded(None, fault="its values are nested too deeply to be compared")
        return Graded(found, source.was_late, source.state_was_late)

    def _grader(self, pickled: bytes) -> tuple[WatchedSource, Callable[..., Any]]:
        found = self._graders.pop(pickled, None)
        if found is None:
            found = self._made(pickle.loads(pickled))
        self._graders[pickled] = found
        if len(self._graders) > _MOST_SETTINGS:
            self._graders.popitem(last=False)
        return found

    def _made(self, settings: GradingSettings) -> tuple[WatchedSource, Callable[..., Any]]:
        places, limits = settings.source, settings.limits
        databases: DatabaseSource
        if isinstance(places, Files):
            databases = LocalSource(places.root, places.file, places.image)
            databases = databases if places.today is None else DatedSource(databases, places.today)
        else:
            databases = cast(DatabaseSource, AskedSource(self._owner, places.dialect))
        watched = WatchedSource(databases, self._page)
        source = cast(DatabaseSource, watched)
        match settings.grader:
            case ExSettings(clean, metrics, fail_doubtful):
                return watched, LocalExGrader(source, limits, clean, metrics, fail_doubtful).grade
            case PairSettings(rules, has_database):
                run = self._ask_owner if has_database else None
                return watched, LocalPairGrader(run, databases.dialect, rules).grade
            case "interact":
                return watched, LocalInteractGrader(source, limits).grade
            case "gold":
                return watched, lambda db_id, sql: check_gold_here(source, db_id, sql, limits)

    def _ask_owner(self, sql: str, db_id: str) -> Result:
        return cast(Result, self._owner.ask((sql, db_id)))
