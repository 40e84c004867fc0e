"""Results of statements, and states of databases: values, never an exception. Fetching the rows of a result.

`QueryResult`, `QueryError`: what running a statement gives. `DatabaseState`: what a database is at one
moment, for comparing what two scripts made of it. `ContentId`, `Scope`, `Checkpoint`: of which contents. The
rows of a running statement are fetched together, or shown to a `RowSink` a batch at a time, never more than
is allowed.
"""

from __future__ import annotations

import marshal
import sqlite3
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from sys import getsizeof
from typing import Any, Final, Literal, Protocol, TypeAlias

from birdenv.databases._limits import Limits

Cell: TypeAlias = Any
"""One value as the driver gives it: `None`, `int`, `float`, `str`, `bytes` on SQLite."""

Row: TypeAlias = tuple[Cell, ...]

ErrorKind: TypeAlias = Literal["syntax", "missing", "constraint", "denied", "timeout", "too_large", "engine"]
"""`syntax`: does not parse. `missing`: no such table, column or function. `constraint`: a rule of the data.
`denied`: refused by the guard. `timeout`: it took too long. `too_large`: a row, byte or length cap.
`engine`: anything else that the engine says."""


@dataclass(slots=True)
class QueryResult:
    """The rows that a statement returned. It is not frozen, because that would triple the cost of making it.

    Attributes:
        columns: names; empty for a statement that returns no rows (DDL, INSERT and the like).
        rows: the rows that were fetched.
        truncated: True if there were more rows than the caller's limit.
        elapsed: duration in seconds. No seat sees it, and it does not count when results are compared.
        rows_affected: how many rows such a statement changed; -1 if that has no meaning.
        repeatable: True if the statement is known to return these rows whenever it runs on the same
            contents. It does not count when results are compared.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    truncated: bool = False
    rows_affected: int = -1
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class QueryError:
    """The reason why a statement gave no result. `message` is the text of the engine or of the guard.

    `elapsed` and `repeatable` are those of `QueryResult`.
    """

    kind: ErrorKind
    message: str
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)

    @property
    def line(self) -> str:
        """Return the kind and the message, on one line."""
        return " ".join(f"{self.kind}: {self.message}".split())


Result: TypeAlias = QueryResult | QueryError

OUT_OF_MEMORY: Final = "out of memory"
"""The message of a statement for which this process, or its worker, had no memory left."""


def is_out_of_memory(result: object) -> bool:
    """Return whether a statement failed because memory was short, which may not be the statement's fault."""
    return isinstance(result, QueryError) and result.message == OUT_OF_MEMORY


SchemaObject: TypeAlias = Mapping[str, Any]
"""What is known of one table, view or trigger: JSON-able, and the same for two spellings of one thing."""


@dataclass(frozen=True, slots=True)
class NoAnswerError(QueryError):
    """An error that says nothing about the query: the connection was lost twice, or rows cannot be read."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """Schema and contents as committed, without temporary objects.

    `schema` is keyed by kind and folded name (`"table orders"`, `"view recent"`, `"trigger audit"`; A to Z in
    lower case, as SQLite compares names); `contents` by the folded name of each table and view, with every
    column and row as `SELECT *` gives them: cut at the row limit (`truncated`), or the error that reading
    gave. The counters of AUTOINCREMENT are `sqlite_sequence`, where there are any. `definitions`: the SQL of
    everything as it was typed, which does not count when comparing.
    """

    schema: Mapping[str, SchemaObject]
    contents: Mapping[str, Result]
    definitions: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContentId:
    """Identity of a database's contents. Engines subclass it; equal ids mean equal contents."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything that the result of a statement depends on, apart from the statement.

    Attributes:
        engine: the exact build of the engine.
        contents: tells the contents of the database from all others.
        limits: of each statement.
    """

    engine: str
    contents: Hashable
    limits: Limits

    def __hash__(self) -> int:
        """Hash the contents only, because every graded pair is looked up by it."""
        return hash(self.contents)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The difference between a database and its file: the changed pages, by offset, and its size in bytes.

    `version` says which database it belongs to, and which version of it: for SQLite a `FileId`. A `size`
    of 0 is that database as it is. Picklable; as private as what it holds.
    """

    version: ContentId
    size: int
    pages: dict[int, bytes] = field(repr=False)


_POINTER: Final = 8
_ROW_BYTES: Final = 64  # of a tuple, at most, and the list's pointer to it
_CELL_BYTES: Final = 96  # of a text, and the tuple's pointer to it, besides its characters, at most
_CONTAINERS: Final = frozenset({list, dict})
_TOGETHER_BYTES: Final = 256 * 2**20  # of rows that are fetched together, at most, or of one
_PLAIN_FORM: Final = 2  # of `marshal`: the last one without references between equal values
_COUNTED_TOGETHER: Final = 1_024  # rows


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one statement may cost: `seconds` as of `Limits`. `in_all` is above 0 where they are the rest of
    so many for several statements. `wall_seconds`: where `seconds` count processor time."""

    rows: int
    seconds: float
    bytes: float
    in_all: float = 0.0
    wall_seconds: float = float("inf")


class RowSink(Protocol):
    """Sees the rows of a scan as they come, instead of getting them all."""

    def begin(self, columns: tuple[str, ...]) -> None:
        """Begin a statement. If it is run again, forget what was seen of it before."""

    def see(self, rows: list[Row]) -> bool:
        """Take the next rows, without changing the list. Return False if no more rows are needed."""


def bytes_of(rows: Sequence[Row]) -> int:
    """Return the bytes that Python needs for rows: tuples, cells, and the contents of arrays and JSON."""
    return (
        _POINTER * len(rows)
        + sum(map(getsizeof, rows))
        + sum(
            _bytes_of_cells(rows[start : start + _COUNTED_TOGETHER])
            for start in range(0, len(rows), _COUNTED_TOGETHER)
        )
    )


def _bytes_of_cells(rows: Iterable[Iterable[Any]]) -> int:
    """Return what the cells take. Each object counts once: Python shares small integers, None and short
    texts.
    """
    cells = list(chain.from_iterable(rows))
    objects = dict(zip(map(id, cells), cells, strict=True)).values()
    total = sum(map(getsizeof, objects))
    if not _CONTAINERS.isdisjoint(map(type, objects)):
        inner = [cell for cell in objects if type(cell) in _CONTAINERS]
        total += _bytes_of_cells(inner)
        total += _bytes_of_cells(cell.values() for cell in inner if type(cell) is dict)
    return total


def fetch(
    cursor: sqlite3.Cursor, allowance: Allowance, widest: int, sink: RowSink | None = None
) -> tuple[list[Row] | None, bool]:
    """Fetch at most `allowance.rows` rows; return them, and whether there are more.

    Args:
        cursor: a statement that runs.
        allowance: of rows and bytes.
        widest: bytes that a row may have.
        sink: gets the rows instead; there are more, too, where it has seen enough.

    Returns:
        None in place of rows beyond the allowance's bytes. So few are fetched at a time that they have room
        in memory however wide they are. They are counted exactly only once they might be too many.
    """
    rows: list[Row] = []
    uncounted: list[Row] = []
    left, counted, at_most = allowance.rows, 0, 0
    together = _TOGETHER_BYTES // max(widest, 1) or 1
    while True:
        asked = min(together, left + 1)
        fetched = cursor.fetchmany(asked)
        is_last, is_cut = len(fetched) < asked, len(fetched) > left
        uncounted += fetched
        at_most += _at_most(fetched)
        if counted + at_most > allowance.bytes:
            counted += bytes_of(uncounted)
            uncounted, at_most = [], 0
            if counted > allowance.bytes:
                return None, False
        if is_cut:
            fetched.pop()
        if sink is None:
            rows += fetched
        elif fetched and not sink.see(fetched):
            return [], True
        if is_last or is_cut:
            return rows, is_cut
        left -= len(fetched)


def _at_most(rows: list[Row]) -> int:
    """Return what Python takes for rows, or more than that; quicker than `bytes_of`."""
    cells = len(rows) * len(rows[0]) if rows else 0
    return _ROW_BYTES * len(rows) + _CELL_BYTES * cells + 4 * len(marshal.dumps(rows, _PLAIN_FORM))
