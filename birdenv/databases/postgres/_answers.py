"""Answers of the server as values: errors in birdenv's words, and rows, never more than is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from psycopg.pq.abc import PGresult

from birdenv.databases._fetching import Allowance, RowSink, bytes_of
from birdenv.databases._results import ErrorKind, QueryError, Row
from birdenv.databases.postgres.server._server import one_line

if TYPE_CHECKING:
    from psycopg.abc import Transformer as AnyTransformer


CANCELLED: Final = "57014"

_KINDS: Final[tuple[tuple[str, ErrorKind], ...]] = (
    ("42601", "syntax"),
    ("42P01", "missing"),
    ("42703", "missing"),
    ("42883", "missing"),
    ("42704", "missing"),
    ("3F000", "missing"),
    ("25006", "denied"),
    ("42501", "denied"),
    ("23", "constraint"),
    ("53", "too_large"),
    ("54", "too_large"),
)
"""Kind of error by the beginning of its SQLSTATE; the first that fits."""


def sqlstate(answer: PGresult) -> str:
    """The SQLSTATE of an error; empty where the error is not the server's."""
    return _field(answer, "SQLSTATE")


def query_error(answer: PGresult) -> QueryError:
    """An error that the server told: its message on one line, with the SQLSTATE."""
    state, message = sqlstate(answer), " ".join(_field(answer, "MESSAGE_PRIMARY").split())
    known = (kind for start, kind in _KINDS if state.startswith(start))
    kind: ErrorKind = next(known, "engine")
    if state == "08P01" and message.startswith("bind message"):
        kind, message = "syntax", "the statement has a parameter, for which there is no value"
    if state == "0A000" and "cross-database" in message:
        kind = "missing"
    return QueryError(kind, f"{message} (SQLSTATE {state})")


def _field(answer: PGresult, name: str) -> str:
    from psycopg.pq import DiagnosticField

    return (answer.error_field(DiagnosticField[name]) or b"").decode(errors="replace")


# What Python takes, at most: for a character that came in (`{1,1}` makes Decimals of 104 bytes), and for a
# cell or row besides.
_CHARACTER_BYTES: Final = 60
_CELL_BYTES: Final = 120


class Rows:
    """What one statement has returned so far; `values` reads it. Rows go to the sink if there is one."""

    def __init__(self, values: AnyTransformer, allowance: Allowance, sink: RowSink | None) -> None:
        self._values = values
        self._allowance = allowance
        self._sink = sink
        self._left = allowance.bytes
        self._count = 0
        self._is_counted = sink is not None
        self.columns: tuple[str, ...] | None = None
        """None until there is an answer with columns."""
        self.rows: list[Row] = []
        self.is_enough = False
        """Whether nothing more is to be taken."""
        self.is_cut = False
        """Whether more rows were there than are allowed, or wanted by the sink."""
        self.failure: QueryError | None = None
        """Why they cannot be given."""

    def take(self, answer: PGresult, received: int) -> None:
        """Read the next rows; `received` bytes came in for the statement, at least."""
        if self.is_enough:
            return
        is_first = self.columns is None
        if is_first:
            self.columns = tuple((answer.fname(i) or b"").decode() for i in range(answer.nfields))
            if self._sink is not None:
                self._sink.begin(self.columns)
        if not answer.ntuples:
            return
        try:
            self._values.set_pgresult(answer, set_loaders=is_first)
            rows: list[Row] = self._values.load_rows(0, answer.ntuples, tuple)
        except Exception as error:  # what a value may raise while it is read is the driver's choice
            self.failure = QueryError("engine", f"the result cannot be read: {one_line(error)}")
            self.is_enough = True
            return
        if self._count + len(rows) > self._allowance.rows:
            del rows[self._allowance.rows - self._count :]
            self.is_enough = self.is_cut = True
        self._count += len(rows)
        if not self._fits(rows, received):
            self.failure, self.is_enough = too_large(self._allowance), True
        elif self._sink is None:
            self.rows += rows
        elif rows and not self._sink.see(rows):
            self.is_enough = self.is_cut = True

    def _fits(self, rows: list[Row], received: int) -> bool:
        """Whether the next rows are allowed. They are counted only once so much has come in that they might
        not be."""
        if not self._is_counted:
            cells = (len(self.columns or ()) + 1) * self._count
            if _CHARACTER_BYTES * received + _CELL_BYTES * cells <= self._allowance.bytes:
                return True
            self._left -= bytes_of(self.rows)
        self._is_counted = True
        self._left -= bytes_of(rows)
        return self._left >= 0


def too_large(allowance: Allowance) -> QueryError:
    """What is said of rows that are larger than allowed."""
    return QueryError("too_large", f"the rows take more than {allowance.bytes:g} bytes")
