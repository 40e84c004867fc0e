"""From an exception of Python's sqlite3 module to one of our error kinds."""

from __future__ import annotations

import re
import sqlite3
from typing import Final

from birdenv.databases._results import OUT_OF_MEMORY, ErrorKind

DRIVER_ERRORS = (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError, MemoryError)
"""What executing and fetching may raise, given text of any content: `UnicodeError` for names that are not
UTF-8, `OverflowError` and `MemoryError` for sizes."""

_BY_CODE: dict[int, ErrorKind] = {
    sqlite3.SQLITE_CONSTRAINT: "constraint",
    sqlite3.SQLITE_MISMATCH: "constraint",
    sqlite3.SQLITE_AUTH: "denied",
    sqlite3.SQLITE_TOOBIG: "too_large",
    sqlite3.SQLITE_FULL: "too_large",
    sqlite3.SQLITE_NOMEM: "too_large",
}
_BY_MESSAGE: tuple[tuple[re.Pattern[str], ErrorKind], ...] = (
    (re.compile(r'near ".*": syntax error$', re.DOTALL), "syntax"),
    (re.compile(r"incomplete input|unrecognized token: |variable number must be"), "syntax"),
    (re.compile(r"no such |no tables specified|unknown database |table .* has no column named "), "missing"),
    (
        re.compile(
            r"Expression tree is too large|parser stack overflow|too many |LIKE or GLOB pattern too complex"
            r"|query string is too large|string or blob too big|at most \d+ tables in a join"
        ),
        "too_large",
    ),
)
_BIND_MARKER = "bind markers (?, :name, @name, $name) have no value here: write the value itself"
_ONE_STATEMENT = "one statement at a time: this text holds more than one"
_OF_A_CALLBACK: Final = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_AUTH})
_FUNCTION_FAILED: Final = "user-defined function raised exception"
NOT_UTF8: Final = "a name or text in this statement, or in what it reads, is not UTF-8"


def is_from_callback(error: BaseException) -> bool:
    """Whether a callback of Python's stopped the statement, by its answer or because it failed."""
    code = getattr(error, "sqlite_errorcode", None)
    return code in _OF_A_CALLBACK or str(error) == _FUNCTION_FAILED


def kind_and_message(error: BaseException) -> tuple[ErrorKind, str]:
    """The kind of a driver's exception and a message without anything of the host in it."""
    if isinstance(error, MemoryError):
        return "too_large", OUT_OF_MEMORY
    message = str(error)
    if not isinstance(error, (sqlite3.Error, sqlite3.Warning)):
        return "engine", f"the result cannot be read: {message}"
    if message.startswith("You can only execute one statement"):
        return "syntax", _ONE_STATEMENT
    if message.startswith("Incorrect number of bindings"):
        return "syntax", _BIND_MARKER
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BY_CODE:
        return _BY_CODE[code], message
    for pattern, kind in _BY_MESSAGE:
        if pattern.match(message):
            return kind, message
    return "engine", message
