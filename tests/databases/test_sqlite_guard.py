"""Hostile SQL: what it is answered, that it stops in time, and that nothing is written anywhere.

The names S01-S39 number the inputs; what only a killed process can stop (S08's time) is not here.
"""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from pathlib import Path

import pytest
from database_files import fingerprint

from birdenv.databases import Limits, QueryError, QueryResult, Result, SqliteDatabase, SqliteSource
from birdenv.databases import _sqlite_connection as connections

ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
MANY = f"{ENDLESS[:-1]} LIMIT 3000)"


def kind(result: Result) -> str:
    return result.kind if isinstance(result, QueryError) else "ok"


def rows(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)


# --- time (S01-S04) --------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(
    "sql",
    [
        f"{ENDLESS} SELECT count(*) FROM c",
        f"{ENDLESS} SELECT x FROM c",
        f"{ENDLESS} SELECT x FROM c WHERE x < 0",
        f"{MANY} SELECT count(*) FROM c a, c b, c d, c e, c f",
        f"{ENDLESS} SELECT x FROM c ORDER BY x % 17",
        f"{ENDLESS} SELECT group_concat(x) OVER (ORDER BY x) FROM c",
    ],
)
def test_endless_statements_stop_at_the_deadline(source: SqliteSource, sql: str, copied: bool) -> None:
    with source.open("shop", Limits(seconds=0.5)) as database:
        if copied:
            database.execute("CREATE TABLE moved (a)")
        for run in (database.execute, database.query):
            began = time.monotonic()
            result = run(sql)
            assert time.monotonic() - began < 1.5
            assert isinstance(result, QueryError)
            assert (result.kind, result.message) == ("timeout", "stopped after 0.5 s")
            assert 0.5 <= result.elapsed < 1.5
        assert rows(database.query("SELECT count(*) FROM customers")) == [(3,)], "usable afterwards"


@pytest.mark.parametrize(
    "sql",
    [
        f"CREATE TABLE t AS {ENDLESS} SELECT x FROM c",
        f"INSERT INTO orders (total) {ENDLESS} SELECT x FROM c",
        f"UPDATE orders SET total = (SELECT count(*) FROM ({ENDLESS} SELECT x FROM c))",
    ],
)
def test_endless_writes_stop_and_leave_nothing(source: SqliteSource, sql: str) -> None:
    with source.open("shop", Limits(seconds=0.5)) as database:
        before = database.state()
        assert kind(database.execute(sql)) == "timeout"
        after = database.state()
    assert before.schema == after.schema
    assert {name: rows(result) for name, result in before.contents.items()} == {
        name: rows(result) for name, result in after.contents.items()
    }


def test_the_deadline_covers_one_long_function_call(source: SqliteSource) -> None:
    with source.open("shop", Limits(seconds=0.01)) as database:
        assert kind(database.execute("SELECT length(printf('%.*c', 9000000, 'x'))")) == "timeout"


def test_ctrl_c_is_not_swallowed(source: SqliteSource) -> None:
    with source.open("shop", Limits(seconds=20)) as database:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            database.execute(f"{ENDLESS} SELECT count(*) FROM c")
        assert time.monotonic() - began < 5
        assert rows(database.execute("SELECT 1")) == [(1,)]


# --- size (S02, S05-S13, S36) ----------------------------------------------------------------------------


def test_row_caps(database: SqliteDatabase) -> None:
    for run in (database.execute, database.query):
        three = run("SELECT id FROM customers", 3)
        assert isinstance(three, QueryResult)
        assert (len(three.rows), three.truncated) == (3, False)
        two = run("SELECT id FROM customers", 2)
        assert isinstance(two, QueryResult)
        assert (len(two.rows), two.truncated) == (2, True)
        none = run("SELECT id FROM customers", 0)
        assert isinstance(none, QueryResult)
        assert (none.columns, list(none.rows), none.truncated) == (("id",), [], True)
        with pytest.raises(ValueError, match="negative"):
            run("SELECT 1", -1)


def test_the_limit_on_rows_holds_whatever_is_asked(source: SqliteSource) -> None:
    with source.open("shop", Limits(rows=2)) as database:
        result = database.query("SELECT id FROM customers", 1000)
        assert isinstance(result, QueryResult)
        assert (len(result.rows), result.truncated) == (2, True)
        assert len(rows(database.query(f"{ENDLESS} SELECT x FROM c"))) == 2


def test_the_limit_on_bytes(source: SqliteSource) -> None:
    with source.open("shop", Limits(bytes=100_000)) as database:
        assert kind(database.query("SELECT printf('%90000s', 'x')")) == "ok"
        for cell in ("printf('%100001s', 'x')", "zeroblob(100001)"):
            assert kind(database.query(f"SELECT {cell}")) == "too_large"
        assert kind(database.query(f"{MANY} SELECT x, printf('%100s', x) FROM c")) == "too_large"
        assert kind(database.query(f"{ENDLESS} SELECT x FROM c")) == "too_large"


def test_memory_bombs_are_stopped_before_they_grow(database: SqliteDatabase) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bombs = [
        "SELECT randomblob(1000000000)",  # S05
        "SELECT hex(zeroblob(400000000))",  # S06
        "SELECT replace(replace(hex(zeroblob(999)), '0', hex(zeroblob(99))), '0', hex(zeroblob(99)))",  # S09
        f"{MANY} SELECT group_concat(hex(zeroblob(500000))) FROM c",  # S10
        "SELECT length(zeroblob(1000000000))",  # S11
    ]
    for run in (database.execute, database.query):
        for sql in bombs:
            assert kind(run(sql)) == "too_large", sql
        assert rows(run("SELECT printf('%999999999d', 1)")) == [(None,)]  # S07
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert grown_kib < 200 * 1024


def test_many_wide_rows_are_counted_one_by_one(source: SqliteSource) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with source.open("shop", Limits(bytes=20_000_000)) as database:
        assert kind(database.query(f"{ENDLESS} SELECT zeroblob(9000000) FROM c")) == "too_large"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 200 * 1024


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "too_large"),  # S13
        ("SELECT json('" + "[" * 100_000 + "')", "engine"),
        ("SELECT " + "1+" * 300 + "1", "too_large"),
        (" UNION ALL ".join(["SELECT 1"] * 101), "too_large"),
        ("SELECT max(" + ",".join("1" * 101) + ")", "too_large"),
        ("SELECT 'a' LIKE '" + "a" * 501 + "'", "too_large"),  # S12
        ("SELECT '" + "a" * 1_000_000 + "'", "too_large"),
        ("SELECT " + ",".join(["1"] * 2001), "too_large"),
        ("SELECT " + ",".join(["1"] * 2000), "ok"),  # S36
        ("SELECT 1 AS a, 2 AS a, zeroblob(1000000)", "ok"),
        ("SELECT 'a' LIKE '%" + "a" * 400 + "'", "ok"),
        (" UNION ALL ".join(["SELECT 1"] * 100), "ok"),
    ],
)
def test_limits_on_one_text(database: SqliteDatabase, sql: str, expected: str) -> None:
    assert kind(database.query(sql)) == expected
    assert kind(database.execute(sql)) == expected


def test_a_private_copy_cannot_grow_without_bound(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GROWTH_BYTES", 2**20)
    fill = f"{ENDLESS} SELECT x, printf('%1000s', x) FROM c"
    with source.open("shop") as database:
        for create in ("CREATE TABLE big AS", "CREATE TEMP TABLE big AS"):
            assert kind(database.execute(f"{create} {fill}")) == "too_large"
        for place in (":memory:", ""):
            assert kind(database.execute(f"ATTACH '{place}' AS extra")) == "ok"
            assert kind(database.execute(f"CREATE TABLE extra.big AS {fill}")) == "too_large"
            assert kind(database.execute("DETACH extra")) == "ok"
        assert kind(database.execute("CREATE TABLE small AS SELECT zeroblob(500000) AS a")) == "ok"


# --- reach (S14-S25) -------------------------------------------------------------------------------------


def hostile_script(shop: Path, elsewhere: Path) -> list[str]:
    return [
        f"ATTACH '{elsewhere}' AS x",
        f"ATTACH 'file:{elsewhere}?mode=rwc' AS x",
        f"ATTACH '{shop}' AS x",
        f"ATTACH 'file:{shop}?mode=rw' AS x",
        f"ATTACH '{elsewhere}' || '' AS x",
        f'ATTACH "{elsewhere}" AS x',
        "ATTACH (SELECT name FROM customers) AS x",
        f"VACUUM INTO '{elsewhere}'",
        f"VACUUM main INTO '{elsewhere}'",
        f"VACUUM INTO '{elsewhere}' || ''",
        "SELECT load_extension('libc.so.6')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT fts3_tokenizer('simple', x'00')",
        f"PRAGMA temp_store_directory = '{elsewhere.parent}'",
        f"PRAGMA data_store_directory = '{elsewhere.parent}'",
        "PRAGMA soft_heap_limit = 1",
        "PRAGMA hard_heap_limit = 1",
        "PRAGMA writable_schema = 1",
        "PRAGMA max_page_count = 1000000000",
        "PRAGMA mmap_size = 1000000000",
        "PRAGMA temp_store = 2",
        "PRAGMA cache_size = -10000000",
        "PRAGMA page_size = 65536",
        "PRAGMA threads = 8",
        "PRAGMA journal_mode = off",
        "PRAGMA schema_version = 1",
        "PRAGMA no_such_pragma",
        "CREATE VIRTUAL TABLE v USING dbstat",
        "CREATE VIRTUAL TABLE v USING no_such_module",
        "CREATE VIRTUAL TABLE v USING fts3tokenize",
    ]


@pytest.mark.parametrize("copied", [False, True])
def test_what_reaches_beyond_the_copy_is_denied_in_a_sentence(
    source: SqliteSource, tmp_path: Path, copied: bool
) -> None:
    shop, elsewhere = source.path("shop"), tmp_path / "elsewhere.db"
    before, listing = fingerprint(shop), sorted(tmp_path.rglob("*"))
    with source.open("shop") as database:
        if copied:
            database.execute("CREATE TABLE moved (a)")
        for sql in hostile_script(shop, elsewhere):
            for run in (database.execute, database.query):
                result = run(sql)
                assert kind(result) == "denied", (sql, result)
                assert isinstance(result, QueryError)
                assert "allowed" in result.message or "can be read but not set" in result.message
                assert str(tmp_path) not in result.message
    assert fingerprint(shop) == before
    assert sorted(tmp_path.rglob("*")) == listing


def test_functions_of_the_command_line_tool_do_not_exist(database: SqliteDatabase) -> None:
    for call in ("readfile('/etc/passwd')", "writefile('x', 'y')", "edit('x')", "lsdir('/')"):
        assert kind(database.execute(f"SELECT {call}")) in ("missing", "denied")


def test_denied_functions_are_found_inside_views_and_subqueries(database: SqliteDatabase) -> None:
    pointer = "SELECT fts3_tokenizer('simple') AS a"
    for run in (database.query, database.execute):
        assert kind(run(f"WITH c AS ({pointer}) SELECT a FROM (SELECT a FROM c)")) == "denied"
    database.execute(f"CREATE VIEW pointer AS {pointer}")
    for run in (database.query, database.execute):
        assert kind(run("SELECT * FROM pointer")) in ("denied", "engine")  # SQLite refuses it too


def test_no_path_of_the_host_is_shown(source: SqliteSource) -> None:
    with source.open("shop") as database:
        assert kind(database.query("SELECT file FROM pragma_database_list")) == "denied"
        assert rows(database.execute("PRAGMA database_list"))[0] == (0, "main", "")
        assert rows(database.execute("SELECT file FROM pragma_database_list"))[0] == ("",)


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO customers VALUES (7, 'X', NULL)",
        "UPDATE customers SET city = 'X'",
        "DELETE FROM customers",
        "REPLACE INTO customers VALUES (1, 'X', NULL)",
        "DROP TABLE orders",
        "CREATE TABLE t (a)",
        "ALTER TABLE customers ADD COLUMN a",
        "CREATE INDEX i ON customers (city)",
        "DROP VIEW spending",
        "CREATE TEMP TABLE t (a)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "BEGIN",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "SAVEPOINT s",
        "RELEASE s",
        "ROLLBACK",
        "END",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "ATTACH ':memory:' AS m",
        "DETACH m",
        "PRAGMA user_version = 3",
        "PRAGMA table_info(customers)",
        "PRAGMA query_only = 0",
        "EXPLAIN SELECT 1",
        "EXPLAIN QUERY PLAN SELECT 1",
        "INSERT INTO customers VALUES (7, 'X', NULL) RETURNING id",
        "WITH a AS (SELECT 1) DELETE FROM customers",
        "WITH a AS (SELECT 1) INSERT INTO orders (id) SELECT 99",
        "WITH a AS (SELECT 1) UPDATE customers SET city = 'X' RETURNING id",
        "/* SELECT */ DELETE FROM customers",
        "INSERT INTO notes (notes) VALUES ('optimize')",
    ],
)
def test_a_query_only_reads(database: SqliteDatabase, sql: str, copied: bool) -> None:
    """S14, S19-S22, S34, S35."""
    if copied:
        database.execute("CREATE TABLE moved (a)")
        database.execute(sql)  # allowed before as a statement: still refused as a query
        database.execute("ROLLBACK")
    before = database.state()
    assert kind(database.query(sql)) == "denied"
    assert database.state().schema == before.schema
    assert rows(database.query("SELECT * FROM customers")) == rows(before.contents["customers"])
    assert kind(database.execute("COMMIT")) == "engine", "no transaction was begun"


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("", "syntax"),
        ("  \n", "syntax"),
        (";", "syntax"),
        ("-- a", "syntax"),
        ("/* a */ ;", "syntax"),  # S28
        ("None", "syntax"),
        ("NULL", "syntax"),
        ("I cannot answer that.", "syntax"),  # S29
        ("SELECT ?", "syntax"),
        ("SELECT :a", "syntax"),
        ("SELECT $x", "syntax"),
        ("SELECT @v", "syntax"),  # S30
        ("SELECT ?1, ?1", "syntax"),
        ("SELECT ?9999", "syntax"),
        ("SELECT '\0'", "syntax"),
        ("SELECT 1\0", "syntax"),
        ("SELECT '\ud800'", "syntax"),  # S31
        ("SELECT 1; SELECT 2", "syntax"),
        ("SELECT 1;;", "syntax"),  # S27
        ("SELECT 1; DROP TABLE customers", "syntax"),
        ("SELEC 1", "syntax"),
        ("SELECT 'a", "syntax"),
        ("SELECT (1", "syntax"),
        ("(SELECT 1)", "syntax"),
        ("SELECT * FROM nowhere", "missing"),
        ("SELECT nonesuch FROM customers", "missing"),
        ("SELECT nonesuch()", "missing"),
        ("SELECT * FROM no_schema.t", "missing"),
        ("SELECT name COLLATE nonesuch FROM customers ORDER BY 1", "missing"),
        ("SELECT abs(1, 2)", "engine"),
        ("SELECT abs(-9223372036854775808)", "engine"),
        ("SELECT id FROM customers, orders", "engine"),
        ("SELECT sum(sum(id)) FROM customers", "engine"),
    ],
)
def test_kinds_of_errors(database: SqliteDatabase, sql: str, expected: str, copied: bool) -> None:
    if copied:
        database.execute("CREATE TABLE moved (a)")
    for run in (database.query, database.execute):
        result = run(sql)
        assert kind(result) == expected, result
        assert isinstance(result, QueryError)
        assert result.message


def test_kinds_of_errors_of_writes(database: SqliteDatabase) -> None:
    expected = {
        "INSERT INTO customers VALUES (1, 'X', NULL)": "constraint",
        "INSERT INTO customers VALUES (9, 'Ada', NULL)": "constraint",
        "INSERT INTO customers (id) VALUES (9)": "constraint",
        "INSERT INTO customers VALUES ('a', 'X', NULL)": "constraint",
        "UPDATE orders SET total = -1": "constraint",
        "INSERT INTO customers (nonesuch) VALUES (1)": "missing",
        "DROP TABLE nonesuch": "missing",
        "DROP INDEX nonesuch": "missing",
        "ROLLBACK TO nonesuch": "missing",
        "INSERT INTO customers VALUES (1)": "engine",
        "CREATE TABLE customers (a)": "engine",
        "UPDATE sqlite_schema SET sql = ''": "engine",
    }
    assert {sql: kind(database.execute(sql)) for sql in expected} == expected
