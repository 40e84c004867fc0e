"""Read the schema of an SQLite database as values that do not depend on how CREATE statements are written.

Most values come from pragmas. Properties that no pragma reports (CHECK, COLLATE, AUTOINCREMENT, generated
columns, expressions of indexes, bodies of triggers) are read from the stored CREATE statements. Reading takes
linear time, because a hostile author may have written long and deeply nested statements.
"""

from __future__ import annotations

import re
import sqlite3
import string
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from birdenv.databases._results import SchemaObject
from birdenv.sql import Token, folded, normalised, quoted, spelling, tokens, unquoted

_CONSTRAINT_STARTS = frozenset(["constraint", "primary", "unique", "check", "foreign"])
_CONFLICT_CONSTRAINTS = frozenset(["primary", "unique", "null"])  # a CHECK's ON CONFLICT means nothing


@dataclass
class TableText:
    """The properties of a table that no pragma reports.

    Names are in lower case, and expressions are in the normal form of `birdenv.sql.normalised`.

    Attributes:
        checks: the expressions of all CHECK constraints.
        collations: the collations of columns, except `binary`, keyed by column.
        generated: the expressions of generated columns, keyed by column.
        conflicts: all ON CONFLICT clauses except `abort`, such as `unique (a , b): ignore`.
        deferred: the columns and the referenced table of each foreign key that is INITIALLY DEFERRED.
        autoincrement: whether the table has an AUTOINCREMENT column.
    """

    checks: list[str] = field(default_factory=list)
    collations: dict[str, str] = field(default_factory=dict)
    generated: dict[str, str] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)
    autoincrement: bool = False


@dataclass(frozen=True)
class IndexText:
    """The parts of a CREATE INDEX statement that are compared.

    Attributes:
        terms: the columns and expressions of the index, ignoring ASC, DESC and COLLATE.
        where: the condition of a partial index; empty for other indexes.
    """

    terms: tuple[str, ...] = ()
    where: str = ""


def read_table_text(sql: str) -> TableText:
    """Return the properties that a stored CREATE TABLE statement declares. CREATE TABLE AS declares none."""
    body, _ = _parentheses(list(tokens(sql)))
    text = TableText(autoincrement="autoincrement" in map(_word, body))
    for definition in _split(body):
        if definition:
            is_constraint = _word(definition[0]) in _CONSTRAINT_STARTS
            _Definition(
                definition, "" if is_constraint else folded(unquoted(definition[0].text)), text
            ).read()
    return text


def index_text(sql: str) -> IndexText:
    """Return the parts of a stored CREATE INDEX statement; all are empty for an automatic index."""
    body, rest = _parentheses(list(tokens(sql)))
    terms = tuple(_join(_without_order(term)) for term in _split(body))
    is_partial = bool(rest) and _word(rest[0]) == "where"
    return IndexText(terms, _join(rest[1:]) if is_partial else "")


class _Definition:
    """A column definition, or table constraints. `column` is empty for table constraints."""

    def __init__(self, pieces: list[Token], column: str, text: TableText) -> None:
        self._pieces = pieces
        self._column = column
        self._text = text
        self._constraint = ""  # to which an ON CONFLICT belongs
        self._columns = column  # of the constraint
        self._foreign_key = ""

    def read(self) -> None:
        """Read the definition from left to right, and add its properties to the `TableText`."""
        pieces = self._pieces
        position = 1 if self._column else 0
        before = ""
        while position < len(pieces):
            word = _word(pieces[position])
            if pieces[position].text == "(":
                end = _closing(pieces, position)
                self._read_parentheses(before, pieces[position + 1 : end])
                position = end
            else:
                self._read_word(before, word, pieces[position + 1 : position + 3])
            before = word
            position += 1

    def _read_word(self, before: str, word: str, following: list[Token]) -> None:
        after = [spelling(token) for token in following]
        if word == "collate" and self._column and after:
            if after[0] != "binary":
                self._text.collations[self._column] = after[0]
        elif word in ("primary", "unique", "check", "foreign", "null"):
            self._constraint, self._columns = word, self._column
        elif word == "references" and after:
            self._foreign_key = f"{self._columns} -> {after[0]}"
        elif before == "on" and word == "conflict" and after:
            if self._constraint in _CONFLICT_CONSTRAINTS and after[0] != "abort":
                name = {"primary": "primary key", "null": "not null"}.get(self._constraint, self._constraint)
                self._text.conflicts.append(f"{name} ({self._columns}): {after[0]}")
        elif word == "deferrable" and before != "not" and after == ["initially", "deferred"]:
            self._text.deferred.append(self._foreign_key)

    def _read_parentheses(self, before: str, inside: list[Token]) -> None:
        if before == "check":
            self._text.checks.append(_join(inside))
        elif before == "as" and self._column:
            self._text.generated[self._column] = _join(inside)
        elif before in ("key", "unique") and not self._column:
            self._columns = " , ".join(_join(_without_order(term)) for term in _split(inside))


def _parentheses(pieces: list[Token]) -> tuple[list[Token], list[Token]]:
    """Return the tokens inside the first pair of parentheses, and the tokens after this pair."""
    start = next((i for i, token in enumerate(pieces) if token.text == "("), len(pieces))
    end = _closing(pieces, start)
    return pieces[start + 1 : end], pieces[end + 1 :]


def _closing(pieces: list[Token], start: int) -> int:
    """Return the position of the parenthesis that closes the parenthesis at `start`, or the end."""
    depth = 0
    for i in range(start, len(pieces)):
        depth += {"(": 1, ")": -1}.get(pieces[i].text, 0)
        if depth == 0:
            return i
    return len(pieces)


def _split(pieces: list[Token]) -> Iterator[list[Token]]:
    """Split at commas outside inner parentheses."""
    part: list[Token] = []
    depth = 0
    for token in pieces:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _without_order(term: list[Token]) -> list[Token]:
    if term and _word(term[-1]) in ("asc", "desc"):
        term = term[:-1]
    if len(term) > 1 and _word(term[-2]) == "collate":
        term = term[:-2]
    return term


def _word(token: Token) -> str:
    return spelling(token) if token.kind == "word" else ""


def _join(pieces: list[Token]) -> str:
    return " ".join(map(spelling, pieces))


Fetch: TypeAlias = Callable[[str], list[tuple[Any, ...]]]
"""Runs one of birdenv's own statements and returns all its rows. May raise `sqlite3.Error`."""

_TO_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def content_queries(fetch: Fetch) -> dict[str, str]:
    """Return a query for the rows of each table and view, keyed as in `DatabaseState.contents`."""
    queries: dict[str, str] = {}
    for name in table_names(fetch):
        queries[_free(folded(name), queries)] = f"SELECT * FROM main.{quoted(name)}"
    if fetch("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence'"):
        counters = "FROM main.sqlite_sequence WHERE seq IS NOT NULL AND seq <> 0"  # 0 is the same as no row
        if fetch(f"SELECT 1 {counters} LIMIT 1"):
            queries["sqlite_sequence"] = f"SELECT lower(name) AS name, seq AS seq {counters}"
    return queries


def definitions(fetch: Fetch) -> tuple[str, ...]:
    """Return the stored SQL of all objects, sorted."""
    rows = fetch("SELECT sql AS sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY sql")
    return tuple(sql for (sql,) in rows)


def _free(key: str, taken: Container[str]) -> str:
    """Return the key or, if it is taken, a similar key that is free."""
    while key in taken:
        key += "'"
    return key


def table_names(fetch: Fetch) -> list[str]:
    """Return the sorted names of tables and views, except internal tables of SQLite and of modules."""
    shadows = {name for name, kind, *_ in _table_list(fetch) if kind == "shadow"}
    rows = fetch(
        "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return [name for (name,) in rows if name not in shadows]


def read_schema(fetch: Fetch) -> dict[str, SchemaObject]:
    """Return a description of each table, view and trigger, keyed as in `DatabaseState.schema`.

    Raises `sqlite3.Error` if the schema is damaged.
    """
    flags = {name: (bool(rowidless), bool(strict)) for name, _, _, rowidless, strict in _table_list(fetch)}
    stored = fetch("SELECT type, name, tbl_name, sql FROM main.sqlite_schema")
    index_texts = {name: sql or "" for kind, name, _, sql in stored if kind == "index"}
    readable = set(table_names(fetch))
    schema: dict[str, SchemaObject] = {}
    for kind, name, table, sql in stored:
        if kind == "trigger":
            schema[_free(f"trigger {folded(name)}", schema)] = {
                "table": folded(table),
                "text": normalised(sql or ""),
            }
        elif name not in readable:
            continue
        elif kind == "view":
            schema[_free(f"view {folded(name)}", schema)] = {"columns": _view_columns(fetch, name)}
        elif re.match(r"create\s+virtual\s", sql, re.IGNORECASE):
            schema[_free(f"table {folded(name)}", schema)] = {"virtual": normalised(sql)}
        elif kind == "table":
            schema[_free(f"table {folded(name)}", schema)] = _table(fetch, name, sql, flags, index_texts)
    return dict(sorted(schema.items()))


def _table(
    fetch: Fetch,
    name: str,
    sql: str,
    flags: dict[str, tuple[bool, bool]],
    index_texts: dict[str, str],
) -> SchemaObject:
    text = read_table_text(sql)
    without_rowid, strict = flags.get(name, (False, False))
    return {
        "columns": _columns(fetch, name, text),
        "without_rowid": without_rowid,
        "strict": strict,
        "autoincrement": text.autoincrement,
        "checks": sorted(text.checks),
        "conflicts": sorted(text.conflicts),
        "foreign_keys": _foreign_keys(fetch, name),
        "deferred": sorted(text.deferred),
        "indexes": _indexes(fetch, name, index_texts),
    }


def _columns(fetch: Fetch, table: str, text: TableText) -> list[dict[str, Any]]:
    columns = []
    for row in _pragma(fetch, "table_xinfo", table):
        _, name, declared, not_null, default, place_in_key, hidden = row
        columns.append(
            {
                "name": folded(name),
                "type": re.sub(r"\s*([(),])\s*", r"\1", " ".join(declared.split())).translate(_TO_UPPER),
                "not_null": bool(not_null),
                "default": None if default is None else normalised(default),
                "primary_key": place_in_key,
                "hidden": hidden,
                "collation": text.collations.get(folded(name), "binary"),
                "generated_as": text.generated.get(folded(name)),
            }
        )
    return columns


def _view_columns(fetch: Fetch, view: str) -> list[str]:
    try:
        return [folded(row[1]) for row in _pragma(fetch, "table_xinfo", view)]
    except sqlite3.Error:  # the view refers to a missing object; reading its contents reports which
        return []


def _foreign_keys(fetch: Fetch, table: str) -> list[dict[str, Any]]:
    keys: dict[int, dict[str, Any]] = {}
    primary_keys: dict[str, list[str]] = {}
    for row in _pragma(fetch, "foreign_key_list", table):
        number, _, parent, child, target, update, delete, match = row
        actions = {"on_update": update, "on_delete": delete, "match": match}
        key = keys.setdefault(number, {"table": folded(parent), "columns": [], **actions})
        key["columns"].append([folded(child), target and folded(target)])
    for key in keys.values():
        if any(target is None for _, target in key["columns"]):  # REFERENCES t means its primary key
            parent = key["table"]
            if parent not in primary_keys:
                primary_keys[parent] = _primary_key(fetch, parent)
            targets = primary_keys[parent]
            if len(targets) == len(key["columns"]):
                key["columns"] = [[c, t] for (c, _), t in zip(key["columns"], targets, strict=True)]
        key["columns"].sort()
    return sorted(keys.values(), key=repr)


def _primary_key(fetch: Fetch, table: str) -> list[str]:
    columns = [(row[5], folded(row[1])) for row in _pragma(fetch, "table_xinfo", table) if row[5]]
    return [name for _, name in sorted(columns)]


def _indexes(fetch: Fetch, table: str, texts: dict[str, str]) -> list[dict[str, Any]]:
    indexes = []
    for _, name, unique, origin, partial in _pragma(fetch, "index_list", table):
        text = index_text(texts.get(name) or "")
        columns = []
        for position, _, column, descending, collation, is_key in _pragma(fetch, "index_xinfo", name):
            if is_key:
                what = "".join(text.terms[position : position + 1]) if column is None else folded(column)
                columns.append([what, "desc" if descending else "asc", folded(collation)])
        indexes.append(
            {
                "name": folded(name) if origin == "c" else None,
                "unique": bool(unique),
                "origin": {"c": "index", "u": "unique", "pk": "primary key"}[origin],
                "columns": columns,
                "where": text.where if partial else None,
            }
        )
    return sorted(indexes, key=repr)


def _table_list(fetch: Fetch) -> list[tuple[str, str, int, int, int]]:
    """Return (name, kind, columns, without rowid, strict) of each table; empty before SQLite 3.37."""
    return [(row[1], row[2], row[3], row[4], row[5]) for row in fetch("PRAGMA main.table_list")]


def _pragma(fetch: Fetch, pragma: str, name: str) -> list[tuple[Any, ...]]:
    return fetch(f"PRAGMA main.{pragma}({quoted(name)})")
