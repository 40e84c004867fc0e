"""PostgreSQL's values as Python's, without one that raises: what Python has no value for stays text.

Dates and times beyond Python's calendar (infinity, BC, the year 99999) and intervals of months keep
PostgreSQL's own spelling (ISO, in UTC); `char(n)` loses the blanks that pad it. The exception is JSON of more
levels than comparing, hashing and writing it down could follow: that is an error, not text that looks equal.
"""

from __future__ import annotations

import re
from typing import Any, Final

import psycopg
from psycopg.adapt import Loader
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
