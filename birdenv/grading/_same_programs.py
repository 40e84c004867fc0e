"""Different texts that SQLite compiles to the same program: then only the first of them is executed.

Many answers to one question differ in nothing but aliases and spelling. Compiling takes a tenth of a
millisecond and executing often a hundred times that, so where a question has several answers, and the earlier
ones were slow, the next is compiled first (`EXPLAIN`). The same program on the same contents returns the same
rows in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeAlias

from birdenv.databases import QueryResult, Result
from birdenv.grading._fetched import Fetched

__all__ = ["Program", "SamePrograms", "program_of"]

Program: TypeAlias = Hashable

_SLOW_SECONDS: Final = 0.002
_MOST_CELLS: Final = 400_000  # of the results that are kept of one question
_NOTES: Final = frozenset({"Explain", "Noop"})  # what a program holds for its readers: names of tables
_UNREADABLE: Final = frozenset("Program Variable VOpen".split())  # their operands are not shown in full
_LONG_NUMBER: Final = re.compile(r"[0-9.][0-9._]{14}")
_DEFINITIONS: Final = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"


class SamePrograms:
    """Slow results of one question's answers; the next question's take their place.

    `execute` runs the SQL that it is given, which tells of a statement or of the schema, on the question's
    database.
    """

    def __init__(self, execute: Callable[[str, str], Result]) -> None:
        self._execute = execute
        self._question: Hashable = None
        self._is_asked = False
        self._slow: list[tuple[str, Fetched]] = []
        self._programs: dict[str, Program | None] = {}
        self._definitions: Sequence[str] | None = None
        self._cells = 0

    def is_new(self, question: Hashable) -> bool:
        """Whether nothing has been kept of this question."""
        return question != self._question

    def find(self, question: Hashable, db_id: str, sql: str) -> Fetched | None:
        """What another text of the same program returned.

        Nothing is looked up for a question's first answer: there may be no second one.
        """
        is_first, self._is_asked = not self._is_asked, True
        if is_first or question != self._question or not self._slow:
            return None
        program = self._program(db_id, sql)
        if program is None:
            return None
        return next((result for text, result in self._slow if self._program(db_id, text) == program), None)

    def keep(self, question: Hashable, sql: str, result: Fetched) -> None:
        """Remember what an answer to the question, or its gold, returned, unless it was quick or is large."""
        if question != self._question:
            self._question, self._is_asked = question, False
            self._slow, self._programs, self._definitions, self._cells = [], {}, None, 0
        cells = (len(result.rows) + len(result.more)) * len(result.columns)
        if result.elapsed < _SLOW_SECONDS or self._cells + cells > _MOST_CELLS:
            return
        self._cells += cells
        self._slow.append((sql, result))

    def _program(self, db_id: str, sql: str) -> Program | None:
        if sql not in self._programs:
            if self._definitions is None:
                found = self._execute(db_id, _DEFINITIONS)
                if not isinstance(found, QueryResult) or found.truncated:
                    return None
                self._definitions = [str(text) for (text,) in found.rows]
            listing = self._execute(db_id, f"EXPLAIN {sql}")
            self._programs[sql] = (
                program_of(sql, listing, self._definitions) if isinstance(listing, QueryResult) else None
            )
        return self._programs[sql]


def program_of(sql: str, listing: QueryResult, definitions: Sequence[str]) -> Program | None:
    """A program by its listing, the rows of `EXPLAIN`; None where a listing cannot tell programs apart.

    `definitions`: the SQL of the database's schema. A listing shows 16 digits of a real number, and a zero
    without its sign. So where it shows real numbers none of them may be zero, and no number that may be among
    them, in the SQL or in a view or generated column, may be nearly that long.
    """
    if listing.truncated or len(listing.columns) < len(("addr", "opcode", "p1", "p2", "p3", "p4", "p5")):
        return None
    operations: list[tuple[Any, ...]] = [row[:7] for row in listing.rows if row[1] not in _NOTES]
    if any(operation[1] in _UNREADABLE or _is_literal_blob(operation) for operation in operations):
        return None
    reals = [float(operation[5]) for operation in operations if operation[1] == "Real"]
    if reals and (not all(reals) or any(map(_LONG_NUMBER.search, (sql, *definitions)))):
        return None
    return tuple(operations)


def _is_literal_blob(operation: tuple[Any, ...]) -> bool:
    """One that stands in the SQL, of which a listing shows what comes before its first zero; a blob without
    operand is the empty filter of a join."""
    return operation[1] == "Blob" and operation[5] is not None
