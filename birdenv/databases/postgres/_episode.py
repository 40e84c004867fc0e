"""The PostgreSQL database of one episode, whose changes never reach the template.

An episode starts in a database that it shares with other episodes, as a role that may only read. The first
statement that is not a plain query, or that the shared database refuses, moves the episode to its own clone,
where that statement and all later ones run. Therefore everything that a statement can leave behind
(transactions, temporary tables, settings, locks) stays in the clone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from birdenv.databases._limits import Limits
from birdenv.databases._protocols import ScannedDatabase
from birdenv.databases._results import (
    Allowance,
    Checkpoint,
    DatabaseState,
    QueryError,
    QueryResult,
    Result,
    RowSink,
)
from birdenv.databases.postgres._catalog import read_state
from birdenv.databases.postgres.clones._clone_pool import ClonePool
from birdenv.databases.postgres.clones._episode_sessions import PrivateClone, Readers, Snapshot, snapshot
from birdenv.databases.postgres.loading._templates import TemplateCopies
from birdenv.databases.postgres.server._server import PostgresServer
from birdenv.databases.sqlite._connection import text_fault
from birdenv.sql import LONGEST_SQL, NO_QUERY, STICKING, first_words, split_script


def _is_shared(words: tuple[str, ...]) -> bool:
    """Return whether a statement with these first words may run in the shared database.

    EXPLAIN with options may not: gold SQL runs there, too, and ANALYZE and BUFFERS show which tables were
    read before.
    """
    if words[:1] == ("EXPLAIN",):
        return words[1:] in (("SELECT",), ("WITH",), ("VALUES",), ("TABLE",))
    return STICKING.isdisjoint(words[:1])


_NO_COPY: Final = "COPY is not allowed: use SELECT to read and INSERT to write"
_NO_PREPARED: Final = "PREPARE TRANSACTION is not allowed: end the transaction with COMMIT"
_SIZE: Final = "SELECT pg_database_size(current_database())"


@dataclass(frozen=True, slots=True)
class EpisodeContext:
    """The objects shared by all episodes on one template.

    Attributes:
        server: the server.
        pool: the pool of clones for episodes that write.
        readers: the pool of sessions for episodes that only read.
        copies: the names of the template and its copies.
    """

    server: PostgresServer
    pool: ClonePool
    readers: Readers
    copies: TemplateCopies


class PostgresDatabase(ScannedDatabase):
    """The database of one episode, opened by `PostgresSource.open`. Not thread-safe.

    The database is private and fully writable, and every statement runs within `limits`. A statement returns
    a `QueryResult` or a `QueryError`, and never raises an exception. If the server is lost, methods raise
    `ServerError`, and the episode cannot continue. Using a closed database raises `ValueError`.
    """

    def __init__(self, surroundings: EpisodeContext, limits: Limits, source: object) -> None:
        self._source = source  # a reference keeps the source open
        self._around = surroundings
        self._limits = limits
        self._start: Snapshot | None = None  # the origin of the next clone
        self._private: PrivateClone | None = None
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Return whether the episode has written something, and therefore works on its own clone."""
        return self._private is not None or self._start is not None

    @property
    def scope(self) -> None:
        """Return None, because no statement on PostgreSQL is ever marked as repeatable."""
        return None

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, for example one that an agent submitted.

        `rows` is the maximum number of rows to fetch, up to `limits.rows`. A plain query with more rows is
        stopped; other statements run to completion. The time to make a clone for the first writing statement
        does not count towards the limits. Raises `ValueError` if `rows` is negative.
        """
        return self._execute(sql, self._allowance(rows))

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one query (SELECT, WITH, VALUES or TABLE) that only reads, as grading does.

        The query sees everything that `run` and `execute` wrote. Other statements are refused as `denied` and
        change nothing; blank text is a `syntax` error. Raises `ValueError` if `rows` is negative.
        """
        return self._query(sql, self._allowance(rows), None)

    def scan(self, sql: str, sink: RowSink) -> Result:
        """Run a query as `query` does, but stream its rows to `sink`.

        The result contains no rows. It is marked as truncated if the sink stopped early, or if there were
        more than `limits.rows` rows.
        """
        return self._query(sql, self._allowance(None), sink)

    def run(self, statements: Iterable[str]) -> Result:
        """Split scripts into statements, and run them in order within `limits.seconds_in_all`.

        The first error ends the run and is returned; earlier statements are not undone. If there is no error,
        the result is that of the last statement, or an empty result if there were no statements.
        """
        deadline = time.monotonic() + self._limits.seconds_in_all
        result: Result = QueryResult((), ())
        for script in statements:
            if len(script) > LONGEST_SQL:
                return text_fault(script) or result
            for statement in split_script(script):
                result = self._execute(statement, self._allowance_until(deadline))
                if isinstance(result, QueryError):
                    return result
        return result

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Roll back any open transaction. Return the committed schema and contents, or an error.

        `like` is a state to compare with. If the schemas differ, the contents are not read. Each table is
        read within `limits`, and all tables together within `limits.seconds_in_all` and `limits.bytes`. If a
        table exceeds a limit, its entry in the contents is an error.
        """
        self._check_open()
        deadline = time.monotonic() + self._limits.seconds_in_all

        def allowance() -> Allowance:
            return self._allowance_until(deadline)

        if not self.is_private:
            return self._around.readers.use(
                self._around.copies, lambda session: read_state(session, like, allowance)
            )
        private = self._own()
        private.roll_back()
        return private.in_new_session(lambda session: read_state(session, like, allowance))

    def checkpoint(self) -> Checkpoint | QueryError:
        """Roll back any open transaction and return a checkpoint of the committed contents.

        The checkpoint can be passed to `restore` on any database that this process opened from the same
        template. It does not include temporary tables, settings or locks, and the episode continues in a new
        session without them.
        """
        self._check_open()
        if self._private is None:
            return self._start or snapshot(self._around.copies, None, 0, self._around.pool)
        self._private.roll_back()
        size = self._private.execute(_SIZE, self._allowance(None))
        if isinstance(size, QueryError):
            return size
        self._start = snapshot(
            self._around.copies, self._private.disconnect(), size.rows[0][0], self._around.pool
        )
        self._private = None
        return self._start

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Restore the contents of a checkpoint, discarding all other changes.

        Raises `ValueError` if the checkpoint belongs to a different database, version or engine.
        """
        self._check_open()
        if not isinstance(checkpoint, Snapshot) or checkpoint.version != self._around.copies:
            raise ValueError(
                "the checkpoint belongs to a different database, or to a different version of it"
            )
        self._let_go()
        self._start = checkpoint if checkpoint.size else None
        return None

    def close(self) -> None:
        """Close the database, and discard the episode's changes. Closing again does nothing."""
        self._let_go()
        self._is_closed = True

    def _execute(self, sql: str, allowance: Allowance) -> Result:
        fault = text_fault(sql)
        if fault is not None:
            return fault
        words = first_words(sql)
        if words[:1] == ("COPY",) or words == ("PREPARE", "TRANSACTION"):
            return QueryError("denied", _NO_COPY if words[0] == "COPY" else _NO_PREPARED)
        if not self.is_private and _is_shared(words):
            result = self._read(sql, allowance, None)
            if isinstance(result, QueryResult) or result.kind != "denied":
                return result
        return self._own().execute(sql, allowance)

    def _query(self, sql: str, allowance: Allowance, sink: RowSink | None) -> Result:
        fault = text_fault(sql)
        if fault is not None:
            return fault
        words = first_words(sql, 1)
        if not NO_QUERY.isdisjoint(words):
            return QueryError(
                "denied", f"only a plain query (SELECT, WITH, VALUES or TABLE) is allowed, not {words[0]}"
            )
        return (
            self._own().query(sql, allowance, sink) if self.is_private else self._read(sql, allowance, sink)
        )

    def _read(self, sql: str, allowance: Allowance, sink: RowSink | None) -> Result:
        return self._around.readers.use(
            self._around.copies, lambda session: session.run(sql, allowance, sink)
        )

    def _own(self) -> PrivateClone:
        """Return the episode's clone, creating it if necessary."""
        if self._private is None:
            around = self._around
            start = self._start.clone if self._start is not None else None
            clone = around.pool.take(around.copies) if start is None else around.pool.copy(start)
            self._private, self._start = PrivateClone(around.server, around.pool, clone), None
            self._private.move_counters()
        return self._private

    def _let_go(self) -> None:
        private, self._private, self._start = self._private, None, None
        if private is not None:
            private.leave()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("this database is closed")

    def _allowance(self, rows: int | None) -> Allowance:
        self._check_open()
        if rows is not None and rows < 0:
            raise ValueError(f"rows cannot be negative: {rows}")
        limits = self._limits
        return Allowance(
            limits.rows if rows is None else min(rows, limits.rows), limits.seconds, limits.bytes
        )

    def _allowance_until(self, deadline: float) -> Allowance:
        """Return the limits on the next of several statements that share a deadline."""
        allowance, left = self._allowance(None), deadline - time.monotonic()
        if left >= allowance.seconds:
            return allowance
        return replace(allowance, seconds=left, in_all=self._limits.seconds_in_all)
