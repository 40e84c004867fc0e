"""Convert an SQLite database to PostgreSQL: tables, rows, keys, indexes and views.

All rows are kept. Anything else that PostgreSQL does not accept (a violated foreign key, a view in SQLite's
dialect, a null character in a string) is omitted or repaired, and reported.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from birdenv.databases.postgres.loading._loading import Filled, Loaded, load
from birdenv.databases.postgres.loading._sqlite_contents import (
    ColumnPlan,
    SqliteContents,
    TablePlan,
    read_only,
)
from birdenv.databases.postgres.server._server import PostgresServer, one_line
from birdenv.databases.sqlite._source import SqliteSource
from birdenv.errors import InputError

_RULES: Final = "sqlite 1"
"""Part of the digest. Increase the number when the same file is converted differently."""

_LITERAL: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?|'([^']|'')*'|NULL|TRUE|FALSE", re.IGNORECASE)
_NOW: Final = re.compile(r"CURRENT_(TIMESTAMP|DATE|TIME)", re.IGNORECASE)


def load_from_sqlite(
    server: PostgresServer,
    source: SqliteSource,
    db_id: str,
    *,
    again: bool = False,
    expected: dict[str, int] | None = None,
) -> Loaded:
    """Load a database from an SQLite source as a template.

    For `again`, `expected` and the errors raised, see `load`.
    """
    path = source.contents_path(db_id)
    digest = hashlib.sha256(f"{_RULES} {source.digest(db_id)}".encode()).hexdigest()
    return load(
        server,
        db_id,
        digest,
        "sqlite",
        lambda connection: _fill(connection, path),
        again=again,
        expected=expected,
    )


def _fill(connection: psycopg.Connection[Any], path: Path) -> Filled:
    mended: list[None] = []
    try:
        with closing(read_only(path, lambda: mended.append(None))) as reader:
            contents = SqliteContents(reader)
            tables = list(contents.tables())
            mended.clear()
            with connection.transaction():
                for table in tables:
                    _create(connection, table)
                    _copy(connection, table, contents)
            if mended:
                contents.notes.append(
                    f"bytes that are not UTF-8 were replaced with U+FFFD (cells: {len(mended)})"
                )
            notes = contents.notes + _hidden(connection, tables) + _complete(connection, tables, contents)
    except sqlite3.Error as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    return Filled({table.name: table.rows for table in tables}, notes)


def _hidden(connection: psycopg.Connection[Any], tables: Sequence[TablePlan]) -> list[str]:
    """Return a note for each table that SQL cannot reach by its plain name."""
    rows = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace")
    taken = {name for (name,) in rows.fetchall()}
    return [
        f"table {table.source} has the name of a system table of PostgreSQL: use public.{table.name} in SQL"
        for table in tables
        if table.name in taken
    ]


def _create(connection: psycopg.Connection[Any], table: TablePlan) -> None:
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(each.name), sql.SQL(each.type)) for each in table.columns
    ]
    connection.execute(
        sql.SQL("CREATE TABLE {} ({})").format(_public(table.name), sql.SQL(", ").join(columns))
    )


def _copy(connection: psycopg.Connection[Any], table: TablePlan, contents: SqliteContents) -> None:
    nulls = 0
    converters = [_converter(column) for column in table.columns]
    statement = sql.SQL("COPY {} FROM STDIN").format(_public(table.name))
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in contents.rows(table):
            cells = [
                None if cell is None else convert(cell) for cell, convert in zip(row, converters, strict=True)
            ]
            for place, cell in enumerate(cells):
                if type(cell) is str and "\0" in cell:
                    cells[place] = cell.replace("\0", "\ufffd")
                    nulls += 1
            copy.write_row(cells)
    if nulls:
        contents.notes.append(f"{table.source}: null characters were replaced with U+FFFD (cells: {nulls})")


def _converter(column: ColumnPlan) -> Callable[[Any], Any]:
    if column.type == "text":
        return lambda cell: cell if type(cell) is str else repr(cell)
    if column.type == "bytea":
        return lambda cell: cell if type(cell) is bytes else str(cell).encode()
    if column.type == "boolean":
        return bool
    return lambda cell: cell


def _complete(
    connection: psycopg.Connection[Any], tables: Sequence[TablePlan], contents: SqliteContents
) -> list[str]:
    """Add keys, indexes, defaults and views. Return a note for each object that PostgreSQL refuses."""
    notes = []
    for what, statement in _statements(tables, contents):
        try:
            connection.execute(statement)
        except psycopg.Error as error:
            if error.sqlstate is None or error.sqlstate[:2] not in ("22", "23", "42", "54", "0A"):
                raise
            notes.append(f"{what} is left out: {one_line(error)}")
    return notes


def _statements(tables: Sequence[TablePlan], contents: SqliteContents) -> Iterator[tuple[str, sql.Composed]]:
    for table in tables:
        yield from _own_statements(table)
    for table in tables:
        name = _public(table.name)
        for key in table.foreign_keys:
            targets = (
                sql.SQL(" ({})").format(_list(key.parent_columns)) if key.parent_columns else sql.SQL("")
            )
            yield (
                f"foreign key of {table.source} on {', '.join(key.columns)}",
                sql.SQL("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {}{} {}").format(
                    name, _list(key.columns), _public(key.parent), targets, sql.SQL(key.actions)
                ),
            )
    if contents.views:  # names of loaded tables must precede names of system tables
        yield "the order of schemas", sql.Composed([sql.SQL("SET search_path = public, pg_catalog")])
    for view, text in contents.views:
        yield f"view {view}", sql.Composed([sql.SQL(text)])


def _own_statements(table: TablePlan) -> Iterator[tuple[str, sql.Composed]]:
    """Yield the statements that concern only this table."""
    alter = sql.SQL("ALTER TABLE {}").format(_public(table.name))
    if table.primary_key:
        key = sql.SQL(" ADD PRIMARY KEY ({})").format(_list(table.primary_key))
        yield f"primary key of {table.source}", alter + key
    for column in table.columns:
        place = f"{table.source}.{column.source}"
        on_column = alter + sql.SQL(" ALTER COLUMN {}").format(sql.Identifier(column.name))
        if column.not_null and column.name not in table.primary_key:
            yield f"NOT NULL of {place}", on_column + sql.SQL(" SET NOT NULL")
        if column.default is not None and column.default.upper() != "NULL":
            yield f"default {column.default} of {place}", on_column + _default(column.default)
    if table.counts_up:
        (key_column,) = table.primary_key
        on_key = alter + sql.SQL(" ALTER COLUMN {}").format(sql.Identifier(key_column))
        yield f"numbering of {table.source}", on_key + sql.SQL(" ADD GENERATED BY DEFAULT AS IDENTITY")
        yield (
            f"numbering of {table.source}",
            sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), max({}) + 1, false) FROM {}").format(
                sql.Literal(_public(table.name).as_string()),
                sql.Literal(key_column),
                sql.Identifier(key_column),
                _public(table.name),
            ),
        )
    for index in table.indexes:
        named = sql.Identifier(index.name) if index.name else sql.SQL("")
        kind = sql.SQL("UNIQUE INDEX" if index.unique else "INDEX")
        statement = sql.SQL("CREATE {} {} ON {} ({})").format(
            kind, named, _public(table.name), _list(index.columns)
        )
        if not index.name:
            statement = alter + sql.SQL(" ADD UNIQUE ({})").format(_list(index.columns))
        yield f"index on {table.source} ({', '.join(index.columns)})", statement


def _default(text: str) -> sql.Composed:
    """Write a default that both engines understand; pass on any other, which PostgreSQL may refuse."""
    known = _LITERAL.fullmatch(text) or _NOW.fullmatch(text)
    return sql.Composed([sql.SQL(" SET DEFAULT "), sql.SQL(text if known else f"({text})")])


def _public(table: str) -> sql.Identifier:
    """Name a loaded table, even if a system table has the same name (`pg_class`)."""
    return sql.Identifier("public", table)


def _list(names: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))
