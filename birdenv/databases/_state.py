"""What a database is at one moment, as values: for comparing what two scripts made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from birdenv.databases._results import Result

__all__ = ["DatabaseState", "SchemaObject"]

SchemaObject: TypeAlias = Mapping[str, Any]
"""What is known of one table, view or trigger: JSON-able, and the same for two spellings of one thing."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """Schema and contents as committed, without temporary objects.

    `schema` is keyed by kind and folded name (`"table orders"`, `"view recent"`, `"trigger audit"`; A to Z in
    lower case, as SQLite compares names); `contents` by the folded name of each table and view, with every
    column and row as `SELECT *` gives them: cut at the row limit (`truncated`), or the error that reading
    gave. The counters of AUTOINCREMENT are `sqlite_sequence`, where there are any. `definitions`: the SQL of
    everything as it was typed, which does not count when comparing.
    """

    schema: Mapping[str, SchemaObject]
    contents: Mapping[str, Result]
    definitions: tuple[str, ...] = field(default=(), compare=False, repr=False)
