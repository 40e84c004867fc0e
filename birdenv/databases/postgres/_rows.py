"""The rows of a running statement, read as they come in, never more than is allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final

from birdenv.databases._fetching import Allowance, Seer
from birdenv.databases._results import QueryError, Row
from birdenv.databases.postgres._server import one_line

if TYPE_CHECKING:
    from psycopg.abc import Transformer
    from psycopg.pq.abc import PGresult

__all__ = ["Rows", "bytes_of", "too_large"]

_CELL_BYTES: Final = 8  # what a cell counts besides its text, as for SQLite
_SIZED: Final = frozenset({str, bytes})


class Rows:
    """What one statement has returned so far; `values` reads it. Rows go to the seer if there is one."""

    def __init__(self, values: Transformer, allowance: Allowance, seer: Seer | None) -> None:
        self._values = values
        self._allowance = allowance
        self._seer = seer
        self._left = allowance.bytes
        self._count = 0
        self._is_counted = seer is not None
        self.columns: tuple[str, ...] | None = None
        """None until there is an answer with columns."""
        self.rows: list[Row] = []
        self.is_enough = False
        """Whether nothing more is to be taken."""
        self.is_cut = False
        """Whether more rows were there than are allowed, or wanted by the seer."""
        self.failure: QueryError | None = None
        """Why they cannot be given."""

    def take(self, answer: PGresult, received: int) -> None:
        """Read the next rows; `received` bytes came in for the statement, at least."""
        if self.is_enough:
            return
        is_first = self.columns is None
        if is_first:
            self.columns = tuple((answer.fname(i) or b"").decode() for i in range(answer.nfields))
            if self._seer is not None:
                self._seer.begin(self.columns)
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
        elif self._seer is None:
            self.rows += rows
        elif rows and not self._seer.see(rows):
            self.is_enough = self.is_cut = True

    def _fits(self, rows: list[Row], received: int) -> bool:
        """Whether the next rows are allowed. They are counted only once so much has come in that they might
        not be: a character of it makes one character of a cell, or a cell of 8 bytes in an array."""
        if not self._is_counted:
            cells = len(self.columns or ()) * self._count
            if (1 + _CELL_BYTES) * received + _CELL_BYTES * cells <= self._allowance.bytes:
                return True
            self._left -= bytes_of(self.rows)
        self._is_counted = True
        self._left -= bytes_of(rows)
        return self._left >= 0


def too_large(allowance: Allowance) -> QueryError:
    """What is said of rows that are larger than allowed."""
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
