"""The actions that need no second look: every connection may do them, and every statement repeats them.

SQLite asks about every column of every statement, so the names that were met are remembered.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from birdenv.databases.sqlite.guard._authorizer_rules import is_repeatable, outside_a_copy

LIST_OF_FILES: Final = "pragma_database_list"
"""The table whose rows are paths of the host, for some connections."""

_LONGEST_NAME: Final = 200  # characters of a name that is remembered; names may be as long as SQL
_MOST_NAMES: Final = 4_096


class AuthorizerCache:
    """Actions that are always allowed, and names that were met in them.

    Reading a virtual table is not one of them: SQLite asks about what the table compiles for itself when that
    happens, perhaps once for many statements, so nobody is told whether its rows may change.

    Args:
        varying: names of the virtual tables, in lower case.

    Attributes:
        tables: names of tables that were read.
        functions: names of functions that were called.
    """

    def __init__(self, varying: frozenset[str] = frozenset()) -> None:
        self.tables: set[str | None] = set()
        self.functions: set[str | None] = set()
        self._varying = varying

    def include(self, action: int, first: str | None, second: str | None) -> bool:
        """Whether an action is always allowed and leaves nothing to be remembered of the statement."""
        if first == LIST_OF_FILES or not self.are_repeatable(action, first, second):
            return False
        if outside_a_copy(action, first, second):
            return False
        if action == sqlite3.SQLITE_READ:
            _remember(self.tables, first)
        elif action == sqlite3.SQLITE_FUNCTION:
            _remember(self.functions, second)
        return True

    def are_repeatable(self, action: int, first: str | None, second: str | None) -> bool:
        """Whether a statement with this action gives the same rows whenever it runs on the same contents."""
        if action == sqlite3.SQLITE_READ and self._varying and (first or "").lower() in self._varying:
            return False
        return is_repeatable(action, first, second)


def _remember(names: set[str | None], name: str | None) -> None:
    if len(name or "") <= _LONGEST_NAME:
        if len(names) >= _MOST_NAMES:
            names.clear()
        names.add(name)
