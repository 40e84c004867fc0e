"""Read the contents of an SQLite database in the form that PostgreSQL needs: tables, types, keys, rows."""

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
    """A column to create in PostgreSQL.

    Attributes:
        source: the name in SQLite.
        name: the name in PostgreSQL.
        type: the type in PostgreSQL.
        not_null: whether the column is declared NOT NULL.
        default: the SQL text of the default value in SQLite; None if there is none.
    """

    source: str
    name: str
    type: str
    not_null: bool
    default: str | None


@dataclass
class ForeignKey:
    """A foreign key to create in PostgreSQL. All names are PostgreSQL names.

    Attributes:
        columns: the names of the columns.
        parent: the name of the referenced table.
        parent_columns: the names of the referenced columns.
        actions: the key's action clauses, such as `ON DELETE CASCADE`.
    """

    columns: list[str]
    parent: str
    parent_columns: list[str]
    actions: str


@dataclass
class IndexPlan:
    """An index to create in PostgreSQL. The name is empty if the index belongs to a UNIQUE constraint."""

    name: str
    columns: list[str]
    unique: bool


@dataclass
class TablePlan:
    """A table to create in PostgreSQL.

    Attributes:
        source: the name in SQLite.
        name: the name in PostgreSQL.
        sql: the CREATE TABLE statement in SQLite.
        rows: the number of rows.
        columns: the columns to create, in order.
        primary_key: the names of the columns in the primary key.
        counts_up: whether SQLite assigns the values of the primary key automatically (INTEGER PRIMARY KEY).
        foreign_keys: the foreign keys to create.
        indexes: the indexes to create.
    """

    source: str
    name: str
    sql: str
    rows: int
    columns: list[ColumnPlan] = field(default_factory=list)
    primary_key: list[str] = field(default_factory=list)
    counts_up: bool = False
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    indexes: list[IndexPlan] = field(default_factory=list)


class SqliteContents:
    """A reader for one SQLite database.

    `notes` contains a message for each object that is omitted, or differs from its declaration.
    """

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
                self.notes.append(f"trigger {name} is left out")
        declared = [row[2] for name, _ in self._tables for row in self._pragma("table_xinfo", name)]
        self.from_postgres = came_from_postgres(declared)

    def name(self, source: str) -> str:
        """Return the PostgreSQL name of a table, column or index.

        Names that need quotes are kept, and so are all names in a database that was exported from PostgreSQL.
        Other names become lower case, because PostgreSQL looks up unquoted names in lower case.
        """
        folds = not self.from_postgres and PLAIN.fullmatch(source)
        return shortened(source.lower() if folds else source)

    def tables(self) -> Iterator[TablePlan]:
        """Yield a plan for each table. This reads all values of the table to choose the column types."""
        for name, sql in self._tables:
            if re.match(r"\s*create\s+virtual\s", sql, re.IGNORECASE):
                self.notes.append(f"virtual table {name} is left out")
                continue
            yield self._table(name, sql)

    def rows(self, table: TablePlan) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in SQLite's order, with the values in the order of the plan's columns."""
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
                self.notes.append(
                    f"{source}.{column}: the column is generated in SQLite, but ordinary in PostgreSQL"
                )
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
            self.notes.append(f"{source}: CHECK constraints are left out")
        if re.search(r"\bcollate\b", sql, re.IGNORECASE):
            self.notes.append(f"{source}: COLLATE is left out; PostgreSQL compares by code point")
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
        """Return the PostgreSQL name of a column that a key may spell in a different case from its table."""
        names = [row[1] for row in self._pragma("table_xinfo", table)]
        return self.name(next((name for name in names if name.lower() == column.lower()), column))

    def _indexes(self, table: str) -> list[IndexPlan]:
        plans = []
        for _, name, unique, origin, partial in reversed(self._pragma("index_list", table)):
            columns = [row[2] for row in self._pragma("index_info", name)]
            if origin == "pk":
                continue
            if partial or None in columns:
                self.notes.append(f"index {name} on {table} is partial or on an expression, and is left out")
                continue
            own_name = self.name(name) if origin == "c" else ""
            plans.append(IndexPlan(own_name, [self.name(column) for column in columns], bool(unique)))
        return plans

    def _pragma(self, pragma: str, name: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(f"PRAGMA main.{pragma}({quoted(name)})").fetchall()


def read_only(path: Path, spoilt: Callable[[], None]) -> sqlite3.Connection:
    """Open an SQLite file that no process writes to, without creating files beside it (as WAL mode would).

    `spoilt` is called for each string that is not valid UTF-8, and the string is repaired.
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
