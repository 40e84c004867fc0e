"""Schema and contents of a PostgreSQL database as a `DatabaseState`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from birdenv.databases._fetching import Allowance
from birdenv.databases._results import QueryError, QueryResult, Result
from birdenv.databases._state import DatabaseState
from birdenv.databases.postgres._catalog import content_queries, definitions, read_schema, schema_text
from birdenv.databases.postgres._rows import bytes_of
from birdenv.databases.postgres._session import Session

__all__ = ["read_schema_text", "read_state"]


class _UnreadableError(Exception):
    def __init__(self, error: QueryError) -> None:
        super().__init__(error.message)
        self.error = error


def read_state(
    session: Session, like: DatabaseState | None, allowance: Callable[[], Allowance]
) -> DatabaseState | QueryError:
    """What is committed, in a session of its own; `allowance` gives what the next statement may cost, and all
    contents together take no more bytes than that."""

    try:
        schema = read_schema(lambda sql: _rows(session, sql, allowance()))
        texts = definitions(lambda sql: _rows(session, sql, allowance()))
        if like is not None and like.schema != schema:
            return DatabaseState(schema, {}, texts)
        queries = content_queries(lambda sql: _rows(session, sql, allowance()))
    except _UnreadableError as unreadable:
        return unreadable.error
    contents: dict[str, Result] = {}
    left = allowance().bytes
    for key, sql in queries.items():
        content = contents[key] = _content(session, sql, replace(allowance(), bytes=left))
        left -= bytes_of(content.rows) if isinstance(content, QueryResult) else 0
        if session.is_lost:
            return content if isinstance(content, QueryError) else QueryError("engine", "no state")
    return DatabaseState(schema, contents, texts)


def read_schema_text(session: Session, allowance: Allowance) -> str | QueryError:
    """The CREATE TABLE statements of everything."""
    try:
        return schema_text(lambda sql: _rows(session, sql, allowance))
    except _UnreadableError as unreadable:
        return unreadable.error


def _content(session: Session, sql: str, allowance: Allowance) -> Result:
    """A table or view, which may call anything, but changes nothing."""
    failure = session.command("BEGIN TRANSACTION READ ONLY")
    result = failure or session.run(sql, allowance)
    session.command("ROLLBACK")
    return result


def _rows(session: Session, sql: str, allowance: Allowance) -> list[tuple[Any, ...]]:
    result = session.run(sql, allowance)
    if isinstance(result, QueryError):
        raise _UnreadableError(result)
    return list(result.rows)
