"""A database's schema as its own CREATE statements."""

from __future__ import annotations

from functools import lru_cache

from birdenv.databases import Limits, QueryError, SqliteSource
from birdenv.errors import InputError

__all__ = ["schema_text"]

_SQL = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid"  # noqa: E501


def schema_text(source: SqliteSource, db_id: str) -> str:
    """The CREATE TABLE statements, in the order in which the tables were made."""
    return _schema_text(source, db_id, source.digest(db_id))


@lru_cache(maxsize=256)
def _schema_text(source: SqliteSource, db_id: str, digest: str) -> str:
    with source.open(db_id, Limits()) as database:
        result = database.query(_SQL)
    if isinstance(result, QueryError):
        raise InputError(f"{db_id}: the schema cannot be read: {result.message}")
    return "\n\n".join(f"{row[0]};" for row in result.rows)
