"""What a database is at one moment, as values: for comparing what two scripts made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from birdenv.databases._results import Result

__all__ = ["DatabaseState", "SchemaObject"]

SchemaObject: TypeAlias = Mapping[str, Any]
"""What is known of one table, view or trigger: JSON-able, and the same for two spellings of one thing."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """Schema and contents, read at one moment by the connection that wrote them (so with what it has not
    committed yet), without temporary objects.

    `schema` is keyed by kind and lower-case name (`"table orders"`, `"view recent"`, `"trigger audit"`);
    `contents` by the lower-case name of each table and view, with every column and row as `SELECT *` gives
    them: cut at the row limit (`truncated`), or the error that reading gave.
    """

    schema: Mapping[str, SchemaObject]
    contents: Mapping[str, Result]
