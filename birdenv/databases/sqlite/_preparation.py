"""Prepare connections: set limits, and create objects that a guard would not let statements create."""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from typing import Final

from birdenv.databases.sqlite._authorizer_rules import READING_PRAGMAS
from birdenv.databases.sqlite._statement_guard import LARGEST_VALUE
from birdenv.sql import LONGEST_SQL, quoted

_LONGEST_PATTERN: Final = 500  # bytes of a pattern of LIKE or GLOB

# Limits on one text, value or statement. The narrow ones cost nothing: no gold SQL and no published
# prediction of BIRD mini-dev exceeds them (a test checks that). VACUUM needs one of the ATTACHED databases.
_ENGINE_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: LARGEST_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: LONGEST_SQL,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: _LONGEST_PATTERN,
    sqlite3.SQLITE_LIMIT_ATTACHED: 4,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_HEAP_BYTES: Final = 2**30
"""Memory that SQLite may use in this process, without images."""

_TEMPORARY_PAGES: Final = 2**15
_ATTACHED_PAGES: Final = 2**14
"""Limits for an episode's temporary tables (128 MiB), and for each database that it attaches (64 MiB)."""

_TABLE_FUNCTIONS: Final = ("json_each", "json_tree", *sorted(f"pragma_{name}" for name in READING_PRAGMAS))


def set_limits(connection: sqlite3.Connection) -> None:
    """Set the limits of a connection. The first call also limits the memory of SQLite in this process."""
    for limit, value in _ENGINE_LIMITS.items():
        connection.setlimit(limit, value)
    if connection.execute("PRAGMA hard_heap_limit").fetchone() == (0,):
        connection.execute(f"PRAGMA hard_heap_limit = {_HEAP_BYTES}").close()


def virtual_tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all virtual tables."""
    names = connection.execute(
        "SELECT name FROM (SELECT name AS name, sql AS sql FROM sqlite_schema"
        " UNION ALL SELECT name AS name, sql AS sql FROM sqlite_temp_schema)"
        " WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
    )
    return [str(name) for (name,) in names.fetchall()]


def connect_virtual_tables(connection: sqlite3.Connection) -> None:
    """Connect all virtual tables, so that reading them later creates nothing that a guard refuses.

    To connect a virtual table, SQLite reads the tables in which it stores its data. The author of the
    database may have replaced one of these tables with a view that runs forever. Therefore call this only
    within a time limit.
    """
    for name in virtual_tables(connection):
        _use(connection, name)


def bound_temporary(connection: sqlite3.Connection) -> None:
    """Limit the size of temporary tables."""
    connection.execute(f"PRAGMA temp.max_page_count = {_TEMPORARY_PAGES}").close()


def bound_attached(connection: sqlite3.Connection) -> None:
    """Limit the size of each attached database."""
    for _, name, _ in connection.execute("PRAGMA database_list").fetchall():
        if name not in ("main", "temp"):
            with suppress(UnicodeError):  # no statement can name it, so nothing is written to it
                connection.execute(f"PRAGMA {quoted(name)}.max_page_count = {_ATTACHED_PAGES}").close()


def modules_of(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the modules that implement the virtual tables."""
    declared = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
    ).fetchall()
    found = [re.search(r"\bUSING\s+(\w+)", sql, re.IGNORECASE) for (sql,) in declared]
    return [match[1] if match else "" for match in found]


def use_table_functions(connection: sqlite3.Connection) -> None:
    """Call every table-valued function once.

    SQLite registers a table-valued function when it is first used, and a guard would not allow that.
    """
    for name in _TABLE_FUNCTIONS:
        _use(connection, name)


def _use(connection: sqlite3.Connection, name: str) -> None:
    try:
        connection.execute(f"EXPLAIN SELECT 1 FROM {quoted(name)}").close()
    except (sqlite3.Error, UnicodeError):
        return  # missing in this SQLite, or damaged: reading it will fail
