"""Databases whose statements are announced before they run; those that have killed a worker do not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TypeVar, cast

from birdenv.databases import (
    Checkpoint,
    DatabaseSource,
    DatabaseState,
    Limits,
    QueryError,
    Result,
    RowSink,
    ScannedDatabase,
    Scope,
)
from birdenv.grading._second_run import is_late
from birdenv.grading.workers._page import Page, statement_digest

T = TypeVar("T")


class WatchedSource:
    """The databases of a source, for one job after the other.

    Attributes:
        known: errors to take for the results of statements that have ended a worker, by digest.
        was_late: a time limit ended a statement of this job.
        state_was_late: a time limit ended the reading of a state.
    """

    def __init__(self, source: DatabaseSource, page: Page) -> None:
        self._source = source
        self.page = page
        self.begin({})

    def begin(self, known: Mapping[bytes, QueryError]) -> None:
        """Start another job."""
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
    """One database of a `WatchedSource`.

    A statement is known by its text and by all that ran on the same database before: what a prediction has
    made of a view must not count against the gold, which reads a view of that name, too.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
