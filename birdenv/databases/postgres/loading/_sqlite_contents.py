"""A SQLite database as PostgreSQL is to have it: tables, columns with types, keys, and the rows to copy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from birdenv.databases.postgres.loading._column_types import PLAIN, came_from_postgres, column_type
from birdenv.databases.postgres.loading._templates import shortened
from birdenv.sql import quoted


@dataclass
class ColumnPlan:
    """A column: its name in SQLite and in PostgreSQL, its type there, and what it declares besides."""

    source: str
    name: str
    type: str
    not_null: bool
    default: str | None
    """The text of the default as SQLite has it."""


@dataclass
class ForeignKey:
    columns: list[str]
    parent: str
    parent_columns: list[str]
    actions: str
    """`ON DELETE CASCADE`, or empty."""


@dataclass
class IndexPlan:
    name: str
    """Empty for the index of a UNIQUE constraint."""
    columns: list[str]
    unique: bool


@dataclass
class TablePlan:
    source: str
    name: str
    sql: str
    """SQLite's CREATE TABLE statement."""
    rows: int
    columns: list[ColumnPlan] = field(default_factory=list)
    primary_key: list[str] = field(default_factory=list)
    counts_up: bool = False
    """Its primary key is SQLite's row number, which a row without one is given."""
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    indexes: list[IndexPlan] = field(default_factory=list)


class SqliteContents:
    """Reads one database. `notes` says what is not carried, or otherwise than declared."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.notes: list[str] = []
        stored = connection.execute(
            "SELECT type, name, sql FROM sqlite_schema"
            " WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        ).fetchall()
        shadows = {row[1] for row in connection.execute("PRAGMA main.table_list") if row[2] == "shadow"}
        self._tables = [(name, sql) for kind, name, sql in stored if kind == "table" and name not in shadows]
        self.views = [(name, sql) for kind, name, sql in stored if kind == "view"]
        for kind, name, _ in stored:
            if kind == "trigger":
                self.notes.append(f"trigger {name} is not carried")
        declared = [row[2] for name, _ in self._tables for row in self._pragma("table_xinfo", name)]
        self.from_postgres = came_from_postgres(declared)

    def name(self, source: str) -> str:
        """Return the name in PostgreSQL.

        Names from PostgreSQL are kept. Of others, those that queries write without quotes are in lower case
        there, because that is what PostgreSQL looks for; those that need quotes are kept.
        """
        folds = not self.from_postgres and PLAIN.fullmatch(source)
        return shortened(source.lower() if folds else source)

    def tables(self) -> Iterator[TablePlan]:
        """Yield every table, with the types that its values allow (reads all of them)."""
        for name, sql in self._tables:
            if re.match(r"\s*create\s+virtual\s", sql, re.IGNORECASE):
                self.notes.append(f"virtual table {name} is not carried")
                continue
            yield self._table(name, sql)

    def rows(self, table: TablePlan) -> Iterator[tuple[Any, ...]]:
        """Yield the rows as stored, in SQLite's order; columns as in the plan."""
        names = ", ".join(quoted(column.source) for column in table.columns)
        return iter(self._connection.execute(f"SELECT {names} FROM main.{quoted(table.source)}"))

    def _table(self, source: str, sql: str) -> TablePlan:
        described = [row for row in self._pragma("table_xinfo", source) if row[6] != 1]  # 1: hidden
        (rows,) = self._connection.execute(f"SELECT count(*) FROM main.{quoted(source)}").fetchone()
        table = TablePlan(source, self.name(source), sql, rows)
        for _, column, declared, not_null, default, _, hidden in described:
            values = self._values(source, column)
            chosen = column_type(declared, values, self.from_postgres)
            if chosen.note:
                self.notes.append(f"{source}.{column}: {chosen.note}")
            if hidden:
                self.notes.append(f"{source}.{column}: generated in SQLite, an ordinary column in PostgreSQL")
            table.columns.append(
                ColumnPlan(
                    column, self.name(column), chosen.type, bool(not_null), None if hidden else default
                )
            )
        keys = sorted((row[5], row[1], row[2]) for row in described if row[5])
        table.primary_key = [self.name(column) for _, column, _ in keys]
        table.counts_up = (
            len(keys) == 1 and keys[0][2].upper() == "INTEGER" and "without" not in sql[-20:].lower()
        )
        table.foreign_keys = self._foreign_keys(source)
        table.indexes = self._indexes(source)
        if re.search(r"\bcheck\s*\(", sql, re.IGNORECASE):
            self.notes.append(f"{source}: CHECK constraints are not carried")
        if re.search(r"\bcollate\b", sql, re.IGNORECASE):
            self.notes.append(f"{source}: COLLATE is not carried; PostgreSQL compares by code point")
        return table

    def _values(self, table: str, column: str) -> list[Any]:
        name = quoted(column)
        query = (
            f"SELECT DISTINCT {name} COLLATE BINARY, typeof({name}) FROM main.{quoted(table)}"
            f" WHERE {name} IS NOT NULL"
        )
        return [value for value, _ in self._connection.execute(query)]

    def _foreign_keys(self, table: str) -> list[ForeignKey]:
        keys: dict[int, ForeignKey] = {}
        for number, _, parent, child, target, update, delete, _ in self._pragma("foreign_key_list", table):
            rules = (("UPDATE", update), ("DELETE", delete))
            actions = " ".join(f"ON {event} {rule}" for event, rule in rules if rule != "NO ACTION")
            parent_name = next((name for name, _ in self._tables if name.lower() == parent.lower()), parent)
            key = keys.setdefault(number, ForeignKey([], self.name(parent_name), [], actions))
            key.columns.append(self._column(table, child))
            if target is not None:
                key.parent_columns.append(self._column(parent_name, target))
        return [keys[number] for number in sorted(keys, reverse=True)]  # as written

    def _column(self, table: str, column: str) -> str:
        """Return a column that a key names, perhaps in other letters than its table does."""
        names = [row[1] for row in self._pragma("table_xinfo", table)]
        return self.name(next((name for name in names if name.lower() == column.lower()), column))

    def _indexes(self, table: str) -> list[IndexPlan]:
        plans = []
        for _, name, unique, origin, partial in reversed(self._pragma("index_list", table)):
            columns = [row[2] for row in self._pragma("index_info", name)]
            if origin == "pk":
                continue
            if partial or None in columns:
                self.notes.append(f"index {name} is on an expression or a part of {table} and is not carried")
                continue
            own_name = self.name(name) if origin == "c" else ""
            plans.append(IndexPlan(own_name, [self.name(column) for column in columns], bool(unique)))
        return plans

    def _pragma(self, pragma: str, name: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(f"PRAGMA main.{pragma}({quoted(name)})").fetchall()


def read_only(path: Path, spoilt: Callable[[], None]) -> sqlite3.Connection:
    """Return a connection to a file that nobody writes to; nothing comes to stand beside it, as would for the
    WAL mode. Text that is not UTF-8 is mended, and `spoilt` is called for it.
    """

    def read(raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            spoilt()
            return raw.decode(errors="replace")

    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
    )
    connection.text_factory = read
    return connection
