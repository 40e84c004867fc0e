"""A source of read-only episodes on the PostgreSQL of this test process: enough to grade what only reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from birdenv.databases import Limits, PostgresQueries, QueryResult, Result


class ReadOnlyEpisode:
    """Each statement on a connection of its own; whatever writes is refused."""

    is_private = False

    def __init__(self, queries: PostgresQueries, limits: Limits) -> None:
        self._queries = queries
        self._limits = limits

    def query(self, sql: str) -> Result:
        return self._queries.query(sql, self._limits)

    def run(self, statements: Iterable[str]) -> Result:
        result: Result = QueryResult((), ())
        for statement in statements:
            result = self.query(statement)
            if not isinstance(result, QueryResult):
                break
        return result

    def __enter__(self) -> ReadOnlyEpisode:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class PostgresSource:
    dialect = "postgres"

    def __init__(self, dsn: str) -> None:
        self._queries = PostgresQueries(dsn)

    @property
    def engine(self) -> str:
        return "PostgreSQL"

    def open(self, db_id: str, limits: Limits) -> Any:
        return ReadOnlyEpisode(self._queries, limits)

    def digest(self, db_id: str) -> str:
        return "always the same"
