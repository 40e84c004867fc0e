"""The statements that grading executes: each on a freshly opened database, none that is known already.

Different texts that SQLite compiles to the same program: then only the first of them is executed.

Many answers to one question differ in nothing but aliases and spelling. Compiling takes a tenth of a
millisecond and executing often a hundred times that, so where a question has several answers, and the earlier
ones were slow, the next is compiled first (`EXPLAIN`). The same program on the same contents returns the same
rows in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from birdenv.databases import DatabaseSource, Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.grading._gold_cache import GoldCache, reads_clock, whole
from birdenv.grading._result_store import ResultStore, statement_key
from birdenv.grading._rows import FetchedRows, GoldRows, RowCollector, rows_needed
from birdenv.sql import may_change

Program: TypeAlias = Hashable

_SLOW_SECONDS: Final = 0.002
_MOST_CELLS: Final = 400_000  # of the results that are kept of one question
_NOTES: Final = frozenset({"Explain", "Noop"})  # what a program holds for its readers: names of tables
_UNREADABLE: Final = frozenset("Program Variable VOpen".split())  # their operands are not shown in full
_LONG_NUMBER: Final = re.compile(r"[0-9.][0-9._]{14}")
_DEFINITIONS: Final = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"


class SamePrograms:
    """Slow results of one question's answers; the next question's take their place.

    `execute` runs the SQL that it is given, which tells of a statement or of the schema, on the question's
    database.
    """

    def __init__(self, execute: Callable[[str, str], Result]) -> None:
        self._execute = execute
        self._question: Hashable = None
        self._is_asked = False
        self._slow: list[tuple[str, FetchedRows]] = []
        self._programs: dict[str, Program | None] = {}
        self._definitions: Sequence[str] | None = None
        self._cells = 0

    def is_new(self, question: Hashable) -> bool:
        """Whether nothing has been kept of this question."""
        return question != self._question

    def find(self, question: Hashable, db_id: str, sql: str) -> FetchedRows | None:
        """What another text of the same program returned.

        Nothing is looked up for a question's first answer: there may be no second one.
        """
        is_first, self._is_asked = not self._is_asked, True
        if is_first or question != self._question or not self._slow:
            return None
        program = self._program(db_id, sql)
        if program is None:
            return None
        return next((result for text, result in self._slow if self._program(db_id, text) == program), None)

    def keep(self, question: Hashable, sql: str, result: FetchedRows) -> None:
        """Remember what an answer to the question, or its gold, returned, unless it was quick or is large."""
        if question != self._question:
            self._question, self._is_asked = question, False
            self._slow, self._programs, self._definitions, self._cells = [], {}, None, 0
        cells = (len(result.rows) + len(result.more)) * len(result.columns)
        if result.elapsed < _SLOW_SECONDS or self._cells + cells > _MOST_CELLS:
            return
        self._cells += cells
        self._slow.append((sql, result))

    def _program(self, db_id: str, sql: str) -> Program | None:
        if sql not in self._programs:
            if self._definitions is None:
                found = self._execute(db_id, _DEFINITIONS)
                if not isinstance(found, QueryResult) or found.truncated:
                    return None
                self._definitions = [str(text) for (text,) in found.rows]
            listing = self._execute(db_id, f"EXPLAIN {sql}")
            self._programs[sql] = (
                program_of(sql, listing, self._definitions) if isinstance(listing, QueryResult) else None
            )
        return self._programs[sql]


def program_of(sql: str, listing: QueryResult, definitions: Sequence[str]) -> Program | None:
    """A program by its listing, the rows of `EXPLAIN`; None where a listing cannot tell programs apart.

    `definitions`: the SQL of the database's schema. A listing shows 16 digits of a real number, and a zero
    without its sign. So where it shows real numbers none of them may be zero, and no number that may be among
    them, in the SQL or in a view or generated column, may be nearly that long.
    """
    if listing.truncated or len(listing.columns) < len(("addr", "opcode", "p1", "p2", "p3", "p4", "p5")):
        return None
    operations: list[tuple[Any, ...]] = [row[:7] for row in listing.rows if row[1] not in _NOTES]
    if any(operation[1] in _UNREADABLE or _is_literal_blob(operation) for operation in operations):
        return None
    reals = [float(operation[5]) for operation in operations if operation[1] == "Real"]
    if reals and (not all(reals) or any(map(_LONG_NUMBER.search, (sql, *definitions)))):
        return None
    return tuple(operations)


def _is_literal_blob(operation: tuple[Any, ...]) -> bool:
    """One that stands in the SQL, of which a listing shows what comes before its first zero; a blob without
    operand is the empty filter of a join."""
    return operation[1] == "Blob" and operation[5] is not None


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
    ) -> FetchedRows | QueryError:
        """What a prediction returns: all of it, or so much that no gold can agree with it by any rule."""
        most: int | None = rows_needed(golds)
        if all_rows or most is None or most > self._limits.rows:
            most = None
        collector = RowCollector(golds, most)
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
        if isinstance(found, FetchedRows):
            self._same.keep(question, sql, found)
        return found

    def _found_or_scanned(
        self, db_id: str, sql: str, collector: RowCollector, key: bytes
    ) -> FetchedRows | QueryError:
        if self._store is None:
            return self._scan(db_id, sql, collector)
        known = self._store.find(key, self._limits.seconds)
        if isinstance(known, FetchedRows):
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

    def _scan(self, db_id: str, sql: str, collector: RowCollector) -> FetchedRows | QueryError:
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


def _fetched(result: QueryResult) -> FetchedRows:
    total = None if result.truncated else len(result.rows)
    return FetchedRows(result.columns, list(result.rows), {}, total, result.elapsed)


def _nameless(result: FetchedRows) -> FetchedRows:
    """As a result is stored of which the names of the columns are not known: no gold's."""
    return replace(result, columns=("",) * len(result.columns))


def _is_whole(result: FetchedRows) -> bool:
    return result.total == len(result.rows) and any(result.columns)


def _memory(gold: _Gold) -> int | None:
    return gold.memory if isinstance(gold, GoldRows) else None
