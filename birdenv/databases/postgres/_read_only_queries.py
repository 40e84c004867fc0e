"""Read-only queries on a PostgreSQL server that somebody else runs, named by a connection string.

Each query gets a session of its own, so nothing that it leaves behind (settings, locks, temporary tables)
meets the next one. The transaction is made read only and then used once, after which it cannot be made
writable again; the query is first declared as a cursor, which takes one plain query and nothing else, and
then run. (Fetching from the cursor would let the server write each chunk to its disk first, however large its
rows are.)

What this cannot do is take away what the role itself may do: a superuser's SELECT reads and writes files of
the server (`Server.superuser` says so). Use a role that may only read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from birdenv.databases._limits import Limits
from birdenv.databases._results import Allowance, NoAnswerError, QueryError, QueryResult, Result
from birdenv.databases.postgres.server._server import read_dsn
from birdenv.databases.sqlite._connection import text_fault

if TYPE_CHECKING:
    from birdenv.databases.postgres._session import Session

_DEFAULT_LIMITS: Final = Limits()
_GRACE_SECONDS: Final = 1.0  # until the server stops by itself what we could not stop
_MOST_UNREACHABLE: Final = 5  # failures to connect in a row after which nobody tries again
_ENDED: Final = "57P"
"""SQLSTATEs of a session that the server ended."""
_SERVER_LIMITS: Final = ("53", "54")
"""SQLSTATEs of what is too large for the server."""
_LATE: Final = QueryError("timeout", "")


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """The version of the server, such as `PostgreSQL 15.18`, and whether our role is a superuser there."""

    engine: str
    superuser: bool


class PostgresQueries:
    """Plain queries on one database, each in a fresh session; several threads may ask at once.

    Raises `InputError` if `dsn` cannot be read as a connection string. No message ever holds a password.
    """

    dialect = "postgres"

    def __init__(self, dsn: str) -> None:
        self._dsn = read_dsn(dsn)
        self.shown = self._dsn.shown
        self._unreachable = 0  # times in a row

    def server(self) -> ServerVersion | NoAnswerError:
        """Connect once, and say who answers."""
        result = self.query("SELECT current_setting('server_version'), current_setting('is_superuser')")
        if isinstance(result, NoAnswerError):
            return result
        if isinstance(result, QueryError):
            return NoAnswerError(result.kind, result.message)
        version, superuser = result.rows[0]
        return ServerVersion(f"PostgreSQL {version.split()[0]}", superuser == "on")

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

        from birdenv.databases.postgres._session import open_foreign_session
        from birdenv.databases.postgres.server._server import one_line

        if self._unreachable >= _MOST_UNREACHABLE:
            return NoAnswerError(
                "engine", f"not tried: the server was out of reach {self._unreachable} times"
            )
        try:
            session = open_foreign_session(self._dsn)
        except (psycopg.Error, OSError, UnicodeError) as error:
            self._unreachable += 1
            reason = self._dsn.without_secrets(one_line(error))
            return NoAnswerError("engine", f"no connection to {self.shown}: {reason}")
        self._unreachable = 0
        began = time.monotonic()
        try:
            result = _run(session, sql, limits)
            if isinstance(result, QueryError):
                result = self._explained(result, session, limits)
        finally:
            session.close()
        elapsed = time.monotonic() - began
        if isinstance(result, QueryResult):
            return QueryResult(result.columns, result.rows, result.truncated, elapsed=elapsed)
        return type(result)(result.kind, result.message, elapsed)

    def _explained(self, error: QueryError, session: Session, limits: Limits) -> QueryError:
        """Return what the error says of a query that should be plain.

        `denied` is for what is no plain query; INTO is a syntax error to a cursor. A table that the role may
        not read is the query's own failure.
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
    from birdenv.databases.postgres._session import FOREIGN_SETTINGS

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
