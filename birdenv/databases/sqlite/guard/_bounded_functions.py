"""Careful versions of two families of functions whose work no bound on the size of values bounds.

`printf` pads to any width, and two-argument `trim` takes the product of its arguments. What they compute is
SQLite's own; what they refuse follows the connection's bound on the size of values at the time of the call.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeAlias

from birdenv.databases.sqlite.guard._value_bounds import LARGEST_VALUE

_TRIMMING_A_BYTE = 2  # characters times characters to trim, for each byte that a value may have
_FAR_TOO_MUCH = 2**63
_CONVERSION = re.compile(r"%[-+ #0,!]*(\*|\d{1,18})?\d*(?:\.(\*|\d{1,18})?\d*)?l{0,2}(.?)", re.DOTALL)
_LEADING_NUMBER = re.compile(r"\s*[-+]?(\d{1,18})")
_FORMATTING = ("printf", "format")
_TRIMMING = ("trim", "ltrim", "rtrim")


class RefusedCallError(Exception):
    """A call of a function that would take too long; the message is for the agent."""


def replace_unbounded_functions(
    connection: sqlite3.Connection, refuse: Callable[[str], None], interrupt: Callable[[], None]
) -> None:
    """Put careful versions of `printf` and two-argument `trim` in place.

    `refuse` is told, in a sentence, why a call was not made; the statement then fails. `interrupt` is told of
    Ctrl-C, which SQLite cannot pass on.
    """
    native = _Native(refuse)
    bound = partial(connection.getlimit, sqlite3.SQLITE_LIMIT_LENGTH)
    for name in _FORMATTING:
        careful = _told(interrupt, partial(_format, native, refuse, bound, name))
        connection.create_function(name, -1, careful, deterministic=True)
    for name in _TRIMMING:
        careful = _told(interrupt, partial(_trim, native, refuse, bound, name))
        connection.create_function(name, 2, careful, deterministic=True)


class _Native:
    """SQLite's own functions, called on an empty database.

    `refuse` gets a sentence where the result is nothing that a function of Python's could give SQLite.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self._refuse = refuse
        self._connection: sqlite3.Connection | None = None

    def call(self, name: str, *arguments: Any) -> Any:
        if self._connection is None:
            self._connection = sqlite3.connect(":memory:", check_same_thread=False)
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
        marks = ",".join("?" * len(arguments))
        try:
            return self._connection.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]
        except sqlite3.OperationalError as error:
            if not str(error).startswith("Could not decode"):  # a precision counts bytes, and may cut
                raise
            _refuse(self._refuse, f"{name}() is not allowed here: what it gives is not UTF-8")
        except sqlite3.DataError as error:
            raise OverflowError(str(error)) from error  # which SQLite is told as what it is: too big


_Function: TypeAlias = Callable[..., Any]


def _told(interrupt: Callable[[], None], function: _Function) -> _Function:
    """The function, which tells of Ctrl-C (but in the moment in which it is entered)."""

    def careful(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except KeyboardInterrupt:
            interrupt()
            raise

    return careful


def _format(
    native: _Native, refuse: Callable[[str], None], bound: Callable[[], int], name: str, *arguments: Any
) -> Any:
    if arguments and isinstance(arguments[0], str | bytes) and _padding(*arguments) > bound():
        _refuse(refuse, f"{name}() with a width or precision above {bound()} is not allowed here")
    return native.call(name, *arguments)


def _padding(template: str | bytes, *values: Any) -> int:
    """Characters that the widths and precisions of a format ask for, in all."""
    if isinstance(template, bytes):  # SQLite takes it for text; what it asks for is in ASCII
        template = template.decode("latin-1")
    following = iter(values)
    padding = 0
    for width, precision, letter in _CONVERSION.findall(template):
        for part in (width, precision):
            padding += _whole(next(following, None)) if part == "*" else int(part or 0)
        if letter not in "%n":
            next(following, None)
    return padding


def _whole(value: Any) -> int:
    """The number that SQLite takes an argument for, without its sign; no less where that is not known."""
    if isinstance(value, str):
        number = _LEADING_NUMBER.match(value)
        return int(number[1]) if number else 0
    if isinstance(value, int | float):
        return abs(int(value)) if abs(value) < _FAR_TOO_MUCH else _FAR_TOO_MUCH
    return 0 if value is None else _FAR_TOO_MUCH


def _trim(
    native: _Native, refuse: Callable[[str], None], bound: Callable[[], int], name: str, *arguments: Any
) -> Any:
    text, characters = (len(value) if isinstance(value, str | bytes) else 32 for value in arguments)
    if text * characters > _TRIMMING_A_BYTE * bound():
        _refuse(refuse, f"{name}() of {text} by {characters} characters takes too long to be allowed here")
    return native.call(name, *arguments)


def _refuse(refuse: Callable[[str], None], sentence: str) -> NoReturn:
    refuse(sentence)
    raise RefusedCallError(sentence)
