"""A statement that comes again is shown from memory, but only where it cannot show anything else."""

from __future__ import annotations

import os
import sqlite3
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from birdenv._sightings import Sightings
from birdenv.databases import EpisodeDatabase, Isolation, Limits, QueryError, Result, SqliteSource
from birdenv.tasks.sql import _result_text as _screen
from birdenv.tasks.sql._result_text import Screen

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


class Executed:
    """A database that writes down what it executes."""

    def __init__(self, database: EpisodeDatabase) -> None:
        self._database = database
        self.statements: list[str] = []
        self.contents = database.contents

    @property
    def is_private(self) -> bool:
        return self._database.is_private

    def execute(self, sql: str, rows: int | None = None) -> Result:
        self.statements.append(sql)
        return self._database.execute(sql, rows)


@pytest.fixture(params=["inline", "process"])
def source(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SqliteSource]:
    """Every statement takes long enough to be remembered at once."""
    monkeypatch.setattr(_screen, "_LONG", -1.0)
    isolation: Isolation = request.param
    write(tmp_path / "shop" / "shop.sqlite", SCRIPT)
    _screen._shown.forget()
    yield SqliteSource(tmp_path, isolation)
    _screen._shown.forget()


def write(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(script)
    connection.close()


def shown(source: SqliteSource, *statements: str, limits: Limits = LIMITS) -> tuple[list[str], list[str]]:
    """What one episode shows for each statement, and what it executes."""
    with source.open("shop", limits) as database:
        executed = Executed(database)
        screen = Screen(executed, limits)  # type: ignore[arg-type]
        return [screen.show(sql) for sql in statements], executed.statements


@pytest.mark.parametrize(
    "sql",
    [
        COUNT,
        "SELECT name, round(price / 3, 2) FROM item WHERE name LIKE 'p%' ORDER BY length(name)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
        "PRAGMA table_info(item)",
        "SELECT sql FROM sqlite_schema",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT name, rank() OVER (ORDER BY price) FROM item",
        "SELECT upper(printf('%5s', trim(name, 'p'))) FROM item",
    ],
)
def test_what_depends_on_the_contents_alone_is_executed_once(source: SqliteSource, sql: str) -> None:
    first, executed = shown(source, sql)
    assert executed == [sql]
    assert "error" not in first[0]
    assert shown(source, sql, sql) == (first * 2, [])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT random()",
        "SELECT hex(randomblob(8)) FROM item",
        "SELECT eyes FROM dice",
        "SELECT day FROM today",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT strftime('%s', 'now')",
        "SELECT strftime('%Y', day) FROM item",  # a day may be 'now'
        "SELECT name FROM item ORDER BY random()",
        "SELECT last_insert_rowid(), total_changes()",
        "SELECT body FROM note WHERE note MATCH (CASE WHEN random() > 0 THEN 'a' ELSE 'zz:a' END)",
        "SELECT random(), name FROM pragma_table_info('item')",  # it compiles something each time it runs
        "SELECT body FROM shaken_note",  # it compiles something once
        "SELECT n.body FROM item, shaken_note AS n WHERE n.rowid = 1",
    ],
)
def test_what_may_change_is_executed_every_time(source: SqliteSource, sql: str) -> None:
    assert shown(source, sql, sql)[1] == [sql, sql]
    assert shown(source, sql)[1] == [sql]


def test_a_short_statement_is_remembered_when_it_comes_again(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_screen, "_LONG", 99.0)
    monkeypatch.setattr(_screen, "sightings", Sightings())
    other = f"{COUNT} WHERE price > 5"
    assert shown(source, COUNT, other)[1] == [COUNT, other]
    assert shown(source, COUNT)[1] == [COUNT]
    assert shown(source, COUNT, other, COUNT, other)[1] == [other]


@pytest.mark.parametrize("sql", ["SELECT nam FROM item", "SELEC", "SELECT 1; SELECT 2"])
def test_what_does_not_compile_is_tried_once(source: SqliteSource, sql: str) -> None:
    first, executed = shown(source, sql)
    assert first[0].startswith("SQL error")
    assert executed == [sql]
    assert shown(source, sql, sql) == (first * 2, [])


@pytest.mark.parametrize(
    "sql", ["SELECT abs(-9223372036854775808)", "PRAGMA journal_mode = off", "ATTACH 'x' AS x"]
)
def test_other_errors_are_not_remembered(source: SqliteSource, sql: str) -> None:
    (first, second), executed = shown(source, sql, sql)
    assert first == second
    assert first.startswith("SQL error")
    assert executed == [sql, sql]


def test_an_episode_that_has_written_sees_its_own_contents(source: SqliteSource) -> None:
    before = shown(source, COUNT)[0]
    texts, executed = shown(source, COUNT, "DELETE FROM item WHERE name = 'pen'", COUNT, COUNT)
    assert executed == ["DELETE FROM item WHERE name = 'pen'", COUNT, COUNT]
    assert texts[0] == before[0] == "n\n-\n2\n(1 row)"
    assert texts[2:] == ["n\n-\n1\n(1 row)"] * 2
    assert shown(source, COUNT) == (before, []), "and leaves nothing behind for others"


def test_a_restored_episode_sees_its_own_contents(source: SqliteSource) -> None:
    before = shown(source, COUNT)[0]
    with source.open("shop", LIMITS) as database:
        pristine = database.checkpoint()
        assert not isinstance(pristine, QueryError)
        database.execute("DELETE FROM item")
        empty = database.checkpoint()
        assert not isinstance(empty, QueryError)
    with source.open("shop", LIMITS) as database:
        screen = Screen(database, LIMITS)
        assert database.restore(empty) is None
        assert screen.show(COUNT) == "n\n-\n0\n(1 row)"
        assert database.restore(pristine) is None
        assert [screen.show(COUNT)] == before


def test_a_file_that_has_changed_is_read_anew(source: SqliteSource) -> None:
    shown(source, COUNT)
    path = source.path("shop")
    write(path, "INSERT INTO item VALUES ('cap', 1, '2024-01-04')")
    os.utime(path, ns=(1, 1))
    texts, executed = shown(source, COUNT)
    assert (texts, executed) == (["n\n-\n3\n(1 row)"], [COUNT])


def test_limits_are_kept_apart(source: SqliteSource) -> None:
    sql = "SELECT name FROM item ORDER BY name"
    shown(source, sql)
    texts, executed = shown(source, sql, limits=Limits(seconds=5, rows=1))
    assert executed == [sql]
    assert texts[0].endswith("(first 1 of more than 1 rows)")


def test_databases_of_one_name_are_kept_apart(source: SqliteSource, tmp_path: Path) -> None:
    shown(source, COUNT)
    (tmp_path / "else").mkdir()
    write(tmp_path / "else" / "shop" / "shop.sqlite", "CREATE TABLE item (name)")
    assert shown(SqliteSource(tmp_path / "else"), COUNT) == (["n\n-\n0\n(1 row)"], [COUNT])


def test_memory_is_bounded(source: SqliteSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_screen, "_MOST_CHARACTERS", 20_000)
    sql = "SELECT name, '{}' FROM item"
    statements = [sql.format(str(number) * 20) for number in range(1000)]
    shown(source, *statements)
    tracemalloc.start()
    shown(source, *statements)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
    assert shown(source, statements[-1])[1] == [], "the latest is there"
    assert shown(source, statements[0])[1] == [statements[0]]
