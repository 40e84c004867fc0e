"""What running a statement gives: rows, or a typed error. Values, never a driver's exception."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal, TypeAlias

__all__ = ["Cell", "ErrorKind", "QueryError", "QueryResult", "Result", "Row"]

Cell: TypeAlias = Any
"""One value as the driver gives it: `None`, `int`, `float`, `str`, `bytes` on SQLite."""

Row: TypeAlias = tuple[Cell, ...]

ErrorKind: TypeAlias = Literal["syntax", "missing", "constraint", "denied", "timeout", "too_large", "engine"]
"""`syntax`: does not parse. `missing`: no such table, column or function. `constraint`: a rule of the data.
`denied`: refused by the guard. `timeout`: the deadline passed. `too_large`: a row, byte or length cap.
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

    @property
    def types(self) -> tuple[str, ...]:
        """Storage class of each column as seen in its rows: one word, or `mixed`; `null` if only NULLs."""
        return tuple(_storage_class(map(itemgetter(i), self.rows)) for i in range(len(self.columns)))


@dataclass(frozen=True, slots=True)
class QueryError:
    """Why a statement gave no result; `message` is the engine's own text or the guard's sentence.

    `elapsed` and `repeatable` as in `QueryResult`.
    """

    kind: ErrorKind
    message: str
    elapsed: float = field(default=0.0, compare=False)
    repeatable: bool = field(default=False, compare=False)


Result: TypeAlias = QueryResult | QueryError

_NAMES = {int: "integer", float: "real", str: "text", bytes: "blob"}


def _storage_class(cells: Iterable[Cell]) -> str:
    seen = set(map(type, cells)) - {type(None)}
    if not seen:
        return "null"
    kind = seen.pop()
    return "mixed" if seen else _NAMES.get(kind, kind.__name__)
