"""Scripts made to break or stall what comes after them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from growth import LINEAR, growth

from birdenv.databases import DatabaseState, Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite import SqliteDatabase
from birdenv.databases.sqlite._schema import read_table_text
from birdenv.sql import LONGEST_SQL, split_statements

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n"


def state_of(database: SqliteDatabase) -> DatabaseState:
    state = database.state()
    assert isinstance(state, DatabaseState)
    return state


def test_renaming_columns_of_everyones_queries_is_refused(database: SqliteDatabase) -> None:
    for name in ("full_column_names = 1", "short_column_names = 0"):
        error = database.execute(f"PRAGMA {name}")
        assert isinstance(error, QueryError)
        assert error.kind == "denied"
    assert isinstance(database.run(["PRAGMA full_column_names=1; SELECT 1"]), QueryError)
    assert "customers" in state_of(database).contents


def test_very_long_sql_is_refused_unread(database: SqliteDatabase) -> None:
    sql = "(" * (LONGEST_SQL + 1)
    for result in (database.execute(sql), database.query(sql), database.run([sql])):
        assert isinstance(result, QueryError)
        assert result.kind == "too_large"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("work", "text", "n"),
    [
        (split_statements, lambda n: "SELECT '" + " x" * 50 + "' a" + " a" * n, 8_000),
        (split_statements, lambda n: "x" * n + " a" * n, 16_000),
        (read_table_text, lambda n: f"CREATE TABLE t (a {'CHECK (1) ' * n})", 1_000),
    ],
)
def test_work_grows_with_the_text(work: Callable[[str], object], text: Callable[[int], str], n: int) -> None:
    assert growth(work, text, n) < LINEAR


@pytest.mark.slow
def test_a_script_and_a_state_have_one_deadline(source: SqliteSource) -> None:
    with source.open("shop", Limits(seconds=0.1)) as database:
        began = time.monotonic()
        slow = ENDLESS.replace("FROM n)", "FROM n LIMIT 60000)")
        error = database.run([f"{slow};" * 5_000])
        assert isinstance(error, QueryError)
        assert error.kind == "timeout"
        database.run(["".join(f"CREATE VIEW v{i} AS {ENDLESS};" for i in range(60))])
        contents = state_of(database).contents
        assert isinstance(contents["v59"], QueryError)
        assert time.monotonic() - began < 4


def test_a_state_has_one_byte_budget(source: SqliteSource) -> None:
    with source.open("shop", Limits(bytes=3_500)) as database:
        database.run([f"CREATE VIEW z{i} AS SELECT printf('%0500d', 1) AS a" for i in range(6)])
        contents = state_of(database).contents
        assert isinstance(contents["z0"], QueryResult)
        assert isinstance(contents["z5"], QueryError)
        assert contents["z5"].kind == "too_large"


def test_contents_are_not_read_if_the_schema_differs(database: SqliteDatabase) -> None:
    before = state_of(database)
    assert database.state(before) == before
    database.run(["CREATE TABLE another (a)"])
    after = database.state(before)
    assert isinstance(after, DatabaseState)
    assert after.schema != before.schema
    assert after.contents == {}


def test_names_fold_as_sqlite_folds_them(opened: Callable[[str], SqliteDatabase]) -> None:
    database = opened("CREATE TABLE bookmarks (a); INSERT INTO bookmarks VALUES (1)")
    before = state_of(database)
    database.run(['CREATE TABLE "boo\u212amarks" (a); INSERT INTO "boo\u212amarks" VALUES (2)'])
    after = state_of(database)
    assert after.contents["bookmarks"] == before.contents["bookmarks"]
    assert len(after.contents) == len(after.schema) == 2


def test_uncommitted_work_is_lost(database: SqliteDatabase) -> None:
    before = state_of(database)
    database.run(["BEGIN; DELETE FROM customers; CREATE TABLE t (a)"])
    assert database.state() == before


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a UNIQUE ON CONFLICT IGNORE", "a UNIQUE", False),
        ("a UNIQUE ON CONFLICT ABORT", "a UNIQUE", True),
        ("a UNIQUE ON CONFLICT IGNORE", "a, unique ( A ) on  conflict ignore", True),
        ("a NOT NULL ON CONFLICT REPLACE DEFAULT 1", "a DEFAULT 1 NOT NULL", False),
        ("a PRIMARY KEY ON CONFLICT FAIL", "a, CONSTRAINT x PRIMARY KEY (a) ON CONFLICT FAIL", True),
        ("a REFERENCES u (b) DEFERRABLE INITIALLY DEFERRED", "a REFERENCES u (b)", False),
        ("a REFERENCES u (b) NOT DEFERRABLE INITIALLY DEFERRED", "a REFERENCES u (b)", True),
        (
            "a REFERENCES u (b) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
            "a, FOREIGN KEY (a) REFERENCES U(b) ON DELETE CASCADE deferrable initially deferred",
            True,
        ),
    ],
)
def test_conflict_clauses_and_deferral(
    opened: Callable[[str], SqliteDatabase], one: str, other: str, same: bool
) -> None:
    schemas = [state_of(opened(f"CREATE TABLE t ({text})")).schema for text in (one, other)]
    assert (schemas[0] == schemas[1]) is same


def test_counters_of_autoincrement_count(opened: Callable[[str], SqliteDatabase]) -> None:
    database = opened("CREATE TABLE T (a INTEGER PRIMARY KEY AUTOINCREMENT)")
    before = state_of(database)
    database.run(["INSERT INTO t VALUES (7); DELETE FROM t"])
    assert "sqlite_sequence" not in before.contents
    counters = state_of(database).contents["sqlite_sequence"]
    assert isinstance(counters, QueryResult)
    assert list(counters.rows) == [("t", 7)]
