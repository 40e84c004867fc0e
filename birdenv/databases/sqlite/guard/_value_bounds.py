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

A worker process, which can be killed, does without. For modules of virtual tables see `_module_storage`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

LARGEST_VALUE: Final = 10_000_000
"""Bytes of one text or blob, at most (and of one row of a table)."""

Work: TypeAlias = Literal["cheap", "proportional", "heavy", "unbounded"]
"""What a function does with large arguments: next to nothing, look at them once, or more than that; or
something that no size of a value bounds."""

LONGEST_PATTERN: Final = 500
"""Bytes of a pattern of LIKE or GLOB, at most."""

SHORT_PATTERN: Final = 24
"""Bytes of the patterns for which a statement with LIKE or GLOB is counted first: few are longer."""

SHORTEST_LIMIT: Final = 25_000
"""Operations that a statement may have however short its text is: more than any sensible one needs."""

# Bytes that make a second of work, measured on 2 GHz:
_OPERATIONS: Final = 100_000_000  # taking two texts for numbers, the slowest thing that is no function
_CALLS: Final = 100_000_000  # a function whose work is proportional to its arguments
_MATCHING: Final = 150_000_000  # by those of a GLOB pattern, all in brackets; LIKE takes half of that
_SEARCH: Final = 345_000  # instr(), which takes the square of it
_INDEXING: Final = 1_000_000  # one document put into, or looked up in, a full-text index

# Functions that take the square of the size: how many times as long as instr().
_SQUARES: Final = {"instr": 1, "replace": 1, "highlight": 1, "offsets": 1, "json_patch": 12}
_PATTERNS: Final = frozenset({"like", "glob"})
_CHEAP: Final = frozenset(  # they look at no argument's text, and copy none
    """
    count coalesce ifnull iif likely unlikely likelihood typeof changes total_changes last_insert_rowid random
    row_number rank dense_rank percent_rank cume_dist ntile current_date current_time current_timestamp
    sqlite_version pi optimize
    """.split()
)
_SPELLED_OUT: Final = re.compile(r"\b(?:LIKE|GLOB)\s*'([^']*)'", re.IGNORECASE)
_OF_UNKNOWN_PROGRAMS: Final = 1_000  # bytes of a value
_STORING: Final = frozenset({"optimize"})  # it stores a whole index anew
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
_OF_MODULES: Final = _INDEX | {"Transaction", "AutoCommit", "Savepoint", "VOpen", "VCheck"}
"""Where a module may store something: if only what it has put off, as a statement begins to write."""


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
    """What counting a program has shown: bytes that a value may have in it (`bound`), and a pattern of LIKE
    or GLOB (`pattern`).

    `stores`: a module stores values. `causes_to_store`: it may store what it has put off. `lengthens`: values
    may be made that are longer than those that there are.
    """

    bound: int
    pattern: int
    stores: bool
    causes_to_store: bool
    lengthens: bool


CONTROL: Final = frozenset("BEGIN COMMIT END RELEASE ROLLBACK SAVEPOINT".split())
"""First words of the statements that control transactions, and compute nothing."""

OF_CONTROL: Final = Counted(LARGEST_VALUE, LONGEST_PATTERN, False, True, False)
"""They need not be counted, and must not be: in SQLite, `EXPLAIN BEGIN` ends `PRAGMA defer_foreign_keys`."""


def has_long_pattern(sql: str) -> bool:
    """Whether a statement spells out a pattern that is not short."""
    return any(len(pattern.encode()) > SHORT_PATTERN for pattern in _SPELLED_OUT.findall(sql))


def count_program(
    program: Iterable[tuple[Any, ...]] | None, least: int = 0, pattern: int = LONGEST_PATTERN
) -> Counted:
    """Work out the bound of a program, given as the rows of `EXPLAIN`; None for one that is not known.

    `least`: bytes that a module must be able to store. Indexing a document of that size may take its time.
    `pattern`: bytes that one of LIKE or GLOB may have.
    """
    if program is None:
        return Counted(max(_OF_UNKNOWN_PROGRAMS, least), LONGEST_PATTERN, False, False, True)
    operations = calls = patterns = squares = indexing = 0
    stores = causes_to_store = lengthens = edits = False
    for row in program:
        opcode, function = row[1], row[5]
        if opcode in _WORKING:
            operations += 1
            lengthens = lengthens or opcode == "Concat"
        elif opcode in _CALLING and isinstance(function, str):
            name = function.partition("(")[0].lower()
            edits = edits or name in _EDITING
            stores = stores or name in _STORING
            calls += name not in _CHEAP
            patterns += name in _PATTERNS
            squares += _SQUARES.get(name, 0)
        elif opcode in _OF_MODULES:
            indexing += opcode in _INDEX
            stores = stores or opcode == "VUpdate"
            causes_to_store = causes_to_store or opcode != "Transaction" or row[3] != 0
    if edits:
        return Counted(LARGEST_VALUE, LONGEST_PATTERN, stores, causes_to_store, False)
    bounds = [LARGEST_VALUE, _OPERATIONS // max(operations, 1), _CALLS // max(calls, 1)]
    bounds.append(_MATCHING // (patterns * pattern) if patterns else LARGEST_VALUE)
    bounds.append(int(_SEARCH / squares**0.5) if squares else LARGEST_VALUE)
    bounds.append(max(_INDEXING // indexing, least) if indexing else LARGEST_VALUE)
    pattern = pattern if patterns else LONGEST_PATTERN
    return Counted(min(bounds), pattern, stores, causes_to_store, lengthens or calls > 0)
