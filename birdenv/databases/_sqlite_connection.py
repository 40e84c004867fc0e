"""Opening guarded connections: one that reads a source file, and a private copy of it in memory."""

from __future__ import annotations

import sqlite3
from operator import methodcaller
from pathlib import Path

from birdenv.databases._guard import Guard
from birdenv.databases._rules import READING_PRAGMAS
from birdenv.databases._sql_text import quoted

__all__ = ["GROWTH_BYTES", "bound_growth", "connect_reading", "connect_virtual_tables", "copy_to_memory"]

GROWTH_BYTES = 2**30
"""How much a private copy may grow beyond its source; its temporary and attached databases each too."""

# Bounds on one text, value or statement. The narrower ones cost nothing: no gold and no
# published prediction of BIRD mini-dev needs more (a test says so). ATTACHED leaves VACUUM its one.
_ENGINE_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 10_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_ATTACHED: 4,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_TABLE_FUNCTIONS = ("json_each", "json_tree", *sorted(f"pragma_{name}" for name in READING_PRAGMAS))


def connect_reading(path: Path, guard: Guard) -> sqlite3.Connection:
    """A connection to a file that can only read it and leaves no trace beside it.

    The file must not change while the connection is open, and what a `-wal` file beside it holds is not
    seen. Raises `sqlite3.Error` if SQLite cannot open it or read its schema.
    """
    connection = _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        _install(connection, guard)
    except BaseException:
        connection.close()
        raise
    return connection


def copy_to_memory(source: sqlite3.Connection, guard: Guard) -> sqlite3.Connection:
    """A private, writable copy of `source` in memory.

    Takes as much memory as the file has bytes. Raises `sqlite3.Error` if the source cannot be read.
    """
    connection = _connect(":memory:")
    try:
        source.backup(connection)
        bound_growth(connection)
        _install(connection, guard)
    except BaseException:
        connection.close()
        raise
    return connection


def bound_growth(connection: sqlite3.Connection) -> None:
    """Bound the size of every database of a connection to what it is now plus `GROWTH_BYTES`."""
    attached = [name for _, name, _ in connection.execute("PRAGMA database_list").fetchall()]
    for name in {*attached, "temp"}:
        schema = quoted(name)
        pages: int = connection.execute(f"PRAGMA {schema}.page_count").fetchone()[0]
        page_bytes: int = connection.execute(f"PRAGMA {schema}.page_size").fetchone()[0]
        connection.execute(f"PRAGMA {schema}.max_page_count = {pages + GROWTH_BYTES // page_bytes}")


def connect_virtual_tables(connection: sqlite3.Connection) -> None:
    """Connect the virtual tables of the schema, so that reading them creates nothing that a guard refuses."""
    names = connection.execute(
        "SELECT name FROM (SELECT name AS name, sql AS sql FROM sqlite_schema"
        " UNION ALL SELECT name AS name, sql AS sql FROM sqlite_temp_schema)"
        " WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
    ).fetchall()
    _prepare_reading(connection, [name for (name,) in names])


def _connect(target: str) -> sqlite3.Connection:
    # No statement cache: what private rules allowed must be asked about again under reading rules.
    connection = sqlite3.connect(
        target, uri=True, isolation_level=None, check_same_thread=False, cached_statements=0
    )
    connection.text_factory = methodcaller("decode", "utf-8", "surrogateescape")
    for limit, value in _ENGINE_LIMITS.items():
        connection.setlimit(limit, value)
    return connection


def _install(connection: sqlite3.Connection, guard: Guard) -> None:
    """Table functions come to be at their first use, which a guard would refuse: use each once before it."""
    _prepare_reading(connection, _TABLE_FUNCTIONS)
    connect_virtual_tables(connection)
    guard.attach_to(connection)


def _prepare_reading(connection: sqlite3.Connection, tables: list[str] | tuple[str, ...]) -> None:
    for name in tables:
        try:
            connection.execute(f"EXPLAIN SELECT 1 FROM {quoted(name)}").close()
        except (sqlite3.Error, UnicodeError):
            continue  # not in this SQLite, or damaged: reading it will say so
