"""Grade in a worker process, which runs the SQL and also compares the rows.

The worker may be killed at any time, for example by the kernel if a statement or comparison takes too long.
Therefore each statement is recorded before it runs, and a statement that has killed a worker is not rerun.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeVar, cast

from birdenv.databases import (
    Checkpoint,
    DatabaseSource,
    DatabaseState,
    DatedSource,
    Limits,
    QueryError,
    Result,
    RowSink,
    ScannedDatabase,
    Scope,
)
from birdenv.databases.sqlite import LocalSource, limit_process, watchdog
from birdenv.grading._ex import LocalExGrader
from birdenv.grading._gold_check import check_gold_here
from birdenv.grading._second_run import is_late
from birdenv.grading.em_esm._pair_rules import LocalPairGrader
from birdenv.grading.interact._rules import grade_here
from birdenv.grading.workers._graded import (
    ExSettings,
    Files,
    Graded,
    GradingSettings,
    Job,
    Page,
    PairSettings,
    statement_digest,
)
from birdenv.grading.workers._server_source import AskedSource
from birdenv.processes.child import Owner

T = TypeVar("T")


class WatchedSource:
    """A source that records each statement on the shared memory page before the statement runs.

    Attributes:
        page: the shared memory page.
        known: the errors of statements that have killed a worker, keyed by the digest of the statement. Such
            statements are not rerun.
        was_late: whether a statement of this job timed out.
        state_was_late: whether a time limit was reached while the state of a database was being read.
    """

    def __init__(self, source: DatabaseSource, page: Page) -> None:
        self._source = source
        self.page = page
        self.begin({})

    def begin(self, known: Mapping[bytes, QueryError]) -> None:
        """Reset the source for a new job with the given `known` errors."""
        self.known = known
        self.was_late = self.state_was_late = False

    @property
    def dialect(self) -> str:
        return self._source.dialect

    def scope(self, db_id: str, limits: Limits) -> Scope:
        return self._source.scope(db_id, limits)

    def open(self, db_id: str, limits: Limits) -> WatchedDatabase:
        opened = self._source.open(db_id, limits)
        return WatchedDatabase(opened, self, statement_digest(b"", "open", db_id))  # type: ignore[arg-type]


class WatchedDatabase:
    """A database whose statements are recorded before they run (see `WatchedSource`).

    The digest of a statement includes everything that ran on the same database before. Otherwise, an error
    from a view that only a prediction had replaced could be repeated when the gold runs the same statement.
    """

    def __init__(self, database: ScannedDatabase, source: WatchedSource, history: bytes) -> None:
        self._database = database
        self._source = source
        self._history = history

    @property
    def is_private(self) -> bool:
        return self._database.is_private

    def query(self, sql: str, rows: int | None = None) -> Result:
        return self._run("query", (sql,), lambda: self._database.query(sql, rows))

    def scan(self, sql: str, sink: RowSink) -> Result:
        return self._run("query", (sql,), lambda: self._database.scan(sql, sink))

    def run(self, statements: Iterable[str]) -> Result:
        scripts = tuple(statements)
        return self._run("run", scripts, lambda: self._database.run(scripts))

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        found = self._announced("state", (), lambda: self._database.state(like))
        self._source.state_was_late |= is_late(found)
        return found

    def checkpoint(self) -> Checkpoint | QueryError:
        return self._announced("checkpoint", (), self._database.checkpoint)

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        return self._announced("restore", (), lambda: self._database.restore(checkpoint))

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> WatchedDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, method: str, texts: tuple[str, ...], run: Callable[[], Result]) -> Result:
        result = self._announced(method, texts, run)
        self._source.was_late |= is_late(result)
        return result

    def _announced(self, method: str, texts: tuple[str, ...], run: Callable[[], T]) -> T:
        digest = self._history = statement_digest(self._history, method, *texts)
        known = self._source.known.get(digest) if self._source.known else None
        if known is not None:
            return cast(T, known)
        self._source.page.start_statement(digest)
        try:
            return run()
        finally:
            self._source.page.finish_statement()


_MOST_SETTINGS: Final = 4  # maximum number of graders to keep


def main(owner: Owner, page: int) -> None:
    """Do jobs until the parent closes the connection. `page` is the descriptor of the shared memory page."""
    limit_process(0)
    owner.serve(_GradingWorker(owner, Page(page)).answer)


class _GradingWorker:
    def __init__(self, owner: Owner, page: Page) -> None:
        self._owner = owner
        self._page = page
        self._graders: OrderedDict[bytes, tuple[WatchedSource, Callable[..., Any]]] = OrderedDict()

    def answer(self, settings: bytes, comparing_seconds: float, jobs: list[Job]) -> list[Graded]:
        """Do jobs with the given settings (pickled `GradingSettings`), and return their results.

        If the work between two statements, mostly comparing rows, takes more than `comparing_seconds` of CPU
        time, the kernel kills this process.
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
                return watched, partial(grade_here, source, limits)
            case "gold":
                return watched, lambda db_id, sql: check_gold_here(source, db_id, sql, limits)

    def _ask_owner(self, sql: str, db_id: str) -> Result:
        return cast(Result, self._owner.ask((sql, db_id)))
