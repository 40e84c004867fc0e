"""A session for agents: statements under limits, answered with values, on settings that never differ."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from psycopg.adapt import Transformer
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from birdenv.databases._fetching import Allowance, Seer
from birdenv.databases._postgres_values import use_tolerant_loaders
from birdenv.databases._results import QueryError, QueryResult, Result, Row
from birdenv.databases.postgres._error_kinds import CANCELLED, query_error, sqlstate
from birdenv.databases.postgres._server import PostgresServer, ServerError, one_line
from birdenv.databases.postgres._shown_names import show_names, with_shown_names
from birdenv.databases.postgres._wire import Wire

__all__ = ["LOST", "Session", "bytes_of", "late", "open_session"]

LOST: Final = "the connection was lost"

_SETTINGS: Final = {
    # Everything that changes how values are written, and what names mean.
    "TimeZone": "UTC",
    "DateStyle": "ISO,YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "search_path": "public",
    "lock_timeout": "1s",
    # A statement whose process has died ends soon.
    "client_connection_check_interval": "1s",
}
_READING: Final = {"default_transaction_read_only": "on", "idle_in_transaction_session_timeout": "60s"}
_CONNECT_SECONDS: Final = 10
_OUR_SECONDS: Final = 30.0  # for a statement of our own, which takes a millisecond
_OUR_BYTES: Final = 2**20
_CELL_BYTES: Final = 8  # what a cell counts besides its text, as for SQLite
_SIZED: Final = frozenset({str, bytes})
_WITH_ROWS: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK})


@dataclass(slots=True)
class _Taken:
    """What a statement has answered so far."""

    left: float
    columns: tuple[str, ...] | None = None
    rows: list[Row] = field(default_factory=list)
    count: int = 0
    affected: int = -1
    is_counted: bool = False
    is_enough: bool = False
    is_cut: bool = False
    failure: QueryError | None = None


class Session:
    """One connection; used by one thread at a time.

    `shown`: what names that differ from run to run are called in answers.
    """

    def __init__(self, connection: psycopg.Connection[Any], shown: Mapping[str, str]) -> None:
        use_tolerant_loaders(connection)
        show_names(connection, shown)
        self._shown = shown
        self._wire = Wire(connection)
        self._values = Transformer(connection)
        self._libpq = connection.pgconn
        self.process = connection.info.backend_pid
        self.fatal = ""
        """SQLSTATE of the latest statement's error: why the session was ended, if the server said so."""

    @property
    def is_lost(self) -> bool:
        """Whether the connection is gone, and with it what was not committed."""
        return self._wire.is_lost

    @property
    def is_well(self) -> bool:
        """Whether the server has said nothing since the last statement, as it does when it goes away."""
        return self._wire.is_quiet

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, failed or not."""
        return self._libpq.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    def close(self) -> None:
        """End the session; closing again does nothing."""
        self._wire.close()

    def command(self, sql: str) -> QueryError | None:
        """Run statements of our own, up to the first error."""
        failure = None
        for answer in self._wire.answers(sql.encode(), _OUR_SECONDS, _OUR_BYTES, script=True):
            failure = failure or self._failure(answer)
        return QueryError("engine", LOST) if self.is_lost else failure

    def reset(self) -> None:
        """Bring the session back to how it began."""
        if self.in_transaction:
            self.command("ROLLBACK")
        if self.command("DISCARD ALL") is not None:
            self.close()

    def run(
        self, sql: str, allowance: Allowance, seer: Seer | None = None, *, to_its_end: bool = False
    ) -> Result:
        """Run one statement; its rows go to the seer if there is one.

        `to_its_end`: rows beyond the allowance do not stop it, because it does more than giving rows.
        """
        began = time.monotonic()
        taken = _Taken(allowance.bytes)
        self.fatal = ""
        try:
            for answer in self._wire.answers(sql.encode(), allowance.seconds, allowance.bytes, script=False):
                was_enough = taken.is_enough
                self._take(answer, taken, allowance, seer)
                if taken.is_enough and not was_enough and (taken.failure is not None or not to_its_end):
                    self._wire.stop()
        except OverflowError:
            taken.failure = _too_large(allowance)
        except BaseException:  # Ctrl-C, or what a seer raises, in the middle of the answers
            self._wire.cut()
            raise
        return self._outcome(taken, allowance, time.monotonic() - began, to_its_end)

    def _take(self, answer: PGresult, taken: _Taken, allowance: Allowance, seer: Seer | None) -> None:
        if answer.status in _WITH_ROWS:
            if not taken.is_enough:
                self._take_rows(answer, taken, allowance, seer)
        elif answer.status == ExecStatus.COMMAND_OK:
            taken.affected = -1 if answer.command_tuples is None else answer.command_tuples
        elif answer.status == ExecStatus.FATAL_ERROR:
            failure = self._failure(answer)
            taken.failure = taken.failure or failure
        elif answer.status == ExecStatus.EMPTY_QUERY:
            taken.failure = QueryError("syntax", "there is no SQL statement in this text")
        else:  # COPY, which wants a conversation
            taken.failure = QueryError("denied", "COPY to or from the client is not allowed")
            self._wire.cut()

    def _take_rows(self, answer: PGresult, taken: _Taken, allowance: Allowance, seer: Seer | None) -> None:
        is_first = taken.columns is None
        if is_first:
            taken.columns = tuple((answer.fname(i) or b"").decode() for i in range(answer.nfields))
            if seer is not None:
                seer.begin(taken.columns)
        if not answer.ntuples:
            return
        try:
            self._values.set_pgresult(answer, set_loaders=is_first)
            rows: list[Row] = self._values.load_rows(0, answer.ntuples, tuple)
        except Exception as error:  # what a value may raise while it is read is the driver's choice
            taken.failure = QueryError("engine", f"the result cannot be read: {one_line(error)}")
            taken.is_enough = True
            return
        if taken.count + len(rows) > allowance.rows:
            del rows[allowance.rows - taken.count :]
            taken.is_enough = taken.is_cut = True
        taken.count += len(rows)
        if not self._fits(rows, taken, allowance, seen=seer is not None):
            taken.failure, taken.is_enough = _too_large(allowance), True
        elif seer is None:
            taken.rows += rows
        elif rows and not seer.see(rows):
            taken.is_enough = taken.is_cut = True

    def _fits(self, rows: list[Row], taken: _Taken, allowance: Allowance, *, seen: bool) -> bool:
        """Whether the next rows are allowed. They are counted only once so much has come in that they might
        not be: a character of it makes one character of a cell, or a cell of 8 bytes in an array."""
        if not taken.is_counted and not seen:
            cells = len(taken.columns or ()) * taken.count
            if (1 + _CELL_BYTES) * self._wire.received + _CELL_BYTES * cells <= allowance.bytes:
                return True
            taken.left -= bytes_of(taken.rows)
        taken.is_counted = True
        taken.left -= bytes_of(rows)
        return taken.left >= 0

    def _outcome(self, taken: _Taken, allowance: Allowance, elapsed: float, to_its_end: bool) -> Result:
        failure = taken.failure
        if taken.is_cut and not to_its_end and (failure is None or failure.kind != "too_large"):
            failure = None  # we stopped it ourselves
        elif self._wire.was_late and (self.is_lost or self.fatal == CANCELLED) and not taken.is_enough:
            failure = late(allowance)
        elif failure is None and self.is_lost:
            failure = QueryError("engine", LOST)
        if failure is not None:
            return QueryError(failure.kind, failure.message, elapsed)
        columns = taken.columns or ()
        affected = taken.affected if taken.columns is None else -1
        return QueryResult(columns, taken.rows, taken.is_cut, affected, elapsed)

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
    """Connect to a database as a role. Raises `ServerError` if that cannot be done."""
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
        server.connect().close()  # starts the embedded server again; says what is wrong with any other
    try:
        return Session(_connect(conninfo), shown)
    except psycopg.Error as error:
        raise ServerError(
            f"no connection to a database of ours on the PostgreSQL server at {server.shown}: "
            f"{one_line(error)}"
        ) from None


def _connect(conninfo: str) -> psycopg.Connection[Any]:
    return psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)


def late(allowance: Allowance) -> QueryError:
    """What is said of a statement that was stopped at its deadline."""
    if allowance.in_all:
        return QueryError("timeout", f"stopped after {allowance.in_all:g} s for everything together")
    return QueryError("timeout", f"stopped after {allowance.seconds:g} s")


def _too_large(allowance: Allowance) -> QueryError:
    return QueryError("too_large", f"the rows take more than {allowance.bytes:g} bytes")


def bytes_of(rows: Iterable[Collection[Any]]) -> int:
    """What rows count: text and blobs by length, and 8 for each cell besides; arrays and JSON by what they
    hold."""
    total = 0
    for row in rows:
        total += _CELL_BYTES * len(row)
        for cell in row:
            kind = type(cell)
            if kind in _SIZED:
                total += len(cell)
            elif kind is list:
                total += bytes_of([cell])
            elif kind is dict:
                total += bytes_of([cell.keys(), cell.values()])
    return total
