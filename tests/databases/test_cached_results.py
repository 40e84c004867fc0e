"""A statement that comes again is answered from memory, but only where nothing else can be the answer."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from birdenv.databases import (
    EpisodeDatabase,
    Limits,
    QueryError,
    QueryResult,
    Result,
    Scope,
    SqliteSource,
)
from birdenv.databases import cache as module
from birdenv.databases.cache import Key, ResultCache, memory_of
from birdenv.databases.sqlite import _file

SCRIPT = """
CREATE TABLE item (name TEXT, price REAL, day TEXT);
INSERT INTO item VALUES ('pen', 4, '2024-01-02'), ('ink', 6, '2024-01-03');
CREATE VIRTUAL TABLE note USING fts5 (body);
INSERT INTO note VALUES ('a'), ('b');
CREATE VIEW shaken AS SELECT rowid AS rowid, name || random() AS body FROM item;
CREATE VIRTUAL TABLE shaken_note USING fts5 (body, content = 'shaken', content_rowid = 'rowid');
INSERT INTO shaken_note (rowid, body) VALUES (1, 'pen'), (2, 'ink');
CREATE VIEW dice AS SELECT random() AS eyes;
CREATE VIEW today AS SELECT julianday('now') AS day;
"""
LIMITS = Limits(seconds=5)
COUNT = "SELECT count(*) AS n FROM item"
SCOPE = Scope("engine", "contents", LIMITS)


class Executed:
    """A database that writes down what it executes."""

    def __init__(self, database: EpisodeDatabase) -> None:
        self._database = database
        self.statements: list[str] = []

    @property
    def scope(self) -> Scope | None:
        return self._database.scope

    def execute(self, sql: str, rows: int | None = None) -> Result:
        self.statements.append(sql)
        return self._database.execute(sql, rows)


@pytest.fixture(autouse=True)
def every_statement_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONG", -1.0)


@pytest.fixture
def cache() -> ResultCache:
    return ResultCache()


@pytest.fixture
def source(tmp_path: Path) -> Iterator[SqliteSource]:
    write(tmp_path / "shop" / "shop.sqlite", SCRIPT)
    yield SqliteSource(tmp_path)


def write(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(script)
    connection.close()


def asked(
    cache: ResultCache, source: SqliteSource, *statements: str, limits: Limits = LIMITS
) -> tuple[list[Result], list[str]]:
    """What one episode is given for each statement, and what it executes."""
    with source.open("shop", limits) as database:
        executed = Executed(database)
        return [cache.execute(executed, sql) for sql in statements], executed.statements


def rows(result: Result) -> list[Any]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)


@pytest.mark.parametrize(
    "sql",
    [
        COUNT,
        "SELECT name, round(price / 3, 2) FROM item WHERE name LIKE 'p%' ORDER BY length(name)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
        "PRAGMA table_info(item)",
        "SELECT sql FROM sqlite_schema",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT upper(printf('%5s', trim(name, 'p'))) FROM item",
        "SELECT nam FROM item",
        "SELECT 1; SELECT 2",
    ],
)
def test_what_depends_on_the_contents_alone_is_executed_once(
    cache: ResultCache, source: SqliteSource, sql: str
) -> None:
    first, executed = asked(cache, source, sql)
    assert executed == [sql]
    assert asked(cache, source, sql, sql) == (first * 2, [])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT random()",
        "SELECT eyes FROM dice",
        "SELECT day FROM today",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT time('no' || 'w')",
        "SELECT strftime('%Y', day) FROM item",  # a day may be 'now'
        "SELECT last_insert_rowid(), total_changes()",
        "SELECT random(), name FROM pragma_table_info('item')",  # it compiles something each time it runs
        "SELECT body FROM shaken_note",  # it compiles something once
        "SELECT abs(-9223372036854775808)",
        "PRAGMA journal_mode = off",
    ],
)
def test_what_may_change_is_executed_every_time(cache: ResultCache, source: SqliteSource, sql: str) -> None:
    assert asked(cache, source, sql, sql)[1] == [sql, sql]
    assert asked(cache, source, sql)[1] == [sql]


def test_a_quick_statement_is_executed_again(
    cache: ResultCache, source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONG", 99.0)
    assert asked(cache, source, COUNT, COUNT)[1] == [COUNT, COUNT]
    assert cache.size == 0


def test_an_episode_that_has_written_sees_its_own_contents(cache: ResultCache, source: SqliteSource) -> None:
    delete = "DELETE FROM item WHERE name = 'pen'"
    before = asked(cache, source, COUNT)[0]
    results, executed = asked(cache, source, COUNT, delete, COUNT, COUNT)
    assert executed == [delete, COUNT, COUNT]
    assert [rows(results[i]) for i in (0, 2, 3)] == [[(2,)], [(1,)], [(1,)]]
    assert asked(cache, source, COUNT) == (before, []), "and leaves nothing behind for others"


def test_a_restored_episode_sees_its_own_contents(cache: ResultCache, source: SqliteSource) -> None:
    asked(cache, source, COUNT)
    with source.open("shop", LIMITS) as database:
        pristine = database.checkpoint()
        assert not isinstance(pristine, QueryError)
        database.execute("DELETE FROM item")
        empty = database.checkpoint()
        assert not isinstance(empty, QueryError)
        assert database.restore(empty) is None
        assert rows(cache.execute(database, COUNT)) == [(0,)]
        assert database.restore(pristine) is None
        assert rows(cache.execute(database, COUNT)) == [(2,)]


@pytest.mark.parametrize("how", ["written in place", "replaced"])
def test_a_file_of_the_same_size_and_time_stamp_is_read_anew(
    cache: ResultCache, source: SqliteSource, how: str
) -> None:
    sql = "SELECT name FROM item"
    path = source.path("shop")
    os.utime(path, ns=(10**18, 10**18))
    digest = source.digest("shop")
    assert rows(asked(cache, source, sql)[0][0])[0] == ("pen",)
    before = path.stat()
    time.sleep(0.02)  # beyond the clock of the file system
    if how == "replaced":
        other = path.with_name("other")
        shutil.copyfile(path, other)
        write(other, "UPDATE item SET name = 'cap' WHERE name = 'pen'")
        other.replace(path)
    else:
        data = path.read_bytes()
        assert data.count(b"pen4") or data.count(b"pen")
        path.write_bytes(data.replace(b"pen", b"cap"))
    os.utime(path, ns=(10**18, 10**18))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    results, executed = asked(cache, source, sql)
    assert executed == [sql]
    assert rows(results[0])[0] == ("cap",)
    assert source.digest("shop") != digest


def test_a_digest_is_never_of_other_bytes_than_its_version(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file changes while it is read."""
    path = source.path("shop")
    read = _file.file_digest

    def slow(file: Path) -> str:
        digest = read(file)
        write(path, "DELETE FROM item")
        return digest

    monkeypatch.setattr(_file, "file_digest", slow)
    with pytest.raises(Exception, match="changed while it was read"):
        source.digest("shop")


def test_limits_and_rows_are_kept_apart(cache: ResultCache, source: SqliteSource) -> None:
    sql = "SELECT name FROM item ORDER BY name"
    asked(cache, source, sql)
    results, executed = asked(cache, source, sql, limits=Limits(seconds=5, rows=1))
    assert executed == [sql]
    assert rows(results[0]) == [("ink",)]
    with source.open("shop", LIMITS) as database:
        assert rows(cache.execute(database, sql, 1)) == [("ink",)]


def test_databases_of_one_name_are_kept_apart(
    cache: ResultCache, source: SqliteSource, tmp_path: Path
) -> None:
    asked(cache, source, COUNT)
    (tmp_path / "else").mkdir()
    write(tmp_path / "else" / "shop" / "shop.sqlite", "CREATE TABLE item (name)")
    results, executed = asked(cache, SqliteSource(tmp_path / "else"), COUNT)
    assert (rows(results[0]), executed) == ([(0,)], [COUNT])


def test_the_scope_of_a_pristine_episode_is_the_sources(source: SqliteSource) -> None:
    assert source.scope("shop", LIMITS) == SqliteSource(source.root).scope("shop", LIMITS)
    with source.open("shop", LIMITS) as database:
        assert database.scope == source.scope("shop", LIMITS)


def test_the_engine_is_told_by_its_build() -> None:
    connection = sqlite3.connect(":memory:")
    (source_id,) = connection.execute("SELECT sqlite_source_id()").fetchone()
    connection.close()
    assert source_id in _file.engine_build()


def key(name: str) -> Key:
    return Key(SCOPE, "query", None, name)


def result(*cells: Any, repeatable: bool = True) -> QueryResult:
    return QueryResult(("a",), [(cell,) for cell in cells], repeatable=repeatable)


def test_what_is_kept_nobody_can_change(cache: ResultCache) -> None:
    given = result(1, 2)
    cache.get(key("k"), lambda: given)
    given.rows.append((3,))  # type: ignore[attr-defined]
    for _ in range(2):
        found = cache.get(key("k"), lambda: result())
        assert rows(found) == [(1,), (2,)]
        found.rows.clear()  # type: ignore[attr-defined]


def test_methods_are_kept_apart(cache: ResultCache) -> None:
    cache.get(key("k"), lambda: result(1))
    assert rows(cache.get(key("k")._replace(method="execute"), lambda: result(2))) == [(2,)]


def test_a_result_of_a_database_that_changed_meanwhile_is_not_kept(cache: ResultCache) -> None:
    cache.get(key("k"), lambda: result(1), is_current=lambda: False)
    assert rows(cache.get(key("k"), lambda: result(2))) == [(2,)]


def test_a_known_value_that_does_not_suffice_is_made_anew(cache: ResultCache) -> None:
    cache.get(key("k"), lambda: result(1))
    assert rows(cache.get(key("k"), lambda: result(1, 2), reuse=lambda _: None)) == [(1,), (2,)]
    assert rows(cache.get(key("k"), lambda: result())) == [(1,), (2,)]


def test_what_the_caller_vouches_for_is_kept_but_no_error(cache: ResultCache) -> None:
    cache.get(key("k"), lambda: result(1, repeatable=False), lasts=lambda: True)
    assert rows(cache.get(key("k"), lambda: result(2))) == [(1,)]
    errors = [QueryError("timeout", str(number), 9.0) for number in range(2)]
    found: list[Result] = [cache.get(key("e"), errors.pop, lasts=lambda: True) for _ in range(2)]
    assert found == [QueryError("timeout", "1"), QueryError("timeout", "0")]


def test_memory_is_bounded_with_its_keys() -> None:
    cache = ResultCache(most_bytes=200_000)
    for number in range(1000):
        cache.get(key(f"{number}{'x' * 5_000}"), result)
    assert 100_000 < cache.size <= 200_000
    cache.get(key(f"999{'x' * 5_000}"), lambda: pytest.fail("the latest is not there"))
    assert rows(cache.get(key(f"900{'x' * 5_000}"), lambda: result(0))) == [(0,)]
    cache.clear()
    assert cache.size == 0


def test_what_was_used_last_stays() -> None:
    cache = ResultCache(most_bytes=100_000)
    for number in range(100):
        cache.get(key(str(number)), lambda: result("x" * 10_000))
        cache.get(key("0"), lambda: pytest.fail("it was forgotten") if number else result("x"))  # noqa: B023
    assert cache.size <= 100_000


def test_one_result_does_not_push_all_others_out() -> None:
    cache = ResultCache(most_bytes=100_000)
    cache.get(key("small"), lambda: result(1))
    cache.get(key("large"), lambda: result("x" * 60_000))
    assert rows(cache.get(key("small"), result)) == [(1,)]
    assert rows(cache.get(key("large"), result)) == []


def test_bytes_are_what_python_takes() -> None:
    """A cell of one character takes some 50 bytes, its row as much again."""
    cells = [(f"{number}"[:1] * 3,) for number in range(10_000)]
    taken = memory_of(QueryResult(("a",), cells))
    least = sys.getsizeof(cells) + sum(sys.getsizeof(row) + sys.getsizeof(row[0]) for row in cells)
    assert least < taken < least + 2_000
    assert memory_of(QueryResult(("a",), cells), 1_000) < taken
    assert memory_of({"k": [["x" * 1_000]]}) > 1_000


def test_a_fork_in_the_middle_of_a_look_up_does_not_lock_the_child() -> None:
    with module.result_cache._lock:
        child = os.fork()
        if child == 0:
            module.result_cache.get(key("k"), result)
            os._exit(0)
    deadline = time.monotonic() + 10
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)
