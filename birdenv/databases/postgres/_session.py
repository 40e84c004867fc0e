"""Run agents' statements in PostgreSQL sessions with limits and fixed settings."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg.adapt import Transformer
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from birdenv.databases._results import Allowance, QueryError, QueryResult, Result, RowSink
from birdenv.databases.postgres._answers import (
    CANCELLED,
    Rows,
    query_error,
    show_names,
    sqlstate,
    too_large,
    use_tolerant_loaders,
    with_shown_names,
)
from birdenv.databases.postgres._connection import LOCK_BYTES, MOST_GROWTH, DiskQuota, NonblockingConnection
from birdenv.databases.postgres.server._server import Dsn, PostgresServer, ServerError, one_line

LOST: Final = "the connection was lost"

_WRITTEN_VALUES: Final = {
    # All settings that change how values are written.
    "TimeZone": "UTC",
    "DateStyle": "ISO,YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "lock_timeout": "1s",
}
_SETTINGS: Final = {
    **_WRITTEN_VALUES,
    "search_path": "public",
    # A statement whose process has died ends soon.
    "client_connection_check_interval": "1s",
}
_READING: Final = {"default_transaction_read_only": "on", "idle_in_transaction_session_timeout": "60s"}
FOREIGN_SETTINGS: Final = "".join(
    f"SET {name} = '{value}'; " for name, value in {**_WRITTEN_VALUES, **_READING}.items()
)
"""Settings for reading a database that birdenv did not create. They leave its search path unchanged."""
_CONNECT_SECONDS: Final = 10
_REFUSED: Final = re.compile(r"FATAL:\s*(?!.*(?:too many|slots|memory|space|fork|database system))(.*)")
"""The error of a server that is up and has room, but refuses a session to this role in this database."""
_OUR_SECONDS: Final = 30.0  # for one of our own statements, which normally takes a millisecond
_OUR_BYTES: Final = 2**20
_WITH_ROWS: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK})


class SessionRefusedError(ServerError):
    """A running server refused to let a role connect to a database. The message is from the server."""


class Session:
    """A connection that returns errors as values instead of raising them. Not thread-safe.

    Args:
        connection: the psycopg connection to use.
        shown: replacements for names that differ from run to run, such as the names of clones, keyed by the
            original names. Results and error messages contain the replacements.
    """

    def __init__(self, connection: psycopg.Connection[Any], shown: Mapping[str, str]) -> None:
        use_tolerant_loaders(connection)
        show_names(connection, shown)
        self._shown = shown
        self._connection = NonblockingConnection(connection)
        self._values = Transformer(connection)
        self._libpq = connection.pgconn
        self.process = connection.info.backend_pid
        self.fatal = ""
        """SQLSTATE of the latest statement's error; empty if the server reported none."""
        self.growth: DiskQuota | None = None
        """The disk quota that statements are checked against."""

    @property
    def is_overgrown(self) -> bool:
        """Return whether the latest statement was stopped because it wrote too much."""
        return self._connection.was_overgrown

    @property
    def is_lost(self) -> bool:
        """Return whether the connection was lost, together with all uncommitted changes."""
        return self._connection.is_lost

    @property
    def is_well(self) -> bool:
        """Return whether the connection is alive, and the server has not announced a shutdown."""
        return self._connection.is_quiet

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open. A failed transaction is open until it is rolled back."""
        return self._libpq.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    def close(self) -> None:
        """End the session. Closing again does nothing."""
        self._connection.close()

    def command(self, sql: str, seconds: float = _OUR_SECONDS) -> QueryError | None:
        """Run birdenv's own statements. Return the first error, or None if all succeed."""
        failure = None
        for answer in self._connection.answers(sql.encode(), seconds, _OUR_BYTES, script=True):
            failure = failure or self._failure(answer)
        return QueryError("engine", LOST) if self.is_lost else failure

    def reset(self) -> None:
        """Undo everything that statements have left in the session, including any open transaction."""
        if self.in_transaction:
            self.command("ROLLBACK")
        if self.command("DISCARD ALL") is not None:
            self.close()

    def run(
        self, sql: str, allowance: Allowance, sink: RowSink | None = None, *, to_its_end: bool = False
    ) -> Result:
        """Run one statement, and return its result.

        Args:
            sql: the statement.
            allowance: the limits on the statement.
            sink: a receiver for the rows; the result then has no rows. None to return the rows in the result.
            to_its_end: whether to complete the statement even after it has returned enough rows, because it
                has other effects.
        """
        began = time.monotonic()
        rows = Rows(self._values, allowance, sink)
        failure: QueryError | None = None
        affected = -1
        self.fatal = ""
        try:
            for answer in self._connection.answers(
                sql.encode(), allowance.seconds, allowance.bytes, script=False, growth=self.growth
            ):
                was_enough = rows.is_enough
                if answer.status in _WITH_ROWS:
                    rows.take(answer, self._connection.received)
                    failure = failure or rows.failure
                elif answer.status == ExecStatus.COMMAND_OK:
                    affected = -1 if answer.command_tuples is None else answer.command_tuples
                else:
                    failure = self._no_rows(answer, failure)
                if rows.is_enough and not was_enough and (failure is not None or not to_its_end):
                    self._connection.stop()
        except OverflowError:
            failure = too_large(allowance)
        except BaseException:  # Ctrl-C or an exception of the sink, before all answers were consumed
            self._connection.cut()
            raise
        elapsed = time.monotonic() - began
        failure = self._cause(failure, rows, allowance, to_its_end)
        if failure is not None:
            return QueryError(failure.kind, failure.message, elapsed)
        return QueryResult(
            rows.columns or (), rows.rows, rows.is_cut, affected if rows.columns is None else -1, elapsed
        )

    def _no_rows(self, answer: PGresult, before: QueryError | None) -> QueryError | None:
        """Return why an answer has neither rows nor a row count. An error found earlier takes precedence."""
        if answer.status == ExecStatus.FATAL_ERROR:
            failure = self._failure(answer)
            return before or failure
        if answer.status == ExecStatus.EMPTY_QUERY:
            return QueryError("syntax", "there is no SQL statement in this text")
        self._connection.cut()  # COPY, which expects more messages
        return QueryError("denied", "COPY to or from the client is not allowed")

    def _cause(
        self, failure: QueryError | None, rows: Rows, allowance: Allowance, to_its_end: bool
    ) -> QueryError | None:
        """Return why there is no result. For a statement that we stopped, this is not the server's error."""
        if rows.is_cut and not to_its_end and (failure is None or failure.kind != "too_large"):
            return None
        if (self.is_lost or self.fatal == CANCELLED) and not rows.is_enough:
            if self._connection.was_late:
                return late(allowance)
            if self.is_overgrown:
                return QueryError(
                    "too_large",
                    f"stopped: the database has grown by more than {MOST_GROWTH >> 20} MiB"
                    f" (a lock counts as {LOCK_BYTES >> 10} KiB)",
                )
        if failure is None and self.is_lost:
            return QueryError("engine", LOST)
        return failure

    def _failure(self, answer: PGresult) -> QueryError | None:
        if answer.status != ExecStatus.FATAL_ERROR:
            return None
        self.fatal = sqlstate(answer)
        if not self.fatal:
            return QueryError("engine", LOST)
        failure = query_error(answer)
        return QueryError(failure.kind, with_shown_names(failure.message, self._shown))


def open_session(
    server: PostgresServer,
    database: str,
    role: str,
    password: str | None,
    shown: Mapping[str, str],
    *,
    reading: bool,
) -> Session:
    """Connect to a database as a role, and return the session.

    Args:
        server: the server.
        database: the name of the database.
        role: the role.
        password: the password of the role, if it needs one.
        shown: the replacements for names that differ from run to run, as in `Session`.
        reading: whether all transactions are read-only.

    Raises:
        SessionRefusedError: the server is running, but refuses to let the role connect to the database.
        ServerError: the server is not running, or accepts no more connections.
    """
    settings = {**_SETTINGS, **(_READING if reading else {})}
    conninfo = make_conninfo(
        server.conninfo(database, role),
        password=password,
        options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
        connect_timeout=_CONNECT_SECONDS,
        client_encoding="UTF8",
    )
    try:
        return Session(_connect(conninfo), shown)
    except psycopg.Error:
        server.connect().close()  # restarts the embedded server; raises the right error for any other
    try:
        return Session(_connect(conninfo), shown)
    except psycopg.Error as error:
        reason = with_shown_names(one_line(error), shown)
        refused = _REFUSED.search(reason)
        if refused:
            raise SessionRefusedError(refused[1]) from None
        raise ServerError(
            f"cannot connect to an episode's database on the PostgreSQL server at {server.shown}: {reason}"
        ) from None


def open_foreign_session(dsn: Dsn) -> Session:
    """Connect to a database that birdenv did not create. Raises `psycopg.Error` if that fails.

    The caller must run `FOREIGN_SETTINGS` first, because a connection pooler accepts settings only as
    statements.
    """
    conninfo = make_conninfo(
        dsn.text, application_name="birdenv", connect_timeout=dsn.connect_seconds, client_encoding="UTF8"
    )
    return Session(_connect(conninfo), {})


def _connect(conninfo: str) -> psycopg.Connection[Any]:
    return psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)


def late(allowance: Allowance) -> QueryError:
    """Return the error for a statement that was stopped at its deadline."""
    if allowance.in_all:
        together = f"{allowance.in_all:g} s of wall time for all statements together"
        return QueryError("timeout", f"stopped after {together}")
    return QueryError("timeout", f"stopped after {allowance.seconds:g} s of wall time")
