"""How large values may be, so that no stretch of SQLite's work that nothing can interrupt takes long.

SQLite can be stopped between two rows, never inside a function call or while it works out one row. How long
that may take grows with the size of the values (`SQLITE_LIMIT_LENGTH`), for some functions with its square,
and with the number of operations on them, which need not be what the text shows: SQLite copies expressions
into the places where they are used. So inside our own process each statement gets a bound on the size of
values that keeps such a stretch to about a second:

* at first one that would do for the longest program that its text may become. Nearly all statements are done
  with that;
* where a value is larger, or a function is called whose work is out of proportion, the statement is compiled
  once more, by `EXPLAIN`, and the operations of its program are counted.

A worker process, which can be killed, does without.

Modules of virtual tables store values of their own, and take no notice where one is too long to be stored. So
where they may store any, values may be as long as those, or the statement does not run.

Careful versions of two families of functions whose work no bound on the size of values bounds.

`printf` pads to any width, and two-argument `trim` takes the product of its arguments. What they compute is
SQLite's own; what they refuse follows the connection's bound on the size of values at the time of the call.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

LARGEST_VALUE: Final = 10_000_000
"""Bytes of one text or blob, at most (and of one row of a table)."""

Work: TypeAlias = Literal["cheap", "proportional", "heavy", "unbounded"]
"""What a function does with large arguments: next to nothing, look at them once, or more than that; or
something that no size of a value bounds."""

SHORTEST_LIMIT: Final = 25_000
"""Operations that a statement may have however short its text is: more than any sensible one needs."""

# Bytes that make a second of work, measured on 2 GHz:
_OPERATIONS: Final = 100_000_000  # taking two texts for numbers, the slowest thing that is no function
_CALLS: Final = 100_000_000  # a function whose work is proportional to its arguments
_MATCHING: Final = 300_000  # GLOB with a pattern of 500 characters in brackets; LIKE takes half of that
_SEARCH: Final = 345_000  # instr(), which takes the square of it
_INDEXING: Final = 1_000_000  # one document put into, or looked up in, a full-text index

# Functions that take the square of the size: how many times as long as instr().
_SQUARES: Final = {"instr": 1, "replace": 1, "highlight": 1, "offsets": 1, "json_patch": 12}
_PATTERNS: Final = frozenset({"like", "glob"})
_CHEAP: Final = frozenset(  # they look at no argument's text, and copy none
    """
    count coalesce ifnull iif likely unlikely likelihood typeof changes total_changes last_insert_rowid random
    row_number rank dense_rank percent_rank cume_dist ntile current_date current_time current_timestamp
    sqlite_version pi
    """.split()
)
_OF_UNKNOWN_PROGRAMS: Final = 1_000  # bytes of a value
_UNBOUNDED: Final = frozenset({"snippet"})  # the square of the matches in a full-text index
_CALLING: Final = frozenset("Function PureFunc AggStep AggStep1 AggInverse AggValue AggFinal".split())
_WORKING: Final = frozenset(
    """
    Add Subtract Multiply Divide Remainder Concat BitAnd BitOr BitNot ShiftLeft ShiftRight Not If IfNot Cast
    Eq Ne Lt Le Gt Ge Compare ElseEq ZeroOrNull Affinity RealAffinity NumericAffinity TypeCheck MakeRecord
    MustBeInt And Or
    """.split()
)
_EDITING: Final = frozenset({"sqlite_rename_table", "sqlite_rename_column", "sqlite_drop_column"})
"""Only SQLite itself can call them, where `ALTER` edits the schema's texts. Such a program computes
nothing that the statement says, and its LIKE patterns are short."""

_INDEX: Final = frozenset({"VUpdate", "VFilter"})
_STORING: Final = frozenset({"VCreate", "VDestroy", "VRename", "VUpdate"})

_NODE_BYTES: Final = 100_000  # of a page of fts5, or a node of rtree, at most
_WITHOUT_PAGES: Final = frozenset({"fts3", "fts4"})  # where all of a word's places are one value


WHOLE_INDEX: Final = 1_000_000_000
"""SQLite's own bound on a value: that of a module whose values are as large as its whole index."""


def stored_by_module(module: str) -> int:
    """Bytes of a value that a module of virtual tables must be able to store."""
    return WHOLE_INDEX if module.lower() in _WITHOUT_PAGES else _NODE_BYTES


def longest_program(sql: str) -> int:
    """Operations that a statement of this text may be compiled to."""
    return max(SHORTEST_LIMIT, len(sql))


def first_bound(operations: int) -> int:
    """Bytes that a value may have in any program of so many operations that calls no heavy function."""
    return _CALLS // operations


def kind_of_work(function: str) -> Work:
    """What a function of this name does with large arguments."""
    name = function.lower()
    if name in _CHEAP:
        return "cheap"
    if name in _UNBOUNDED:
        return "unbounded"
    return "heavy" if name in _SQUARES or name in _PATTERNS else "proportional"


class Counted(NamedTuple):
    """What counting a program has shown: bytes that a value may have in it; does a module store values? does
    it compute anything?"""

    bound: int
    stores: bool
    works: bool


def count_program(program: Iterable[tuple[Any, ...]] | None, least: int = 0) -> Counted:
    """Work out the bound of a program, given as the rows of `EXPLAIN`; None for one that is not known.

    `least`: bytes that a module must be able to store. Indexing a document of that size may take its time.
    """
    if program is None:
        return Counted(max(_OF_UNKNOWN_PROGRAMS, least), False, True)
    operations = calls = patterns = squares = indexing = 0
    stores = edits = False
    for _, opcode, _, _, _, p4, *_ in program:
        operations += opcode in _WORKING
        indexing += opcode in _INDEX
        stores = stores or opcode in _STORING
        if opcode in _CALLING and isinstance(p4, str):
            name = p4.partition("(")[0].lower()
            edits = edits or name in _EDITING
            calls += name not in _CHEAP
            patterns += name in _PATTERNS
            squares += _SQUARES.get(name, 0)
    if edits:
        return Counted(LARGEST_VALUE, stores, False)
    bounds = [LARGEST_VALUE, _OPERATIONS // max(operations, 1), _CALLS // max(calls, 1)]
    bounds.append(_MATCHING // patterns if patterns else LARGEST_VALUE)
    bounds.append(int(_SEARCH / squares**0.5) if squares else LARGEST_VALUE)
    bounds.append(max(_INDEXING // indexing, least) if indexing else LARGEST_VALUE)
    return Counted(min(bounds), stores, operations + calls > 0)


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
