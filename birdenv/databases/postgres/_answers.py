"""Convert the server's answers into errors, or into rows within limits.

Values of types that do not exist in Python remain text. Dates and times outside Python's calendar (infinity,
BC, the year 99999) and intervals with months keep PostgreSQL's spelling (ISO, in UTC), as do those in a style
that psycopg cannot read. Values of `char(n)` lose their padding. JSON that is nested too deeply to be
processed is an error.

The databases and roles of episodes have unique names on the server. Error messages, and values of the types
that hold such names (`current_database()`, `current_user`, catalog columns), show a replacement instead,
which is the same in every run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg.abc import Transformer as AnyTransformer
from psycopg.adapt import Loader
from psycopg.pq import DiagnosticField
from psycopg.pq.abc import PGresult
from psycopg.types.datetime import (
    DateLoader,
    IntervalLoader,
    TimeLoader,
    TimestampLoader,
    TimestamptzLoader,
    TimetzLoader,
)
from psycopg.types.json import JsonbLoader, JsonLoader
from psycopg.types.string import TextLoader

from birdenv.databases._results import Allowance, ErrorKind, QueryError, Row, RowSink, bytes_of
from birdenv.databases.postgres.server._server import one_line

_TYPES: Final = (19, 1033, 4096)  # name, aclitem, regrole


def with_shown_names(text: str, shown: Mapping[str, str]) -> str:
    """Return the text with each key of `shown` replaced by its value."""
    for name, other in shown.items():
        text = text.replace(name, other)
    return text


def show_names(connection: psycopg.Connection[Any], shown: Mapping[str, str]) -> None:
    """Make a connection replace the keys of `shown` with their values, in all types that hold names."""
    written = {f'"{name}"': other for name, other in shown.items()} | dict(shown)  # quoted ones first

    class ShownNameLoader(TextLoader):
        def load(self, data: Any) -> str | bytes:
            text = super().load(data)
            return with_shown_names(text, written) if isinstance(text, str) else text

    for oid in _TYPES:
        connection.adapters.register_loader(oid, ShownNameLoader)


MOST_LEVELS: Final = 100
"""Maximum nesting depth of a JSON value."""

_JSON_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS: Final = re.compile(rb"[\[\]{}]")


def use_tolerant_loaders(connection: psycopg.Connection[Any]) -> None:
    """Make a connection convert values by the rules in this module's docstring."""
    for name, loader in _LOADERS.items():
        connection.adapters.register_loader(name, loader)


class _OrText(Loader):
    """A loader that converts a value as psycopg does, or leaves it as text if psycopg cannot convert it."""

    def load(self, data: Any) -> Any:
        try:
            return super().load(data)  # type: ignore[safe-super]
        except (psycopg.DataError, ValueError, OverflowError, NotImplementedError):
            return bytes(data).decode()


class _IntervalOrText(_OrText, IntervalLoader):
    """A loader that leaves intervals with months or years as text, because a `timedelta` has no months."""

    def load(self, data: Any) -> Any:
        text = bytes(data)
        return text.decode() if b"mon" in text or b"year" in text else super().load(data)


def levels_of_json(text: bytes) -> int:
    """Return the nesting depth of a JSON text, in linear time.

    If the result is at most `MOST_LEVELS`, it is only an upper bound on the depth.
    """
    brackets = text.count(b"[") + text.count(b"{")
    if brackets <= MOST_LEVELS:  # as nearly always
        return brackets
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_JSON_TEXT.sub(b"", text)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


class _Bounded(Loader):
    """A JSON loader that refuses JSON that is nested too deeply."""

    def load(self, data: Any) -> Any:
        if levels_of_json(bytes(data)) > MOST_LEVELS:
            raise psycopg.DataError(f"JSON nested more than {MOST_LEVELS} levels deep")
        return super().load(data)  # type: ignore[safe-super]


class _Unpadded(TextLoader):
    def load(self, data: Any) -> Any:
        return super().load(bytes(data).rstrip(b" "))


def _tolerant(first: type[Loader], then: type[Loader]) -> type[Loader]:
    return type(first.__name__ + then.__name__, (first, then), {})


_LOADERS: Final[dict[str, type[Loader]]] = {
    "date": _tolerant(_OrText, DateLoader),
    "time": _tolerant(_OrText, TimeLoader),
    "timetz": _tolerant(_OrText, TimetzLoader),
    "timestamp": _tolerant(_OrText, TimestampLoader),
    "timestamptz": _tolerant(_OrText, TimestamptzLoader),
    "interval": _IntervalOrText,
    "bpchar": _Unpadded,
    "json": _tolerant(_Bounded, JsonLoader),
    "jsonb": _tolerant(_Bounded, JsonbLoader),
}


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
"""Kinds of errors by the beginning of the SQLSTATE. The first match counts."""


def sqlstate(answer: PGresult) -> str:
    """Return the SQLSTATE of an error, or an empty string if the server did not report the error."""
    return _field(answer, "SQLSTATE")


def query_error(answer: PGresult) -> QueryError:
    """Convert an error from the server into a one-line `QueryError` that ends with the SQLSTATE."""
    state, message = sqlstate(answer), " ".join(_field(answer, "MESSAGE_PRIMARY").split())
    known = (kind for start, kind in _KINDS if state.startswith(start))
    kind: ErrorKind = next(known, "engine")
    if state == "08P01" and message.startswith("bind message"):
        kind, message = (
            "syntax",
            "the statement contains a parameter, but parameters have no values here: write the value itself",
        )
    if state == "0A000" and "cross-database" in message:
        kind = "missing"
    return QueryError(kind, f"{message} (SQLSTATE {state})")


def _field(answer: PGresult, name: str) -> str:
    return (answer.error_field(DiagnosticField[name]) or b"").decode(errors="replace")


# Upper bounds of Python's memory for each received character (`{1,1}` makes Decimals of 104 bytes), and for
# each cell or row in addition.
_CHARACTER_BYTES: Final = 60
_CELL_BYTES: Final = 120


class Rows:
    """Collects the rows of a statement within its limits, or passes them to a sink.

    Args:
        values: the psycopg transformer that converts the values.
        allowance: the limits on rows and bytes.
        sink: the receiver for the rows; None to collect them.
    """

    def __init__(self, values: AnyTransformer, allowance: Allowance, sink: RowSink | None) -> None:
        self._values = values
        self._allowance = allowance
        self._sink = sink
        self._left = allowance.bytes
        self._count = 0
        self._is_counted = sink is not None
        self.columns: tuple[str, ...] | None = None
        """The column names; None before the first answer with columns."""
        self.rows: list[Row] = []
        self.is_enough = False
        """Whether no more rows are needed."""
        self.is_cut = False
        """Whether rows were left out, because of the limit on rows or because the sink needed no more."""
        self.failure: QueryError | None = None
        """Why the rows cannot be returned."""

    def take(self, answer: PGresult, received: int) -> None:
        """Read the rows of one result. `received` is a lower bound on the number of bytes received so far."""
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
        except Exception as error:  # the driver's loaders may raise anything
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
        """Return whether all rows so far fit. Bytes are estimated until the estimate exceeds the limit."""
        if not self._is_counted:
            cells = (len(self.columns or ()) + 1) * self._count
            if _CHARACTER_BYTES * received + _CELL_BYTES * cells <= self._allowance.bytes:
                return True
            self._left -= bytes_of(self.rows)
        self._is_counted = True
        self._left -= bytes_of(rows)
        return self._left >= 0


def too_large(allowance: Allowance) -> QueryError:
    """Return the error for rows that exceed the byte limit."""
    return QueryError("too_large", f"the rows take more than {allowance.bytes:g} bytes")
