"""Results of statements, states of databases, and what tells contents apart: values, never an exception.

`QueryResult`, `QueryError`: what running a statement gives. `DatabaseState`: what a database is at one
moment, for comparing what two scripts made of it. `ContentId`, `Scope`, `Checkpoint`: of which contents.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

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
    """Rows that a statement returned; not frozen only because that triples the cost of making one.

    `columns` is empty for a statement that returns none (DDL, INSERT, ...); then `rows_affected` says how
    many rows it changed (-1 where that has no meaning). `truncated`: more rows were there than the caller's
    row limit. `elapsed` is in seconds, never part of what a seat sees, and ignored when comparing, as is
    `repeatable`: the statement is known to give these rows whenever it runs on the same contents.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    truncated: bool = False
    rows_affected: int = -1
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class QueryError:
    """Why a statement gave no result; `message` is the engine's own text or the guard's sentence.

    `elapsed` and `repeatable` as in `QueryResult`.
    """

    kind: ErrorKind
    message: str
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)

    @property
    def line(self) -> str:
        """The kind and the message, on one line."""
        return " ".join(f"{self.kind}: {self.message}".split())


Result: TypeAlias = QueryResult | QueryError

OUT_OF_MEMORY: Final = "out of memory"
"""The message of a statement for which this process, or its worker, had no memory left."""


def is_out_of_memory(result: object) -> bool:
    """Tell whether a statement failed for want of memory, which says nothing about the statement alone."""
    return isinstance(result, QueryError) and result.message == OUT_OF_MEMORY


SchemaObject: TypeAlias = Mapping[str, Any]
"""What is known of one table, view or trigger: JSON-able, and the same for two spellings of one thing."""


@dataclass(frozen=True, slots=True)
class NoAnswerError(QueryError):
    """An error that says nothing about the query: no connection, lost twice, or rows that cannot be read."""


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
    """What the result of a statement depends on besides the statement.

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
    """What a database holds beyond its file: the pages that differ, by offset, and its size, in bytes.

    `version` says which database it belongs to, and which version of it: for SQLite a `FileId`. A `size`
    of 0 is that database as it is. Picklable; as private as what it holds.
    """

    version: ContentId
    size: int
    pages: dict[int, bytes] = field(repr=False)
