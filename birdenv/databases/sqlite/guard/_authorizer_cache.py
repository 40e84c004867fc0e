"""Which actions need no second look: those that every connection may do and that say nothing of a statement.

SQLite asks about every column of every statement, so the names that were met are remembered.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from birdenv.databases.sqlite.guard._authorizer_rules import is_repeatable, outside_a_copy
from birdenv.databases.sqlite.guard._module_storage import LONG_LISTS
from birdenv.databases.sqlite.guard._value_bounds import kind_of_work

LIST_OF_FILES: Final = "pragma_database_list"
"""The table whose rows are paths of the host, for some connections."""

_LONGEST_NAME: Final = 200  # characters of a name that is remembered; names may be as long as SQL
_MOST_NAMES: Final = 4_096


class AuthorizerCache:
    """The plain actions on databases whose virtual tables are `varying`: reading one of those is none.

    What a virtual table compiles for itself SQLite asks about when that happens, which may be once for many
    statements: so such a table may give other rows each time, and nobody is told.

    `tables` and `functions` are names that were met in plain actions, of what was read and what was called.
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
            if (first or "").lower().endswith(LONG_LISTS):
                return False
            _remember(self.tables, first)
        elif action == sqlite3.SQLITE_FUNCTION:
            if kind_of_work(second or "") not in ("cheap", "proportional"):
                return False
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
