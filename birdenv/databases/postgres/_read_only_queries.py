"""Run read-only queries on an external PostgreSQL server.

Each query runs in its own session, so that nothing it leaves behind (settings, locks, temporary tables)
affects the next query. The transaction is read-only. It starts with `SELECT 1`, after which PostgreSQL does
not let it become writable. Before the query runs, a cursor is declared for it, because PostgreSQL refuses
this for anything except a single query. Rows are not fetched through the cursor, because the server would
first write them to disk.

These measures do not restrict a superuser, whose SELECT can read and write files on the server (see
`ServerVersion.superuser`). Therefore connect as a role that has only read access.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import psycopg

from birdenv.databases._limits import Limits
from birdenv.databases._results import Allowance, NoAnswerError, QueryError, QueryResult, Result
from birdenv.databases.postgres._session import FOREIGN_SETTINGS, Session, open_foreign_session
from birdenv.databases.postgres.server._server import one_line, read_dsn
from birdenv.databases.sqlite._connection import text_fault

_DEFAULT_LIMITS: Final = Limits()
_GRACE_SECONDS: Final = 1.0  # until the server stops a statement that we could not stop
_MOST_UNREACHABLE: Final = 5  # consecutive connection failures after which we stop trying
_ENDED: Final = "57P"
"""Beginning of the SQLSTATE if the server ended the session."""
_SERVER_LIMITS: Final = ("53", "54")
"""Beginnings of the SQLSTATE if the statement exceeds a limit of the server."""
_LATE: Final = QueryError("timeout", "")


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """The version of a server, and whether birdenv is a superuser on it.

    Attributes:
        engine: the engine and its version, such as `PostgreSQL 15.18`.
        superuser: whether birdenv connects as a superuser.
    """

    engine: str
    superuser: bool


class PostgresQueries:
    """Runs read-only queries on one database, each in a new session. Thread-safe.

    Error messages never contain a password. Raises `InputError` if `dsn` is not a valid connection string.
    """

    dialect = "postgres"

    def __init__(self, dsn: str) -> None:
        self._dsn = read_dsn(dsn)
        self.shown = self._dsn.shown
        self._unreachable = 0  # times in a row

    def server(self) -> ServerVersion | NoAnswerError:
        """Connect to the server and return its version, or an error if the connection fails."""
        result = self.query("SELECT current_setting('server_version'), current_setting('is_superuser')")
        if isinstance(result, NoAnswerError):
            return result
        if isinstance(result, QueryError):
            return NoAnswerError(result.kind, result.message)
        version, superuser = result.rows[0]
        return ServerVersion(f"PostgreSQL {version.split()[0]}", superuser == "on")

    def query(self, sql: str, limits: Limits = _DEFAULT_LIMITS) -> Result:
        """Run one read-only query (SELECT, WITH, VALUES or TABLE) within limits.

        Other statements are refused with a `denied` or a `syntax` error. Error messages end with the
        SQLSTATE. If the connection is lost, the query is retried once. A failure that the query did not
        cause, such as a second lost connection, is returned as a `NoAnswerError`.
        """
        fault = text_fault(sql)
        if fault is not None:
            return fault
        result = self._attempt(sql, limits)
        return self._attempt(sql, limits) if isinstance(result, NoAnswerError) else result

    def _attempt(self, sql: str, limits: Limits) -> Result:
        if self._unreachable >= _MOST_UNREACHABLE:
            return NoAnswerError(
                "engine",
                f"the query was not run, because the server was unreachable {self._unreachable} times",
            )
        try:
            session = open_foreign_session(self._dsn)
        except (psycopg.Error, OSError, UnicodeError) as error:
            self._unreachable += 1
            reason = self._dsn.without_secrets(one_line(error))
            return NoAnswerError("engine", f"cannot connect to {self.shown}: {reason}")
        self._unreachable = 0
        began = time.monotonic()
        with closing(session):
            result = _run(session, sql, limits)
            if isinstance(result, QueryError):
                result = self._explained(result, session, limits)
        elapsed = time.monotonic() - began
        if isinstance(result, QueryResult):
            return QueryResult(result.columns, result.rows, result.truncated, elapsed=elapsed)
        return type(result)(result.kind, result.message, elapsed)

    def _explained(self, error: QueryError, session: Session, limits: Limits) -> QueryError:
        """Return an error with the kind that callers expect: `denied` only if the SQL is not a plain query.

        PostgreSQL reports INTO in a cursor as a syntax error, and missing rights on a table (here an `engine`
        error) as a denial.
        """
        state, kind, message = session.fatal, error.kind, self._dsn.without_secrets(error.message)
        if kind == "timeout":
            return QueryError(kind, f"stopped after {limits.seconds:g} s of wall time")
        if kind == "too_large" and not state.startswith(_SERVER_LIMITS):
            return QueryError(kind, f"the rows take more than {limits.bytes} bytes")
        if session.is_lost or state.startswith(_ENDED):
            lost = "the connection was lost"
            return NoAnswerError("engine", message if message.startswith(lost) else f"{lost}: {message}")
        if not state:
            return NoAnswerError("engine", message)
        if state == "42501":
            kind = "engine"
        elif (state == "0A000" and kind != "missing") or (state == "42601" and "INTO" in message):
            kind = "denied"
        return QueryError(kind, message)


def _run(session: Session, sql: str, limits: Limits) -> Result:
    end = time.monotonic() + limits.seconds
    milliseconds = int(min((limits.seconds + _GRACE_SECONDS) * 1000, 2**31 - 1))
    begin = f"SET statement_timeout = {milliseconds}; BEGIN TRANSACTION READ ONLY; SELECT 1"
    fault = session.command(FOREIGN_SETTINGS + begin, limits.seconds)
    if fault is not None:
        return fault if time.monotonic() < end else _LATE
    for statement in (f"DECLARE answer NO SCROLL CURSOR FOR {sql}", "CLOSE answer"):
        checked = session.run(statement, Allowance(0, end - time.monotonic(), limits.bytes))
        if isinstance(checked, QueryError):
            return checked
    return session.run(sql, Allowance(limits.rows, end - time.monotonic(), limits.bytes))
