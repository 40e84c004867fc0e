"""The statements that grading executes, each on a freshly opened database, and what is fetched of their rows.

No statement runs whose result is known already. The rows of a prediction are fetched in one pass, up to the
one that decides. So many rows are kept as decide wherever the prediction has no row that a gold lacks: one
more than the gold's. Where there are more, and all of them rows of a gold, the set rule may still hold and
the difference may be repeated rows only: then the others are counted, not kept, until the first one that no
gold has.

`GoldRows` are the rows of a gold, with what every comparison with them needs, worked out at most once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
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
    """A gold's whole result; `sql`: what gave it."""

    def __init__(self, sql: str, result: QueryResult) -> None:
        self.sql = sql
        self.result = result
        self.rows = list(result.rows)
        self.is_plain = are_plain(self.rows)

    @cached_property
    def is_empty(self) -> bool:
        """Return whether the gold has no row, or nothing but NULLs."""
        return all(cell is None for cell in chain.from_iterable(self.rows))

    @cached_property
    def row_set(self) -> frozenset[tuple[Hashable, ...]]:
        """Return the distinct rows as the set rule compares them."""
        try:
            return frozenset(self.rows)
        except TypeError:
            return frozenset(hashable_rows(self.rows))

    @cached_property
    def canonical_set(self) -> frozenset[tuple[Hashable, ...]]:
        return frozenset(canonical_rows(self.rows))

    def has_all(self, rows: Collection[Row]) -> bool:
        """Return whether each row is one of the gold's as the set rule compares them."""
        try:
            return self.row_set.issuperset(rows)
        except TypeError:
            return self.row_set.issuperset(hashable_rows(rows))

    def holds(self, width: int, rows: Sequence[Row]) -> bool:
        """Return whether each row is one of the gold's, by either rule, among results of so many columns.

        False decides: with such a row the two cannot agree, nor differ in repeated rows only.
        """
        if width != len(self.result.columns):
            return False
        if self.has_all(rows):
            return True
        return all(canonical_row(row) in self.canonical_set for row in chain(self._foreign(rows), rows))

    def _foreign(self, rows: Sequence[Row]) -> list[Row]:
        """Return the first row that is none of the gold's by the set rule: the one that may decide."""
        known = zip(rows, hashable_rows(rows), strict=True)
        return list(islice((row for row, hashable in known if hashable not in self.row_set), 1))


LEAST_FETCHED: Final = 1_000
"""Rows of a prediction that are fetched at least, if it has them, however few the gold has. What is shown of
a prediction may show that many: then it says nothing of the gold."""


@dataclass(slots=True)
class FetchedRows:
    """`rows`: the first ones, in their order. `more`: how often each row comes behind those, as far as rows
    were counted. `total`: how many rows there are in all; None if fetching ended before the last one.
    `repeatable`: see `QueryResult`."""

    columns: tuple[str, ...]
    rows: list[Row]
    more: dict[Row, int]
    total: int | None
    elapsed: float = field(compare=False)
    repeatable: bool = field(default=False, compare=False)

    @property
    def result(self) -> QueryResult:
        """Return the first rows as a result, which is truncated if there were more."""
        is_cut = self.total != len(self.rows)
        return QueryResult(self.columns, self.rows, is_cut, elapsed=self.elapsed, repeatable=self.repeatable)


def fetched_rows(result: QueryResult) -> FetchedRows:
    """Take a query's result for what was fetched."""
    total = None if result.truncated else len(result.rows)
    return FetchedRows(result.columns, list(result.rows), {}, total, result.elapsed, result.repeatable)


def whole(result: Result) -> Result:
    """Freeze the rows of a result; a `too_large` error where it was cut: part of a gold grades nothing."""
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
    """Return how many rows to keep of a prediction that has more rows than the golds."""
    return max(LEAST_FETCHED, *[len(gold.rows) for gold in golds]) + 1


class RowCollector:
    """Sees the rows of a prediction as they come (`EpisodeDatabase.scan`).

    `most`: rows kept while a gold may still hold them all; None to keep every row.
    """

    def __init__(self, golds: Sequence[GoldRows], most: int | None) -> None:
        self._golds = golds
        self._most = most
        self.begin(())

    def begin(self, columns: tuple[str, ...]) -> None:
        """Begin a statement. If it is run again, forget what was seen of it before."""
        self._columns = columns
        self._rows: list[Row] = []
        self._more: Counter[Row] | None = None  # as nearly always
        self._open: list[GoldRows] | None = None  # golds that have every row so far

    def see(self, rows: list[Row]) -> bool:
        """Take the next rows. Return whether more rows can matter."""
        if self._open is None:
            if self._most is None or len(self._rows) + len(rows) <= self._most:
                self._rows += rows
                return True
            room = self._most - len(self._rows)
            self._rows += rows[:room]
            rows = rows[room:]
            self._open = self._golds_with(self._rows, self._golds)
            if not self._open:
                return False
        still_open = self._golds_with(rows, self._open)
        if _are_hashable(rows) and (not still_open or any(gold.has_all(rows) for gold in still_open)):
            self._more = self._more or Counter()
            self._more.update(rows)
        else:
            self._rows += rows  # arrays and JSON, or equal to a gold's in canonical form only
        self._open = still_open
        return bool(still_open)

    def fetched(
        self, columns: tuple[str, ...], *, is_whole: bool, elapsed: float, repeatable: bool = False
    ) -> FetchedRows:
        """Return the rows that were seen. `is_whole` says whether they go to the last row."""
        more = dict(self._more) if self._more else {}
        total = len(self._rows) + sum(more.values()) if is_whole else None
        return FetchedRows(columns, self._rows, more, total, elapsed, repeatable)

    def replay(self, whole: FetchedRows) -> FetchedRows:
        """Return what would be fetched of a prediction whose rows are all known."""
        self.begin(whole.columns)
        is_whole = self.see(list(whole.rows))
        return self.fetched(
            whole.columns, is_whole=is_whole, elapsed=whole.elapsed, repeatable=whole.repeatable
        )

    def _golds_with(self, rows: list[Row], golds: Sequence[GoldRows]) -> list[GoldRows]:
        return [gold for gold in golds if gold.holds(len(self._columns), rows)]


def _are_hashable(rows: list[Row]) -> bool:
    try:
        hash(tuple(rows))
    except TypeError:
        return False
    return True


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
        """Return what results on a database depend on. Raises `InputError` if it cannot be opened."""
        return self._source.scope(db_id, self._limits)

    def golds(self, scope: Scope, db_id: str, sqls: Sequence[str]) -> list[_Gold]:
        """Return all rows of each gold, or an error if it fails or is cut: part of a gold cannot grade."""
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
        """Return the rows of a prediction: all, or enough to show that no gold agrees with it by any rule."""
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
    """Return whether a gold's result may be cached: the engine calls it repeatable, or its text shows it."""
    return isinstance(gold, GoldRows) and (gold.result.repeatable or not reads_clock(gold.sql))


def _if_whole(known: _Fetched) -> _Fetched | None:
    """Return what was fetched if it is the whole result, or an error."""
    return known if isinstance(known, QueryError) or known.total == len(known.rows) else None
