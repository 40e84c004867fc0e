"""Run gold and predicted statements, each on a freshly opened database, and fetch as few rows as necessary.

A statement whose result is cached is not rerun. Rows of a prediction are fetched only until the verdict is
certain. A prediction with more rows than the gold can still agree by the set rule, or differ only in repeated
rows, if the gold contains each of the additional rows. Therefore, fetching stops early only if the prediction
has more rows than the gold, and at least one row that no gold contains.

`GoldRows` holds the rows of a gold query, and caches values that comparisons need.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, TypeAlias, cast

from birdenv.databases import (
    DatabaseSource,
    Limits,
    QueryError,
    QueryResult,
    Result,
    Row,
    ScannedDatabase,
    Scope,
    is_out_of_memory,
)
from birdenv.databases.cache import Key, ResultCache
from birdenv.grading._reads import reads_clock
from birdenv.grading.compare._cells import canonical_row, canonical_rows
from birdenv.grading.compare._rows import hashable_rows
from birdenv.grading.compare._tolerance import are_plain


class GoldRows:
    """The complete result of a gold query.

    Args:
        sql: the gold query.
        result: its result, which must not be truncated.
    """

    def __init__(self, sql: str, result: QueryResult) -> None:
        self.sql = sql
        self.result = result
        self.rows = list(result.rows)
        self.is_plain = are_plain(self.rows)

    @cached_property
    def is_empty(self) -> bool:
        """Return whether the gold has no rows, or only NULLs."""
        return all(cell is None for cell in chain.from_iterable(self.rows))

    @cached_property
    def row_set(self) -> frozenset[tuple[Hashable, ...]]:
        """Return the distinct rows in the form that BIRD's set rule compares."""
        try:
            return frozenset(self.rows)
        except TypeError:
            return frozenset(hashable_rows(self.rows))

    @cached_property
    def canonical_set(self) -> frozenset[tuple[Hashable, ...]]:
        """Return the distinct rows in canonical form."""
        return frozenset(canonical_rows(self.rows))

    def has_all(self, rows: Collection[Row]) -> bool:
        """Return whether the gold contains all the given rows, by the set rule."""
        try:
            return self.row_set.issuperset(rows)
        except TypeError:
            return self.row_set.issuperset(hashable_rows(rows))

    def holds(self, width: int, rows: Sequence[Row]) -> bool:
        """Return whether the gold has `width` columns and contains all the given rows, by any rule.

        If not, no result with these rows can agree with the gold, or differ from it only in repeated rows.
        """
        if width != len(self.result.columns):
            return False
        if self.has_all(rows):
            return True
        return all(canonical_row(row) in self.canonical_set for row in rows)


LEAST_FETCHED: Final = 1_000
"""The minimum number of rows of a prediction to fetch. Up to this number of rows can be shown without
revealing how many rows the gold has."""


def whole(result: Result) -> Result:
    """Return the result if it has all its rows. A truncated result becomes a `too_large` error.

    A truncated gold result cannot be used for grading. The rows are returned as a tuple.
    """
    if isinstance(result, QueryError):
        return result
    if result.truncated:
        return QueryError("too_large", f"more than {len(result.rows)} rows", result.elapsed)
    return QueryResult(
        result.columns,
        tuple(result.rows),
        rows_affected=result.rows_affected,
        elapsed=result.elapsed,
        repeatable=result.repeatable,
    )


def rows_needed(golds: Sequence[GoldRows]) -> int:
    """Return how many rows of a prediction to fetch before comparing them with the golds' rows."""
    return max(LEAST_FETCHED, *[len(gold.rows) for gold in golds]) + 1


class RowCollector:
    """A row sink that collects the rows of a prediction while its query runs (`ScannedDatabase.scan`).

    Args:
        golds: the results of the gold queries.
        most: number of rows to fetch in any case. After that, fetching continues only while some gold
            contains all the rows so far. None means to fetch all rows.
    """

    def __init__(self, golds: Sequence[GoldRows], most: int | None) -> None:
        self._golds = golds
        self._most = most
        self.begin(())

    def begin(self, columns: tuple[str, ...]) -> None:
        """Prepare for the rows of a query, and forget all rows from an earlier run."""
        self._columns = columns
        self._rows: list[Row] = []
        self._open: list[GoldRows] | None = None  # golds that contain all rows so far

    def see(self, rows: list[Row]) -> bool:
        """Add the next rows. Return False, which stops fetching, if no gold contains all the rows so far."""
        self._rows += rows
        if self._most is None or len(self._rows) <= self._most:
            return True
        golds, unchecked = (self._golds, self._rows) if self._open is None else (self._open, rows)
        self._open = [gold for gold in golds if gold.holds(len(self._columns), unchecked)]
        return bool(self._open)

    def fetched(self, end: QueryResult, *, is_whole: bool) -> QueryResult:
        """Return the collected rows as a result with the columns and duration of `end`.

        The result is marked as truncated, and has at most `most` rows, unless `is_whole` is true.
        """
        rows = self._rows if is_whole else self._rows[: self._most]
        return QueryResult(end.columns, rows, not is_whole, elapsed=end.elapsed, repeatable=end.repeatable)

    def replay(self, whole: QueryResult) -> QueryResult:
        """Return the part of a complete, cached result that would have been fetched by running the query."""
        self.begin(whole.columns)
        return self.fetched(whole, is_whole=self.see(list(whole.rows)))


_Gold: TypeAlias = GoldRows | QueryError


class Statements:
    """A thread-safe runner for gold queries and predictions, which caches their results.

    The results of the most recent gold queries stay in memory regardless of their size, together with the
    values that comparisons have computed from them.

    Args:
        source: the source that opens the databases.
        limits: the limits on each statement.
        cache: the cache of results.
    """

    def __init__(self, source: DatabaseSource, limits: Limits, cache: ResultCache) -> None:
        self._source = source
        self._limits = limits
        self._cache = cache
        self._question: tuple[tuple[tuple[str, ...], Scope], list[_Gold]] | None = None

    def scope(self, db_id: str) -> Scope:
        """Return the identity of a database, its engine and the limits, for use in cache keys.

        Raises:
            InputError: the database cannot be opened.
        """
        return self._source.scope(db_id, self._limits)

    def golds(self, scope: Scope, db_id: str, sqls: Sequence[str]) -> list[_Gold]:
        """Return the rows of each gold, or an error if the gold fails or its result is truncated."""
        question, known = (tuple(sqls), scope), self._question
        if known is not None and known[0] == question:
            return known[1]
        golds = [self._gold(scope, db_id, sql) for sql in sqls]
        if all(map(_lasts, golds)):
            self._question = (question, golds)
        return golds

    def prediction(
        self, scope: Scope, db_id: str, sql: str, golds: Sequence[GoldRows], *, all_rows: bool = False
    ) -> Result:
        """Return the rows of a prediction, or its error.

        Unless `all_rows` is true, fetching stops when no gold can agree with the rows by any rule.
        """
        most = rows_needed(golds)
        collector = RowCollector(golds, None if all_rows or most > self._limits.rows else most)

        def reuse(known: Result) -> Result | None:
            usable = _if_whole(known)
            return usable if usable is None or isinstance(usable, QueryError) else collector.replay(usable)

        for gold in golds:
            if gold.sql == sql and _lasts(gold):
                return collector.replay(gold.result)
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
        result = whole(found)
        return result if isinstance(result, QueryError) else GoldRows(sql, result)

    def _query(self, db_id: str, sql: str) -> Result:
        with self._source.open(db_id, self._limits) as database:
            result: Result = database.query(sql)
        if is_out_of_memory(result):
            raise MemoryError
        return result

    def _scan(self, db_id: str, sql: str, collector: RowCollector) -> Result:
        with self._source.open(db_id, self._limits) as database:
            end = cast(ScannedDatabase, database).scan(sql, collector)
        if isinstance(end, QueryError):
            return end
        return collector.fetched(end, is_whole=not end.truncated)


def _lasts(gold: _Gold) -> bool:
    """Return whether a gold's result may be cached, judging by the engine or by the text of the gold."""
    return isinstance(gold, GoldRows) and (gold.result.repeatable or not reads_clock(gold.sql))


def _if_whole(known: Result) -> Result | None:
    """Return the value if it is a complete result or an error; otherwise None."""
    return known if isinstance(known, QueryError) or not known.truncated else None
