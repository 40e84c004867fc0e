"""Answers of the server as values: errors in birdenv's words, and rows, never more than is allowed.

What Python has no value for stays text. Dates and times beyond Python's calendar (infinity, BC, the year
99999) and intervals of months keep PostgreSQL's own spelling (ISO, in UTC); `char(n)` loses the blanks that
pad it. The exception is JSON of more levels than comparing, hashing and writing it down could follow: that is
an error, not text that looks equal.

Databases and roles of episodes have names of their own on the server. Values of the types that hold such a
name (`current_database()`, `current_user`, columns of the catalogs) and messages show a stable name instead,
the same in every run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.adapt import Loader
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

if TYPE_CHECKING:
    from psycopg.abc import Transformer as AnyTransformer


_TYPES: Final = (19, 1033, 4096)  # name, aclitem, regrole


def with_shown_names(text: str, shown: Mapping[str, str]) -> str:
    """Return the text with every made-up name replaced."""
    for name, other in shown.items():
        text = text.replace(name, other)
    return text


def show_names(connection: psycopg.Connection[Any], shown: Mapping[str, str]) -> None:
    """Replace the names in all values of those types that are read on a connection."""
    written = {f'"{name}"': other for name, other in shown.items()} | dict(shown)  # as an identifier, first

    class ShownNameLoader(TextLoader):
        def load(self, data: Any) -> str | bytes:
            text = super().load(data)
            return with_shown_names(text, written) if isinstance(text, str) else text

    for oid in _TYPES:
        connection.adapters.register_loader(oid, ShownNameLoader)


MOST_LEVELS: Final = 100
"""Levels of arrays and objects in a value of JSON, at most."""

_JSON_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS: Final = re.compile(rb"[\[\]{}]")


def use_tolerant_loaders(connection: psycopg.Connection[Any]) -> None:
    """Let every value of the types above load on this connection."""
    for name, loader in _LOADERS.items():
        connection.adapters.register_loader(name, loader)


class _OrText(Loader):
    """Before a loader of psycopg: what that one refuses stays text."""

    def load(self, data: Any) -> Any:
        try:
            return super().load(data)  # type: ignore[safe-super]
        except (psycopg.DataError, ValueError, OverflowError):
            return bytes(data).decode()


class _DateOrText(_OrText, DateLoader):
    pass


class _TimeOrText(_OrText, TimeLoader):
    pass


class _TimetzOrText(_OrText, TimetzLoader):
    pass


class _TimestampOrText(_OrText, TimestampLoader):
    pass


class _TimestamptzOrText(_OrText, TimestamptzLoader):
    pass


class _IntervalOrText(_OrText, IntervalLoader):
    """A month has no fixed length, so an interval of months or years cannot be Python's `timedelta`."""

    def load(self, data: Any) -> Any:
        text = bytes(data)
        return text.decode() if b"mon" in text or b"year" in text else super().load(data)


def levels_of_json(text: bytes) -> int:
    """Count the levels of arrays and objects in JSON, in linear time; up to `MOST_LEVELS` it may be fewer."""
    brackets = text.count(b"[") + text.count(b"{")
    if brackets <= MOST_LEVELS:  # as nearly always
        return brackets
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_JSON_TEXT.sub(b"", text)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


class _Bounded(Loader):
    """Before a loader of JSON: what is nested too deeply is an error."""

    def load(self, data: Any) -> Any:
        if levels_of_json(bytes(data)) > MOST_LEVELS:
            raise psycopg.DataError(f"JSON nested more than {MOST_LEVELS} levels deep")
        return super().load(data)  # type: ignore[safe-super]


class _BoundedJson(_Bounded, JsonLoader):
    pass


class _BoundedJsonb(_Bounded, JsonbLoader):
    pass


class _Unpadded(TextLoader):
    def load(self, data: Any) -> Any:
        return super().load(bytes(data).rstrip(b" "))


_LOADERS: Final[dict[str, type[Loader]]] = {
    "date": _DateOrText,
    "time": _TimeOrText,
    "timetz": _TimetzOrText,
    "timestamp": _TimestampOrText,
    "timestamptz": _TimestamptzOrText,
    "interval": _IntervalOrText,
    "bpchar": _Unpadded,
    "json": _BoundedJson,
    "jsonb": _BoundedJsonb,
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
"""Kind of error by the beginning of its SQLSTATE; the first that fits."""


def sqlstate(answer: PGresult) -> str:
    """Return the SQLSTATE of an error; empty where the error is not the server's."""
    return _field(answer, "SQLSTATE")


def query_error(answer: PGresult) -> QueryError:
    """Return an error that the server told: its message on one line, with the SQLSTATE."""
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
    """The rows that a statement has returned so far, for `values`. They go to the sink if there is one."""

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
        """Return whether the next rows are allowed. They are counted only once so much has come in that they
        might not be.
        """
        if not self._is_counted:
            cells = (len(self.columns or ()) + 1) * self._count
            if _CHARACTER_BYTES * received + _CELL_BYTES * cells <= self._allowance.bytes:
                return True
            self._left -= bytes_of(self.rows)
        self._is_counted = True
        self._left -= bytes_of(rows)
        return self._left >= 0


def too_large(allowance: Allowance) -> QueryError:
    """Return the message for rows that are larger than allowed."""
    return QueryError("too_large", f"the rows take more than {allowance.bytes:g} bytes")
