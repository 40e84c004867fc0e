"""An episode database: isolation from its source, and the full language inside the episode."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest
from database_files import fingerprint, write_database
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import examples

from birdenv.databases import Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.databases.sqlite import SqliteDatabase


def rows(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)


# --- isolation -------------------------------------------------------------------------------------------

LIVELY = """
CREATE TABLE extra (a); INSERT INTO extra VALUES (1); BEGIN; UPDATE customers SET name = name || '!'; COMMIT;
SAVEPOINT s; DELETE FROM orders; RELEASE s; DROP VIEW spending;
PRAGMA user_version = 7; PRAGMA foreign_keys = on;
PRAGMA case_sensitive_like = on; CREATE TEMP TABLE customers_seen AS SELECT * FROM customers;
PRAGMA journal_mode = wal; PRAGMA wal_checkpoint; ALTER TABLE customers ADD COLUMN age; DROP TABLE orders;
CREATE TRIGGER t AFTER INSERT ON customers BEGIN DELETE FROM extra; END; ATTACH ':memory:' AS m;
ANALYZE; REINDEX;
CREATE TABLE m.t (a); DETACH m; VACUUM; BEGIN; DELETE FROM customers;
"""


def test_the_source_is_untouched_and_the_next_episode_starts_from_it(source: SqliteSource) -> None:
    path = source.path("shop")
    before = fingerprint(path)
    with source.open("shop") as first:
        fresh = first.state()
        result = first.run([LIVELY])
        assert isinstance(result, QueryResult), result
        assert rows(first.query("SELECT count(*) FROM customers")) == [(0,)]
        with source.open("shop") as second:
            assert second.state() == fresh
            assert rows(second.execute("PRAGMA user_version")) == [(0,)]
            assert rows(second.execute("PRAGMA foreign_keys")) == [(0,)]
            assert rows(second.execute("SELECT 'a' LIKE 'A'")) == [(1,)]
            assert rows(second.execute("SELECT * FROM sqlite_temp_schema")) == []
    assert fingerprint(path) == before


def test_reading_does_not_copy_and_the_first_write_does(source: SqliteSource) -> None:
    with source.open("shop") as database:
        for sql in (
            "SELECT * FROM customers",
            "PRAGMA table_info(customers)",
            "EXPLAIN QUERY PLAN SELECT 1",
            "VALUES (1)",
            "SELECT * FROM pragma_index_list('orders')",
            "SELECT * FROM nowhere",
            "SELEC",
            "PRAGMA hard_heap_limit = 1",
            "SELECT * FROM notes WHERE notes MATCH 'paid'",
            "WITH RECURSIVE c(x) AS (VALUES (1)) SELECT * FROM c",
        ):
            database.execute(sql)
            assert not database.is_private, sql
        database.query("DELETE FROM customers")
        assert not database.is_private, "a query never moves the episode"
        database.execute("BEGIN")
        assert database.is_private


def test_the_statement_that_moves_the_episode_runs_once(database: SqliteDatabase) -> None:
    result = database.execute("INSERT INTO customers (name) VALUES ('New') RETURNING id, name")
    assert isinstance(result, QueryResult)
    assert result.columns == ("id", "name")
    assert list(result.rows) == [(4, "New")]
    assert rows(database.execute("SELECT total_changes()")) == [(1,)]


def test_close_is_idempotent_and_a_closed_database_says_so(source: SqliteSource) -> None:
    database = source.open("shop")
    database.execute("CREATE TABLE t (a)")
    database.close()
    database.close()
    for use in (lambda: database.execute("SELECT 1"), lambda: database.query("SELECT 1"), database.state):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_a_source_with_damaged_pages_gives_errors_as_values(tmp_path: Path) -> None:
    path = write_database(tmp_path, "bad", "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000));")
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)
    with SqliteSource(tmp_path).open("bad") as database:
        assert isinstance(database.execute("SELECT * FROM t"), QueryError)
        assert isinstance(database.execute("DELETE FROM t"), QueryError)
        assert rows(database.execute("SELECT 1")) == [(1,)]


# --- the language inside an episode ----------------------------------------------------------------------


def test_transactions_work_as_typed(database: SqliteDatabase) -> None:
    count = "SELECT count(*) FROM customers"
    database.run(["BEGIN; DELETE FROM customers;"])
    assert rows(database.execute(count)) == [(0,)]
    database.execute("ROLLBACK")
    assert rows(database.execute(count)) == [(3,)]
    database.run(["BEGIN", "DELETE FROM customers WHERE id = 1", "SAVEPOINT s", "DELETE FROM customers"])
    assert rows(database.execute(count)) == [(0,)]
    database.run(["ROLLBACK TO s", "COMMIT"])
    assert rows(database.execute(count)) == [(2,)]
    error = database.execute("COMMIT")
    assert isinstance(error, QueryError)
    assert error.message == "cannot commit - no transaction is active"


def test_temporary_tables_triggers_and_vacuum(database: SqliteDatabase) -> None:
    script = """
    CREATE TEMP TABLE seen (id); CREATE TABLE log (what);
    CREATE TRIGGER log_it AFTER INSERT ON customers BEGIN INSERT INTO log VALUES ('new; ' || new.name); END;
    INSERT INTO customers (name) VALUES ('Alan'); INSERT INTO seen SELECT id FROM customers;
    VACUUM; VACUUM main;
    """
    assert isinstance(database.run([script]), QueryResult)
    assert rows(database.query("SELECT * FROM log")) == [("new; Alan",)]
    assert rows(database.query("SELECT count(*) FROM seen")) == [(4,)]


def test_what_a_statement_reports(database: SqliteDatabase) -> None:
    update = database.execute("UPDATE customers SET city = 'Rome' WHERE id < 3")
    assert isinstance(update, QueryResult)
    assert (update.columns, list(update.rows), update.rows_affected) == ((), [], 2)
    create = database.execute("CREATE TABLE t (a)")
    assert isinstance(create, QueryResult)
    assert (create.columns, create.rows_affected) == ((), -1)
    select = database.execute("SELECT id AS a, id AS a, 1 + 1 FROM customers WHERE 0")
    assert isinstance(select, QueryResult)
    assert (select.columns, list(select.rows), select.rows_affected) == (("a", "a", "1 + 1"), [], -1)
    assert select.elapsed > 0


def test_returning_with_a_row_cap_changes_every_row(database: SqliteDatabase) -> None:
    result = database.execute("UPDATE customers SET city = 'Rome' RETURNING id", 1)
    assert isinstance(result, QueryResult)
    assert (len(result.rows), result.truncated) == (1, True)
    assert rows(database.query("SELECT DISTINCT city FROM customers")) == [("Rome",)]


@pytest.mark.parametrize("copied", [False, True])
def test_table_functions_and_virtual_tables_can_be_read(database: SqliteDatabase, copied: bool) -> None:
    """S26; also after a rollback has thrown SQLite's idea of the schema away."""
    if copied:
        database.run(["CREATE VIRTUAL TABLE temp.brief USING fts5 (body); INSERT INTO brief VALUES ('x')"])
        database.run(["BEGIN; CREATE TABLE t (a); CREATE VIRTUAL TABLE more USING fts5 (body); ROLLBACK;"])
        assert rows(database.query("SELECT body FROM brief WHERE brief MATCH 'x'")) == [("x",)]
    for run in (database.query, database.execute):
        assert rows(run("SELECT value FROM json_each('[1, 2]')")) == [(1,), (2,)]
        assert rows(run("SELECT count(*) FROM json_tree('[1, 2]')")) == [(3,)]
        assert rows(run("SELECT name FROM pragma_table_info('customers')")) == [("id",), ("name",), ("city",)]
        joined = (
            "SELECT i.name FROM sqlite_schema s, pragma_index_info(s.name) i WHERE s.name LIKE 'orders_by%'"
        )
        assert rows(run(joined)) == [("customer",)]
        for name in ("table_xinfo", "table_list", "index_list", "index_xinfo", "foreign_key_list"):
            rows(run(f"SELECT * FROM pragma_{name}('orders')"))
        assert rows(run("SELECT body FROM notes WHERE notes MATCH 'paid'")) == [("paid",)]
        assert rows(run("SELECT id FROM boxes WHERE low <= 1 AND high >= 1")) == [(1,)]
        assert len(rows(run("SELECT * FROM sqlite_master WHERE type = 'view'"))) == 1


def test_full_text_and_spatial_tables_can_be_made(database: SqliteDatabase) -> None:
    for module in ("fts3", "fts4", "fts5", "FTS5"):
        assert isinstance(
            database.execute(f"CREATE VIRTUAL TABLE v{module} USING {module} (body)"), QueryResult
        )
        database.execute(f"INSERT INTO v{module} VALUES ('hello world')")
        assert rows(database.query(f"SELECT * FROM v{module} WHERE v{module} MATCH 'world'")) == [
            ("hello world",)
        ]
        assert isinstance(database.execute(f"DROP TABLE v{module}"), QueryResult)


def test_values_keep_their_types(database: SqliteDatabase) -> None:
    """S32, S33: what Python's sqlite3 would raise on, or change."""
    sql = "SELECT 1, 1.0, 'é', x'00ff', NULL, 9e999, -9e999, 0.0 / 0, CAST(x'ff41' AS TEXT)"
    values = rows(database.query(f"{sql}, 'a' || char(0) || 'b'"))[0]
    assert values == (1, 1.0, "é", b"\x00\xff", None, inf, -inf, None, "\udcffA", "a\0b")
    assert [type(value) for value in values[:2]] == [int, float]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = write_database(tmp_path, "odd", "CREATE TABLE t (abc); INSERT INTO t VALUES (1);")
    path.write_bytes(path.read_bytes().replace(b"(abc)", b"(a\xffc)"))
    with SqliteSource(tmp_path).open("odd") as database:
        for result in (database.execute("SELECT * FROM t"), database.query("SELECT * FROM t")):
            assert isinstance(result, QueryResult | QueryError)
        assert rows(database.execute("DELETE FROM t RETURNING 1")) == [(1,)]


def test_run_stops_at_the_first_error(database: SqliteDatabase) -> None:
    result = database.run(
        ["CREATE TABLE a (x); INSERT INTO nowhere VALUES (1); CREATE TABLE b (x)", "CREATE TABLE c (x)"]
    )
    assert isinstance(result, QueryError)
    assert result.kind == "missing"
    assert rows(database.query("SELECT name FROM sqlite_schema WHERE name IN ('a', 'b', 'c')")) == [("a",)]
    assert database.run([]) == QueryResult((), [])
    assert database.run(["", "-- nothing"]) == QueryResult((), [])
    assert rows(database.run(["SELECT 1; SELECT 2;", "SELECT 3"])) == [(3,)]


def test_query_sees_what_run_wrote(database: SqliteDatabase) -> None:
    database.run(["DELETE FROM orders WHERE id > 1", "CREATE TEMP TABLE t AS SELECT 5 AS a"])
    assert rows(database.query("SELECT * FROM spending")) == [("Ada", 10.5)]
    assert rows(database.query("SELECT * FROM t")) == [(5,)]
    database.execute("BEGIN")
    database.execute("DELETE FROM orders")
    assert rows(database.query("SELECT count(*) FROM orders")) == [(0,)], "its own transaction is visible"


def test_a_query_after_the_same_text_was_allowed_as_a_statement(database: SqliteDatabase) -> None:
    sql = "WITH a AS (SELECT 1) INSERT INTO orders (customer) SELECT 1"
    assert isinstance(database.execute(sql), QueryResult)
    error = database.query(sql)
    assert isinstance(error, QueryError)
    assert error.kind == "denied"
    assert isinstance(database.execute(sql), QueryResult)
    assert rows(database.query("SELECT count(*) FROM orders")) == [(5,)]


# --- any text at all -------------------------------------------------------------------------------------

FRAGMENTS = """
SELECT WITH RECURSIVE VALUES FROM customers orders notes * ( ) , ; ' " ` [ ] -- /* */ ? :a @b $c 1 1e999 0x
INSERT INTO DELETE UPDATE SET = CREATE TABLE TRIGGER VIEW TEMP VIRTUAL USING fts5 rtree BEGIN END COMMIT
ROLLBACK SAVEPOINT s RELEASE PRAGMA table_info table_list writable_schema journal_mode ATTACH
':memory:' '/tmp/x'
AS m DETACH VACUUM REINDEX ANALYZE EXPLAIN DROP ALTER ADD COLUMN json_each('[1]') randomblob(9) printf('%s',1)
MATCH RETURNING UNION ALL ORDER BY LIMIT NULL id name x'00' OVER GROUP count(*) WHERE EXISTS NOT . ||
-> ->> ~
"""
ODD_CHARACTERS = ["\0", "\ud800", "\ufeff", "é", "\n", "\v"]
sql_like = st.lists(st.sampled_from(FRAGMENTS.split() + ODD_CHARACTERS), max_size=15).map(" ".join)


@settings(
    max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text() | sql_like, min_size=1, max_size=4))
def test_no_text_raises_and_none_reaches_the_file(source: SqliteSource, texts: list[str]) -> None:
    path = source.path("shop")
    before = fingerprint(path)
    with source.open("shop", Limits(seconds=1)) as database:
        for text in texts:
            for result in (database.query(text), database.execute(text), database.run([text])):
                assert isinstance(result, QueryResult | QueryError)
                if isinstance(result, QueryError):
                    assert result.message
                    assert str(path.parent) not in result.message
    assert fingerprint(path) == before


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sql_like)
def test_a_query_never_changes_a_copy(database: SqliteDatabase, text: str) -> None:
    database.execute("CREATE TABLE IF NOT EXISTS moved (a)")
    count = "SELECT total_changes(), (SELECT group_concat(name || coalesce(sql, '')) FROM sqlite_schema)"
    before = rows(database.execute(count))
    database.query(text)
    assert rows(database.execute(count)) == before


def test_a_utf16_source(opened: Callable[[str], SqliteDatabase]) -> None:
    database = opened("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a); INSERT INTO t VALUES ('é');")
    assert rows(database.query("SELECT a FROM t")) == [("é",)]
    assert rows(database.execute("UPDATE t SET a = a || 'x' RETURNING a")) == [("éx",)]


def test_one_library_runs_everything(source: SqliteSource, database: SqliteDatabase) -> None:
    assert rows(database.query("SELECT sqlite_version()")) == [(sqlite3.sqlite_version,)]
    assert source.engine.endswith(sqlite3.sqlite_version)
