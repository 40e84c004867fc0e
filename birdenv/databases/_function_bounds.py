"""How large values may be, so that no stretch of SQLite's work that nothing can interrupt takes long.

SQLite can be stopped between two rows, never inside a function call or while it works out one row. How long
that may take grows with the size of the values (`SQLITE_LIMIT_LENGTH`), and for some functions with its
square. So inside our own process the bound on the size of values is narrowed for each statement, by the
length of its text and the functions that it calls, to what about a second of work can handle; two families
whose work no size bounds are replaced by careful ones. A worker process, which can be killed, does without.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = [
    "LARGEST_VALUE",
    "FunctionCalls",
    "RefusedCallError",
    "length_bound",
    "replace_unbounded_functions",
]

LARGEST_VALUE = 10_000_000
"""Bytes of one text or blob, at most (and of one row of a table)."""

_BYTES_A_CHARACTER = 4_000_000_000  # 1 s of copying and comparing at one operation for each character of SQL
_BYTES_A_CALL = 100_000_000  # 1 s of a function whose work is proportional to its arguments
_BYTES_OF_MATCHING = 700_000  # 1 s of LIKE or GLOB with a pattern of 500 characters
_BYTES_OF_SEARCH = 345_000  # 1 s of instr() or replace(), which takes the square of it
_SEARCHING = frozenset({"instr", "replace", "json_patch"})
_MATCHING = frozenset({"like", "glob"})
_CHEAP = frozenset(
    """
    count sum total avg min max abs round sign ceil ceiling floor trunc coalesce ifnull nullif iif likely
    unlikely likelihood typeof changes total_changes last_insert_rowid random row_number rank dense_rank
    percent_rank cume_dist ntile lag lead first_value last_value nth_value date time datetime julianday
    unixepoch current_date current_time current_timestamp sqlite_version exp ln log log10 log2 mod pi pow
    power sqrt
    """.split()
)


class RefusedCallError(Exception):
    """A call of a function that would take too long; the message is for the agent."""


class FunctionCalls:
    """The functions that one statement calls, counted while it is compiled."""

    def __init__(self) -> None:
        self._calls = self._matching = self._searching = 0

    def add(self, name: str) -> bool:
        """Count a call; whether it may narrow the bound."""
        name = name.lower()
        if name in _CHEAP:
            return False
        self._calls += 1
        self._matching += name in _MATCHING
        self._searching += name in _SEARCHING
        return True

    def bound(self) -> int:
        """Bytes that one value may have."""
        bound = _BYTES_A_CALL // max(self._calls, 1)
        if self._matching:
            bound = min(bound, _BYTES_OF_MATCHING // self._matching)
        if self._searching:
            bound = min(bound, int(_BYTES_OF_SEARCH / self._searching**0.5))
        return min(bound, LARGEST_VALUE)


def length_bound(sql: str) -> int:
    """Bytes that one value may have in a statement of this text, before its functions are known."""
    return min(LARGEST_VALUE, _BYTES_A_CHARACTER // max(len(sql), 1))


_MOST_PADDING = 1_000_000  # characters of width and precision in one call of printf()
_MOST_TRIMMING = 100_000_000  # characters times characters to trim
_CONVERSION = re.compile(r"%[-+ #0,!]*(\*|\d{1,18})?\d*(?:\.(\*|\d{1,18})?\d*)?l{0,2}(.?)", re.DOTALL)
_FORMATTING = ("printf", "format")
_TRIMMING = ("trim", "ltrim", "rtrim")


def replace_unbounded_functions(connection: sqlite3.Connection, refuse: Callable[[str], None]) -> None:
    """Put careful versions of `printf` and two-argument `trim` in place; what they compute is SQLite's own.

    `refuse` is told, in a sentence, why a call was not made; the statement then fails.
    """
    native = _Native()
    for name in _FORMATTING:
        careful = partial(_format, native, refuse, name)
        connection.create_function(name, -1, careful, deterministic=True)
    for name in _TRIMMING:
        careful = partial(_trim, native, refuse, name)
        connection.create_function(name, 2, careful, deterministic=True)


class _Native:
    """SQLite's own functions, called on an empty database."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None

    def call(self, name: str, *arguments: Any) -> Any:
        if self._connection is None:
            self._connection = sqlite3.connect(":memory:", check_same_thread=False)
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
        marks = ",".join("?" * len(arguments))
        return self._connection.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]


def _format(native: _Native, refuse: Callable[[str], None], name: str, *arguments: Any) -> Any:
    if arguments and isinstance(arguments[0], str) and _padding(*arguments) > _MOST_PADDING:
        _refuse(refuse, f"{name}() with a width or precision above {_MOST_PADDING} is not allowed here")
    return native.call(name, *arguments)


def _padding(template: str, *values: Any) -> int:
    """Characters that the widths and precisions of a format ask for, in all."""
    following = iter(values)
    padding = 0
    for width, precision, letter in _CONVERSION.findall(template):
        for part in (width, precision):
            padding += _whole(next(following, None)) if part == "*" else int(part or 0)
        if letter not in "%n":
            next(following, None)
    return padding


def _whole(value: Any) -> int:
    try:
        return abs(int(float(value))) if isinstance(value, (int, float, str)) else 0
    except ValueError:
        return 0
    except OverflowError:
        return _MOST_PADDING + 1


def _trim(native: _Native, refuse: Callable[[str], None], name: str, *arguments: Any) -> Any:
    text, characters = (len(value) if isinstance(value, (str, bytes)) else 32 for value in arguments)
    if text * characters > _MOST_TRIMMING:
        _refuse(refuse, f"{name}() of {text} by {characters} characters takes too long to be allowed here")
    return native.call(name, *arguments)


def _refuse(refuse: Callable[[str], None], sentence: str) -> None:
    refuse(sentence)
    raise RefusedCallError(sentence)
