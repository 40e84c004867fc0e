"""Which actions need no second look: those that every connection may do and that say nothing of a statement.

SQLite asks about every column of every statement, so the names that were met are remembered.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from birdenv.databases._rules import is_repeatable, outside_a_copy
from birdenv.databases._value_bounds import kind_of_work

__all__ = ["LIST_OF_FILES", "functions", "includes", "tables"]

LIST_OF_FILES: Final = "pragma_database_list"
"""The table whose rows are paths of the host, for some connections."""

_LONGEST_NAME: Final = 200  # characters of a name that is remembered; names may be as long as SQL
_MOST_NAMES: Final = 4_096

tables: Final[set[str | None]] = set()
"""Met so far: tables, whose columns may be read."""
functions: Final[set[str | None]] = set()
"""Met so far: functions, which may be called."""


def includes(action: int, first: str | None, second: str | None) -> bool:
    """Whether an action is always allowed and leaves nothing to be remembered of the statement."""
    if first == LIST_OF_FILES or outside_a_copy(action, first, second):
        return False
    if not is_repeatable(action, first, second):
        return False
    if action == sqlite3.SQLITE_READ:
        _remember(tables, first)
    elif action == sqlite3.SQLITE_FUNCTION:
        if kind_of_work(second or "") not in ("cheap", "proportional"):
            return False
        _remember(functions, second)
    return True


def _remember(names: set[str | None], name: str | None) -> None:
    if len(name or "") <= _LONGEST_NAME and len(names) < _MOST_NAMES:
        names.add(name)
