"""The statements that grading executes: each on a freshly opened database, none that is known already."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from birdenv.databases import DatabaseSource, Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.grading._fetched import Collector, Fetched, rows_needed
from birdenv.grading._gold import GoldCache, may_change, reads_clock, whole
from birdenv.grading._gold_rows import GoldRows
from birdenv.grading._result_store import ResultStore, statement_key
from birdenv.grading._same_programs import SamePrograms

__all__ = ["Statements", "Watch"]

_MOST_GOLD_BYTES: Final = 32 * 2**20  # of golds that are kept in memory; the latest one is, however large
_Gold: TypeAlias = GoldRows | QueryError
Watch: TypeAlias = Callable[[str], QueryError | None]


class Statements:
    """Golds are remembered here, all results in the `store` if there is one.

    With `same_programs` a prediction whose text SQLite compiles to the same program as the gold's, or as that
    of a prediction before it for the same golds, is not executed either. Its columns then have the other's
    names, and only one thread at a time may use the object, which several may otherwise.

    What reads the clock is executed every time. `watch` is asked before a statement is executed, and an error
    that it gives is the answer.
    """

    def __init__(
        self,
        source: DatabaseSource,
        limits: Limits,
        store: ResultStore | None,
        watch: Watch | None = None,
        *,
        same_programs: bool = False,
    ) -> None:
        self._source = source
        self._watch = watch
        self._limits = limits
        self._store = store
        self._golds: GoldCache[_Gold] = GoldCache(_memory, float("inf"), _MOST_GOLD_BYTES)
        self._engine = source.engine
        is_sqlite = source.dialect == "sqlite"
        self._same = SamePrograms(self._execute) if same_programs and is_sqlite else None
        self._clocks: dict[Hashable, bool] = {}  # databases whose own definitions read the clock

    def gold(self, db_id: str, sql: str, version: Hashable) -> _Gold:
        """All rows of a gold; an error where it fails or is cut: part of a gold grades nothing.

        `version`: of the database, which the source has just looked up.
        """
        if reads_clock(sql):
            return _gold(sql, self._query(db_id, sql))
        return self._golds.get((db_id, version, sql), lambda: self._whole_gold(db_id, sql))

    def prediction(
        self, db_id: str, sql: str, golds: Sequence[GoldRows], *, all_rows: bool = False
    ) -> Fetched | QueryError:
        """What a prediction returns: all of it, or so much that no gold can agree with it by any rule."""
        most: int | None = rows_needed(golds)
        if all_rows or most is None or most > self._limits.rows:
            most = None
        collector = Collector(golds, most)
        for gold in golds:
            if gold.sql == sql and not reads_clock(sql):
                same = collector.replay(replace(_fetched(gold.result), repeatable=True))
                if same is not None:
                    return same
        if (self._same is None and self._store is None) or self._may_change(db_id, sql):
            return self._scan(db_id, sql, collector)
        key = self._key(db_id, sql)
        if self._same is None:
            return self._found_or_scanned(db_id, sql, collector, key)
        question = (db_id, self._source.version(db_id), tuple([gold.sql for gold in golds]))
        if self._same.is_new(question):
            for gold in golds:
                self._same.keep(question, gold.sql, _fetched(gold.result))
        same = self._same.find(question, db_id, sql)
        result = None if same is None else collector.replay(same)
        if result is not None:
            if self._store is not None:
                self._store.keep(key, _nameless(result))
            return result
        found = self._found_or_scanned(db_id, sql, collector, key)
        if isinstance(found, Fetched):
            self._same.keep(question, sql, found)
        return found

    def _found_or_scanned(
        self, db_id: str, sql: str, collector: Collector, key: bytes
    ) -> Fetched | QueryError:
        if self._store is None:
            return self._scan(db_id, sql, collector)
        known = self._store.find(key, self._limits.seconds)
        if isinstance(known, Fetched):
            known = collector.replay(known)
        if known is None:
            known = self._scan(db_id, sql, collector)
            self._store.keep(key, known)
        else:
            self._store.count(found=1)
        return known

    def _whole_gold(self, db_id: str, sql: str) -> _Gold:
        if self._store is None or self._may_change(db_id, sql):
            return _gold(sql, self._query(db_id, sql))
        key = self._key(db_id, sql)
        known = self._store.find(key, self._limits.seconds)
        if known is not None and (isinstance(known, QueryError) or _is_whole(known)):
            self._store.count(found=1)
            return _gold(sql, known if isinstance(known, QueryError) else known.result)
        result = self._query(db_id, sql)
        self._store.keep(key, result if isinstance(result, QueryError) else _fetched(result))
        return _gold(sql, result)

    def _key(self, db_id: str, sql: str) -> bytes:
        """Under what the store has a statement's result; empty without a store."""
        if self._store is None:
            return b""
        source, limits = self._source, self._limits
        if isinstance(source, SqliteSource):
            digest = self._store.digest(source.path(db_id), lambda: source.digest(db_id))
            isolation: str = source.isolation
        else:
            digest, isolation = source.digest(db_id), ""
        return statement_key(digest, self._engine, isolation, limits.rows, limits.bytes, sql)

    def _may_change(self, db_id: str, sql: str) -> bool:
        """Whether the statement may give another result on another day, or the next time."""
        return may_change(sql) or self._database_reads_clock(db_id)

    def _execute(self, db_id: str, sql: str) -> Result:
        with self._source.open(db_id, self._limits) as database:
            return database.execute(sql)

    def _database_reads_clock(self, db_id: str) -> bool:
        """Whether a view may give another result on another day; nothing else in a schema can, when read."""
        version = self._source.version(db_id)
        if version not in self._clocks:
            if self._source.dialect != "sqlite":
                return True  # its definitions are not looked at
            with self._source.open(db_id, self._limits) as database:
                found = database.query("SELECT sql FROM sqlite_schema WHERE type = 'view'")
            self._clocks[version] = isinstance(found, QueryError) or any(
                may_change(str(text)) for (text,) in found.rows
            )
        return self._clocks[version]

    def _query(self, db_id: str, sql: str) -> Result:
        said = self._before(sql)
        if said is not None:
            return said
        with self._source.open(db_id, self._limits) as database:
            return database.query(sql)

    def _scan(self, db_id: str, sql: str, collector: Collector) -> Fetched | QueryError:
        said = self._before(sql)
        if said is not None:
            return said
        with self._source.open(db_id, self._limits) as database:
            end = database.scan(sql, collector)
        if isinstance(end, QueryError):
            return end
        return collector.fetched(
            end.columns, is_whole=not end.truncated, elapsed=end.elapsed, repeatable=end.repeatable
        )

    def _before(self, sql: str) -> QueryError | None:
        if self._store is not None:
            self._store.count(executed=1)
        return None if self._watch is None else self._watch(sql)


def _gold(sql: str, result: Result) -> _Gold:
    result = whole(result)
    return GoldRows(sql, result) if isinstance(result, QueryResult) else result


def _fetched(result: QueryResult) -> Fetched:
    total = None if result.truncated else len(result.rows)
    return Fetched(result.columns, list(result.rows), {}, total, result.elapsed)


def _nameless(result: Fetched) -> Fetched:
    """As a result is stored of which the names of the columns are not known: no gold's."""
    return replace(result, columns=("",) * len(result.columns))


def _is_whole(result: Fetched) -> bool:
    return result.total == len(result.rows) and any(result.columns)


def _memory(gold: _Gold) -> int | None:
    return gold.memory if isinstance(gold, GoldRows) else None
