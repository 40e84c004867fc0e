"""Read-only queries on a PostgreSQL server that somebody else runs, named by a connection string.

Each query gets a connection of its own, so nothing that it leaves behind (settings, locks, temporary tables)
meets the next one. The transaction is made read only and then used once, after which it cannot be made
writable again; the query is first declared as a cursor, which takes one plain query and nothing else,
and then run; its rows are read one at a time under a deadline for all of them together, at which the client
cancels the query and a second later cuts the connection. (Fetching from the cursor would let the server write
each chunk to its disk first, however large its rows are.)

What this cannot do is take away what the role itself may do: a superuser's SELECT reads and writes files of
the server (`Server.superuser` says so). Use a role that may only read.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from birdenv.databases._results import ErrorKind, Limits, QueryError, QueryResult, Result, Row
from birdenv.databases.sqlite._connection import text_fault
from birdenv.errors import InputError

if TYPE_CHECKING:
    import psycopg


_DEFAULT_LIMITS: Final = Limits()
_CONNECT_SECONDS: Final = 10
_GRACE_SECONDS: Final = 1.0  # between asking the server to cancel and cutting the connection
_MOST_UNREACHABLE: Final = 5  # failures to connect in a row after which nobody tries again
_CELL_BYTES: Final = 8  # what a cell counts besides its text, as for SQLite
_SETTINGS: Final = """
SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1;
SET client_encoding = 'UTF8'; SET bytea_output = 'hex'; SET standard_conforming_strings = on;
SET default_transaction_read_only = on; SET lock_timeout = '1s';
SET idle_in_transaction_session_timeout = '60s'; SET statement_timeout = {milliseconds};
BEGIN TRANSACTION READ ONLY; SELECT 1
"""
"""Everything that changes how values are written, and the transaction, closed by a first query."""

_SECRET_KEYS: Final = re.compile(r"pass|secret|key|token")
_IN_A_URI: Final = re.compile(r"\w+://[^:/?#@]*:(?P<secret>.*)@", re.DOTALL)
_BAD_DSN: Final = (
    "the DSN is not a connection string of PostgreSQL: expected postgresql://user@host:port/database or "
    "'host=... port=... user=... dbname=...' (it is not shown here, because it may hold a password)"
)
_AMBIGUOUS_PASSWORD: Final = (
    "the DSN is ambiguous: its password holds characters with a meaning of their own; write them as %XX "
    "(@ as %40, / as %2F, : as %3A, ? as %3F), or leave the password out and set PGPASSWORD"
)
_KINDS: Final[tuple[tuple[str, ErrorKind], ...]] = (
    ("42601", "syntax"),
    ("42P01", "missing"),
    ("42703", "missing"),
    ("42883", "missing"),
    ("42704", "missing"),
    ("3F000", "missing"),
    ("25006", "denied"),
    ("0A000", "denied"),
    ("23", "constraint"),
    ("53", "too_large"),
    ("54", "too_large"),
)
"""Kind of error by the beginning of its SQLSTATE; the first that fits."""

_LOST: Final = ("08", "57P")
"""SQLSTATEs of a connection that is gone."""


@dataclass(frozen=True, slots=True)
class NoAnswerError(QueryError):
    """An error that says nothing about the query: no connection, lost twice, or rows that cannot be read."""


@dataclass(frozen=True, slots=True)
class Server:
    """Who answers: `PostgreSQL 15.18`, and whether our role could do everything there."""

    engine: str
    superuser: bool


class PostgresQueries:
    """Plain queries on one database, each on a fresh connection; several threads may ask at once.

    Raises `InputError` if `dsn` cannot be read as a connection string. No message ever holds a password.
    """

    dialect = "postgres"

    def __init__(self, dsn: str) -> None:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        if "\0" in dsn:
            raise InputError(_BAD_DSN)
        try:
            parts = {key: str(value) for key, value in conninfo_to_dict(dsn).items() if value is not None}
        except (psycopg.Error, UnicodeError, ValueError):
            raise InputError(_BAD_DSN) from None
        written = _IN_A_URI.match(dsn)
        if written and unquote(written["secret"]) != parts.get("password", ""):
            raise InputError(_AMBIGUOUS_PASSWORD)
        self._dsn = dsn
        self._secrets = sorted((v for k, v in parts.items() if _SECRET_KEYS.search(k) and v), key=len)[::-1]
        shown = ("user", "host", "hostaddr", "port", "dbname")
        self.shown = " ".join(f"{key}={parts[key]}" for key in shown if key in parts) or "(defaults of libpq)"
        self._connect_seconds = parts.get("connect_timeout", str(_CONNECT_SECONDS))
        self._unreachable = 0  # times in a row

    def server(self) -> Server | NoAnswerError:
        """Connect once, and say who answers."""
        result = self.query("SELECT current_setting('server_version'), current_setting('is_superuser')")
        if isinstance(result, NoAnswerError):
            return result
        if isinstance(result, QueryError):
            return NoAnswerError(result.kind, result.message)
        version, superuser = result.rows[0]
        return Server(f"PostgreSQL {version.split()[0]}", superuser == "on")

    def query(self, sql: str, limits: Limits = _DEFAULT_LIMITS) -> Result:
        """Run one plain query (SELECT, WITH, VALUES, TABLE); `limits` hold from its start to its last row.

        Statements of other kinds are refused: with kind `denied` where the server can tell, else as a
        `syntax` error. Messages end in the SQLSTATE. A lost connection is tried once more; after that, and
        wherever the error is not the query's, the answer is a `NoAnswerError`.
        """
        fault = text_fault(sql)
        if fault is not None:
            return fault
        result = self._attempt(sql, limits)
        return self._attempt(sql, limits) if isinstance(result, NoAnswerError) else result

    def _attempt(self, sql: str, limits: Limits) -> Result:
        import psycopg

        if self._unreachable >= _MOST_UNREACHABLE:
            return NoAnswerError(
                "engine", f"not tried: the server was out of reach {self._unreachable} times"
            )
        try:
            connection = self._connect()
        except (psycopg.Error, OSError, UnicodeError) as error:
            self._unreachable += 1
            return NoAnswerError("engine", f"no connection to {self.shown}: {self._clear(error)}")
        self._unreachable = 0
        began = time.monotonic()
        with _Deadline(connection, limits.seconds) as deadline:
            try:
                result = _run(connection, sql, limits)
            except Exception as error:  # what a value may raise while it is read is the driver's choice
                result = self._explain(error, connection, deadline.has_passed, limits)
            finally:
                connection.close()
        if deadline.has_passed:
            result = QueryError("timeout", f"stopped after {limits.seconds:g} s")
        return _timed(result, time.monotonic() - began)

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg
        from psycopg.conninfo import make_conninfo

        from birdenv.databases.postgres._values import use_tolerant_loaders

        dsn = make_conninfo(self._dsn, application_name="birdenv", connect_timeout=self._connect_seconds)
        connection = psycopg.connect(dsn, autocommit=True)
        use_tolerant_loaders(connection)
        return connection

    def _explain(
        self, error: Exception, connection: psycopg.Connection[Any], late: bool, limits: Limits
    ) -> QueryError:
        import psycopg

        if late:
            return QueryError("timeout", f"stopped after {limits.seconds:g} s")
        state = error.sqlstate if isinstance(error, psycopg.Error) else None
        message = self._clear(error)
        if state is None and not connection.broken:
            return NoAnswerError("engine", f"the result cannot be read: {message}")
        if state is None or state.startswith(_LOST):
            return NoAnswerError("engine", f"the connection was lost: {message}")
        return QueryError(_kind(state, message), f"{message} (SQLSTATE {state})")

    def _clear(self, error: Exception) -> str:
        """The error's text on one line without anything secret."""
        diagnosis = getattr(error, "diag", None)
        text = (diagnosis and diagnosis.message_primary) or f"{error}" or type(error).__name__
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())


class _Deadline:
    """Stops what a connection does when the time is over; `has_passed` says that it did."""

    def __init__(self, connection: psycopg.Connection[Any], seconds: float) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._timers = [threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._cancel)]
        self._timers[0].daemon = True
        self._is_over = False
        self.has_passed = False

    def __enter__(self) -> _Deadline:
        self._timers[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_over = True
        for timer in self._timers:
            timer.cancel()

    def _cancel(self) -> None:
        import psycopg

        with self._lock:
            if self._is_over or self._connection.closed:
                return
            self.has_passed = True
            last = threading.Timer(_GRACE_SECONDS, self._cut)
            last.daemon = True
            self._timers.append(last)
            last.start()
        with suppress(psycopg.Error, OSError):
            self._connection.cancel()

    def _cut(self) -> None:
        """Whoever waits for the server on this connection wakes up with an error."""
        with self._lock:
            if self._is_over or self._connection.closed:
                return
            with suppress(OSError), socket.socket(fileno=os.dup(self._connection.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)


def _run(connection: psycopg.Connection[Any], sql: str, limits: Limits) -> Result:
    milliseconds = int(min((limits.seconds + _GRACE_SECONDS) * 1000, 2**31 - 1))
    connection.execute(_SETTINGS.format(milliseconds=milliseconds).encode())
    cursor = connection.cursor()
    # Prepared, because the server then refuses several statements in one text.
    cursor.execute(b"DECLARE answer NO SCROLL CURSOR FOR " + sql.encode(), prepare=True)
    cursor.execute("FETCH 0 FROM answer")
    columns = tuple(column.name for column in cursor.description or ())
    cursor.execute("CLOSE answer")
    stream = cursor.stream(sql.encode())
    try:
        rows = _take(stream, limits)
    finally:
        connection.close()  # before the stream, which would read all that is still on its way
        stream.close()  # type: ignore[attr-defined]
    if rows is None:
        return QueryError("too_large", f"the rows take more than {limits.bytes} bytes")
    return QueryResult(columns, rows[: limits.rows], len(rows) > limits.rows)


def _take(stream: Iterator[Row], limits: Limits) -> list[Row] | None:
    """At most one row more than `limits.rows`; None if they take more than `limits.bytes`."""
    rows: list[Row] = []
    left = limits.bytes
    for row in stream:
        if len(rows) < limits.rows:
            left -= sum(map(_size, row))
            if left < 0:
                return None
        rows.append(row)
        if len(rows) > limits.rows:
            break
    return rows


def _size(cell: Any) -> int:
    if isinstance(cell, (str, bytes)):
        return len(cell) + _CELL_BYTES
    if isinstance(cell, dict):
        return _CELL_BYTES + sum(_size(key) + _size(value) for key, value in cell.items())
    if isinstance(cell, (list, tuple)):
        return _CELL_BYTES + sum(map(_size, cell))
    return _CELL_BYTES


def _kind(state: str, message: str) -> ErrorKind:
    """`denied` is for what is no plain query; INTO is a syntax error to a cursor, and a database's name in
    front of a table's is an unsupported feature."""
    if state == "42601" and "INTO" in message:
        return "denied"
    if state == "0A000" and "cross-database" in message:
        return "missing"
    return next((kind for start, kind in _KINDS if state.startswith(start)), "engine")


def _timed(result: Result, seconds: float) -> Result:
    if isinstance(result, QueryResult):
        return QueryResult(result.columns, result.rows, result.truncated, elapsed=seconds)
    return type(result)(result.kind, result.message, seconds)
