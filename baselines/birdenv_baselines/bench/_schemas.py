"""The schemas of a benchmark's `tables.json`: which tables there are, their keys, and what refers to what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Field", "Schema", "Table", "quoted", "read_schemas"]

Field: TypeAlias = tuple[str, str]
"""A table's name and a column's name."""


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` tells of each whether it holds numbers; `key` names the columns of the primary key."""

    name: str
    columns: Mapping[str, bool]
    key: tuple[str, ...]

    def definition(self) -> str:
        """The statement that makes it. There are no indexes but the primary key's."""
        columns = [f"{quoted(name)} {self._type(name)}" for name in self.columns]
        if len(self.key) > 1:
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, self.key))})")
        return f"CREATE TABLE {quoted(self.name)} ({', '.join(columns)})"

    def _type(self, column: str) -> str:
        is_number, is_key = self.columns[column], self.key == (column,)
        if is_key:
            return "INTEGER PRIMARY KEY" if is_number else "TEXT PRIMARY KEY"
        return "NUMERIC" if is_number else "TEXT"


@dataclass(frozen=True, slots=True)
class Schema:
    """`references` are the declared foreign keys, each from the referring field to the one referred to."""

    db_id: str
    tables: tuple[Table, ...]
    references: tuple[tuple[Field, Field], ...]

    def find(self, table: str, column: str) -> Field | None:
        """The names as the schema spells them; SQL does not tell upper case from lower case."""
        for each in self.tables:
            if each.name.lower() == table.lower():
                for name in each.columns:
                    if name.lower() == column.lower():
                        return each.name, name
        return None


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_schemas(file: Path) -> dict[str, Schema]:
    """The schemas by database, from a file in the format of Spider's and BIRD's `tables.json`."""
    return {each["db_id"]: _schema(each) for each in json.loads(file.read_text(encoding="utf-8"))}


def _schema(record: Mapping[str, Any]) -> Schema:
    names = record["table_names_original"]
    # The first column is `*` and belongs to no table.
    fields = [(table, column) for table, column in record["column_names_original"]]
    keys = {number for key in record["primary_keys"] for number in (key if isinstance(key, list) else [key])}
    tables = []
    for index, name in enumerate(names):
        numbers = [number for number, (table, _) in enumerate(fields) if table == index]
        columns = {fields[number][1]: record["column_types"][number] == "number" for number in numbers}
        tables.append(Table(name, columns, tuple(fields[number][1] for number in numbers if number in keys)))
    references = tuple(
        ((names[fields[here][0]], fields[here][1]), (names[fields[there][0]], fields[there][1]))
        for here, there in record["foreign_keys"]
    )
    return Schema(record["db_id"], tuple(tables), references)
