"""The schema of a SQLite database as values that do not depend on how its CREATE statements were spelled.

Most comes from the schema pragmas. What no pragma tells (CHECK, COLLATE, AUTOINCREMENT, generated columns,
expressions of indexes, bodies of triggers) is cut out of the stored CREATE text and its tokens compared.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Any

from birdenv.databases._create_table import TableText, index_text, read_table_text
from birdenv.databases._sql_text import normalised, quoted
from birdenv.databases._state import SchemaObject

__all__ = ["read_schema", "table_names"]


def table_names(connection: sqlite3.Connection) -> list[str]:
    """Tables and views of the main database, sorted, without SQLite's own and virtual tables' inner ones."""
    shadows = {name for name, kind, *_ in _table_list(connection) if kind == "shadow"}
    rows = connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return [name for (name,) in rows if name not in shadows]


def read_schema(connection: sqlite3.Connection) -> dict[str, SchemaObject]:
    """Every table, view and trigger of the main database; keys as in `DatabaseState.schema`.

    Raises `sqlite3.Error` if the schema itself is damaged.
    """
    flags = {
        name: (bool(rowidless), bool(strict)) for name, _, _, rowidless, strict in _table_list(connection)
    }
    stored = connection.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_schema").fetchall()
    index_texts = {name: sql or "" for kind, name, _, sql in stored if kind == "index"}
    readable = set(table_names(connection))
    schema: dict[str, SchemaObject] = {}
    for kind, name, table, sql in stored:
        if kind == "trigger":
            schema[f"trigger {name.lower()}"] = {"table": table.lower(), "text": normalised(sql)}
        elif name not in readable:
            continue
        elif kind == "view":
            schema[f"view {name.lower()}"] = {"columns": _view_columns(connection, name)}
        elif re.match(r"create\s+virtual\s", sql, re.IGNORECASE):
            schema[f"table {name.lower()}"] = {"virtual": normalised(sql)}
        elif kind == "table":
            schema[f"table {name.lower()}"] = _table(connection, name, sql, flags, index_texts)
    return dict(sorted(schema.items()))


def _table(
    connection: sqlite3.Connection,
    name: str,
    sql: str,
    flags: dict[str, tuple[bool, bool]],
    index_texts: dict[str, str],
) -> SchemaObject:
    text = read_table_text(sql)
    without_rowid, strict = flags.get(name, (False, False))
    return {
        "columns": _columns(connection, name, text),
        "without_rowid": without_rowid,
        "strict": strict,
        "autoincrement": text.autoincrement,
        "checks": sorted(text.checks),
        "foreign_keys": _foreign_keys(connection, name),
        "indexes": _indexes(connection, name, index_texts),
    }


def _columns(connection: sqlite3.Connection, table: str, text: TableText) -> list[dict[str, Any]]:
    columns = []
    for row in _pragma(connection, "table_xinfo", table):
        _, name, declared, not_null, default, place_in_key, hidden = row
        columns.append(
            {
                "name": name.lower(),
                "type": re.sub(r"\s*([(),])\s*", r"\1", " ".join(declared.split())).upper(),
                "not_null": bool(not_null),
                "default": None if default is None else normalised(default),
                "primary_key": place_in_key,
                "hidden": hidden,
                "collation": text.collations.get(name.lower(), "binary"),
                "generated_as": text.generated.get(name.lower()),
            }
        )
    return columns


def _view_columns(connection: sqlite3.Connection, view: str) -> list[str]:
    try:
        return [row[1].lower() for row in _pragma(connection, "table_xinfo", view)]
    except sqlite3.Error:  # a view on something that is gone; its contents say which
        return []


def _foreign_keys(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    keys: dict[int, dict[str, Any]] = {}
    for row in _pragma(connection, "foreign_key_list", table):
        number, _, parent, child, target, update, delete, match = row
        actions = {"on_update": update, "on_delete": delete, "match": match}
        key = keys.setdefault(number, {"table": parent.lower(), "columns": [], **actions})
        key["columns"].append([child.lower(), target and target.lower()])
    for key in keys.values():
        if any(target is None for _, target in key["columns"]):  # REFERENCES t: its primary key
            targets = _primary_key(connection, key["table"])
            if len(targets) == len(key["columns"]):
                key["columns"] = [[c, t] for (c, _), t in zip(key["columns"], targets, strict=True)]
        key["columns"].sort()
    return sorted(keys.values(), key=repr)


def _primary_key(connection: sqlite3.Connection, table: str) -> list[str]:
    columns = [(row[5], row[1].lower()) for row in _pragma(connection, "table_xinfo", table) if row[5]]
    return [name for _, name in sorted(columns)]


def _indexes(connection: sqlite3.Connection, table: str, texts: dict[str, str]) -> list[dict[str, Any]]:
    indexes = []
    for _, name, unique, origin, partial in _pragma(connection, "index_list", table):
        text = index_text(texts.get(name) or "")
        columns = []
        for position, _, column, descending, collation, is_key in _pragma(connection, "index_xinfo", name):
            if is_key:
                what = text.terms[position] if column is None else column.lower()
                columns.append([what, "desc" if descending else "asc", collation.lower()])
        indexes.append(
            {
                "name": name.lower() if origin == "c" else None,
                "unique": bool(unique),
                "origin": {"c": "index", "u": "unique", "pk": "primary key"}[origin],
                "columns": columns,
                "where": text.where if partial else None,
            }
        )
    return sorted(indexes, key=repr)


def _table_list(connection: sqlite3.Connection) -> list[tuple[str, str, int, int, int]]:
    """(name, kind, columns, without rowid, strict) of the main database; empty before SQLite 3.37."""
    return [row[1:] for row in connection.execute("PRAGMA main.table_list").fetchall()]


def _pragma(connection: sqlite3.Connection, pragma: str, name: str) -> Iterable[tuple[Any, ...]]:
    return connection.execute(f"PRAGMA main.{pragma}({quoted(name)})").fetchall()
