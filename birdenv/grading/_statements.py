"""The statements that grading executes: each on a freshly opened database, none that is known already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from birdenv.databases import (
    DatabaseSource,
    Limits,
    QueryError,
    Result,
    ScannedDatabase,
    Scope,
    is_out_of_memory,
)
from birdenv.databases.cache import Key, ResultCache
from birdenv.grading._fetched_rows import (
    FetchedRows,
    GoldRows,
    RowCollector,
    fetched_rows,
    rows_needed,
    whole,
)
from birdenv.grading._volatile_gold import reads_clock

_Gold: TypeAlias = GoldRows | QueryError
_Fetched: TypeAlias = FetchedRows | QueryError


class Statements:
    """Golds and predictions, through a cache of results. May be used by several threads.

    The golds of the latest question stay at hand, however large, with what comparing worked out of them.

    Args:
        source: the databases.
        limits: of each statement.
        cache: what is known already.
    """

    def __init__(self, source: DatabaseSource, limits: Limits, cache: ResultCache) -> None:
        self._source = source
        self._limits = limits
        self._cache = cache
        self._question: tuple[tuple[tuple[str, ...], Scope], list[_Gold]] | None = None

    def scope(self, db_id: str) -> Scope:
        """Give what the results on a database depend on. Raises `InputError` if it cannot be opened."""
        return self._source.scope(db_id, self._limits)

    def golds(self, scope: Scope, db_id: str, sqls: Sequence[str]) -> list[_Gold]:
        """Give all rows of each gold; an error where it fails or is cut: part of a gold grades nothing."""
        question, known = (tuple(sqls), scope), self._question
        if known is not None and known[0] == question:
            return known[1]
        golds = [self._gold(scope, db_id, sql) for sql in sqls]
        if all(map(_lasts, golds)):
            self._question = (question, golds)
        return golds

    def prediction(
        self, scope: Scope, db_id: str, sql: str, golds: Sequence[GoldRows], *, all_rows: bool = False
    ) -> _Fetched:
        """Give what a prediction returns: all, or so much that no gold can agree with it by any rule."""
        most: int | None = rows_needed(golds)
        if all_rows or most is None or most > self._limits.rows:
            most = None
        collector = RowCollector(golds, most)

        def reuse(known: _Fetched) -> _Fetched | None:
            usable = _if_whole(known)
            return usable if usable is None or isinstance(usable, QueryError) else collector.replay(usable)

        for gold in golds:
            if gold.sql == sql and _lasts(gold):
                return collector.replay(fetched_rows(gold.result))
        return self._cache.get(
            Key(scope, "query", None, sql),
            lambda: self._scan(db_id, sql, collector),
            reuse=reuse,
            is_current=lambda: self.scope(db_id) == scope,
        )

    def _gold(self, scope: Scope, db_id: str, sql: str) -> _Gold:
        found = self._cache.get(
            Key(scope, "query", None, sql),
            lambda: self._query(db_id, sql),
            reuse=_if_whole,
            lasts=lambda: not reads_clock(sql),
            is_current=lambda: self.scope(db_id) == scope,
        )
        result = whole(found if isinstance(found, QueryError) else found.result)
        return result if isinstance(result, QueryError) else GoldRows(sql, result)

    def _query(self, db_id: str, sql: str) -> _Fetched:
        with self._source.open(db_id, self._limits) as database:
            result: Result = database.query(sql)
        if is_out_of_memory(result):
            raise MemoryError
        return result if isinstance(result, QueryError) else fetched_rows(result)

    def _scan(self, db_id: str, sql: str, collector: RowCollector) -> _Fetched:
        with self._source.open(db_id, self._limits) as database:
            end = cast(ScannedDatabase, database).scan(sql, collector)
        if isinstance(end, QueryError):
            return end
        return collector.fetched(
            end.columns, is_whole=not end.truncated, elapsed=end.elapsed, repeatable=end.repeatable
        )


def _lasts(gold: _Gold) -> bool:
    """Whether a gold may be kept: the engine says so, or its text does."""
    return isinstance(gold, GoldRows) and (gold.result.repeatable or not reads_clock(gold.sql))


def _if_whole(known: _Fetched) -> _Fetched | None:
    """A prediction may have been fetched in part."""
    return known if isinstance(known, QueryError) or known.total == len(known.rows) else None
