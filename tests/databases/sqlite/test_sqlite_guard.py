"""What the guard answers: deadlines, caps, refusals, and the kinds of errors."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from attacked import kind, rows
from hypothesis import given
from hypothesis import strategies as st
from image_kinds import let_images_grow

from birdenv.databases import Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite import LocalSource
from birdenv.databases.sqlite._authorizer_rules import HARMLESS, rule_of
from birdenv.databases.sqlite._deadline import NEVER, Deadline
from birdenv.databases.sqlite._process_database import ProcessDatabase
from birdenv.databases.sqlite._statement_guard import StatementGuard
from birdenv.databases.sqlite.images._protocol import ImageKind

STRANGE = frozenset({"load_extension", "fts3_tokenizer"})
ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
MANY = f"{ENDLESS[:-1]} LIMIT 3000)"


# --- time --------------------------------------------------------------------------------------


@pytest.mark.every(3)
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


NOT_UTF8 = ("x'ff'", "CAST(x'ff41' AS TEXT)")
TABLES_OF_NAMES = (
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list".split()
)


@pytest.mark.contains("S41")
@pytest.mark.parametrize("is_private", [False, True])
def test_no_name_that_is_not_utf8_is_taken_for_ctrl_c(
    source: SqliteSource, is_private: bool, record_property: Callable[[str, object], None]
) -> None:
    with source.open("shop") as database, sqlite3.connect(":memory:") as plain:
        if is_private:
            database.execute("CREATE TABLE moved (a)")
        functions = {name for (name,) in plain.execute("SELECT DISTINCT name FROM pragma_function_list")}
        calls = [
            f"hex({name}({', '.join([text] * count)}))"
            for name in sorted(functions - STRANGE)
            for text in NOT_UTF8
            for count in range(1, 4)
        ]
        for sql in (
            *(f"SELECT * FROM pragma_{name}({text})" for name in TABLES_OF_NAMES for text in NOT_UTF8),
            *(f"SELECT {call}" for call in calls),
            *(f"SELECT * FROM {name}({text})" for name in ("json_each", "json_tree") for text in NOT_UTF8),
        ):
            for run in (database.execute, database.query):
                result = run(sql)
                assert isinstance(result, QueryResult) or result.message
                record_property("outcome", kind(result))
        assert rows(database.query("SELECT 1")) == [(1,)]


def test_only_what_a_callback_met_is_ctrl_c(source: SqliteSource) -> None:
    with source.open("shop") as database:
        result = database.execute("SELECT * FROM pragma_table_info(x'ff')")
    assert isinstance(result, QueryError)
    assert (result.kind, "UTF-8" in result.message) == ("denied", True)


def test_ctrl_c_is_not_swallowed(source: SqliteSource) -> None:
    with source.open("shop", Limits(seconds=20)) as database:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            database.execute(f"{ENDLESS} SELECT count(*) FROM c")
        assert time.monotonic() - began < 5
        assert rows(database.execute("SELECT 1")) == [(1,)]


def test_a_program_shows_no_address(database: ProcessDatabase) -> None:
    found = rows(database.execute("EXPLAIN SELECT * FROM pragma_table_info('customers')"))
    assert "vtab" in {cell for row in found for cell in row}
    assert found == rows(database.execute("EXPLAIN SELECT * FROM pragma_table_info('customers')"))


# --- size ----------------------------------------------------------------------------


def test_row_caps(database: ProcessDatabase) -> None:
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


def test_limits_on_one_text_leave_room(database: ProcessDatabase) -> None:
    for sql in (
        "SELECT " + ",".join(["1"] * 2000),
        "SELECT 1 AS a, 2 AS a, zeroblob(1000000)",
        "SELECT 'a' LIKE '%" + "a" * 400 + "'",
        " UNION ALL ".join(["SELECT 1"] * 100),
    ):
        assert kind(database.query(sql)) == kind(database.execute(sql)) == "ok"


FILL = f"{ENDLESS} SELECT x, printf('%1000s', x) FROM c"


def test_an_image_cannot_grow_without_bound(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch, local: Callable[[Path], LocalSource]
) -> None:
    let_images_grow(2**20, monkeypatch)
    with local(source.root).open("shop") as database:
        assert kind(database.execute(f"CREATE TABLE big AS {FILL}")) == "too_large"
        assert kind(database.execute("CREATE TABLE small AS SELECT zeroblob(500000) AS a")) == "ok"
        assert rows(database.query("SELECT count(*) FROM customers")) == [(3,)]


@pytest.mark.slow
@pytest.mark.contains("S44")
@pytest.mark.parametrize("place", ["temp", "m", "f"])
def test_temporary_and_attached_databases_are_bounded(source: SqliteSource, place: str) -> None:
    with source.open("shop", Limits(seconds=20)) as database:
        database.run(["ATTACH ':memory:' AS m; ATTACH '' AS f"])
        error = database.execute(f"CREATE TABLE {place}.big AS {FILL}")
        assert kind(error) == "too_large"
        assert rows(database.query("SELECT count(*) FROM customers")) == [(3,)]


# --- reach  -------------------------------------------------------------------------------------


def test_denied_functions_are_found_inside_views_and_subqueries(database: ProcessDatabase) -> None:
    pointer = "SELECT fts3_tokenizer('simple') AS a"
    for run in (database.query, database.execute):
        assert kind(run(f"WITH c AS ({pointer}) SELECT a FROM (SELECT a FROM c)")) == "denied"
    database.execute(f"CREATE VIEW pointer AS {pointer}")
    for run in (database.query, database.execute):
        assert kind(run("SELECT * FROM pointer")) in ("denied", "engine")  # SQLite refuses it too


@pytest.mark.parametrize("image", ["memory-map", "copy"])
def test_no_path_of_the_host_is_shown(source: SqliteSource, image: ImageKind) -> None:
    with SqliteSource(source.root, image=image).open("shop") as database:
        assert kind(database.query("SELECT file FROM pragma_database_list")) == "denied"
        assert isinstance(database.execute("ATTACH '' AS other"), QueryResult)
        for sql in ("PRAGMA database_list", "PRAGMA main.database_list"):
            listed = rows(database.execute(sql))
            assert [name for _, name, _ in listed] == ["main", "other"]
            assert {file for _, _, file in listed} <= {"", "x"}, "x is what SQLite calls a file in memory"
        for sql in (
            "SELECT upper(file) FROM pragma_database_list",
            "CREATE VIEW files AS SELECT file FROM pragma_database_list",
            "SELECT hex(file) FROM files",
            'SELECT "file" FROM Pragma_Database_List',
            "EXPLAIN SELECT file FROM pragma_database_list",
        ):
            answer = database.execute(sql)
            if isinstance(answer, QueryError):
                assert (image, answer.kind) == ("copy", "denied")
            else:
                assert "/" not in str(answer.rows)
                assert "hex(" not in sql or "2F" not in str(answer.rows)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM customers",
        "CREATE TEMP TABLE t (a)",
        "BEGIN",
        "PRAGMA query_only = 0",
        "WITH a AS (SELECT 1) UPDATE customers SET city = 'X' RETURNING id",
        "INSERT INTO notes (notes) VALUES ('optimize')",
    ],
)
def test_what_was_allowed_as_a_statement_is_still_refused_as_a_query(
    database: ProcessDatabase, sql: str
) -> None:
    assert kind(database.execute(sql)) == "ok"
    database.execute("ROLLBACK")
    before = database.state()
    assert kind(database.query(sql)) == "denied"
    assert database.state() == before
    assert kind(database.execute("COMMIT")) == "engine", "no transaction was begun"


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("I cannot answer that.", "syntax"),
        ("SELECT ?1, ?1", "syntax"),
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
def test_kinds_of_errors(database: ProcessDatabase, sql: str, expected: str, copied: bool) -> None:
    if copied:
        database.execute("CREATE TABLE moved (a)")
    for run in (database.query, database.execute):
        result = run(sql)
        assert kind(result) == expected, result
        assert isinstance(result, QueryError)
        assert result.message


def test_kinds_of_errors_of_writes(database: ProcessDatabase) -> None:
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


# --- what is remembered ------------------------------------------------------------------------

ACTIONS = sorted(
    {code for name, code in vars(sqlite3).items() if name.startswith("SQLITE_") and code in range(34)}
)
NAMES = st.none() | st.sampled_from(
    "abs Upper random date randomblob printf like glob replace load_extension json_extract table_info"
    " mmap_size data_version sqlite_dbpage SQLITE_DBPAGE orders".split()
)
LONG_NAMES = st.tuples(NAMES, st.integers(0, 300)).map(lambda drawn: drawn[0] and drawn[0] + "_" * drawn[1])


@given(st.sampled_from(ACTIONS), NAMES | LONG_NAMES, NAMES | LONG_NAMES)
def test_what_is_plain_reading_is_what_the_rules_say(
    action: int, first: str | None, second: str | None
) -> None:
    is_plain = rule_of(action, first, second) == HARMLESS
    connection = sqlite3.connect(":memory:")
    for _ in range(2):  # the second time from memory
        watch = StatementGuard(connection, private=False)
        watch.start(Deadline(NEVER, NEVER), reading=True)
        answer = watch._authorize(action, first, second, "main", None)
        is_unmarked = watch.refusal is None and watch.is_repeatable
        watch.finish()
        assert (answer == sqlite3.SQLITE_OK and is_unmarked) == is_plain
    connection.close()


def test_long_names_are_not_kept_in_memory(
    source: SqliteSource, local: Callable[[Path], LocalSource]
) -> None:
    database = local(source.root).open("shop")
    table = "t" + "x" * 20_000
    columns = ", ".join(f"c{i}" for i in range(1_000))
    assert isinstance(database.execute(f"CREATE TABLE {table} ({columns})"), QueryResult)
    tracemalloc.start()
    try:
        assert isinstance(database.execute(f"SELECT * FROM {table}"), QueryResult)
        assert tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()
        database.close()


@pytest.mark.parametrize("first_time", [0.001, 20.0])
def test_what_varies_is_known_to_vary_however_it_ended(source: SqliteSource, first_time: float) -> None:
    """The driver has it compiled by then, and a virtual table has SQLite ask about something else."""
    sql = (
        "SELECT random(), name FROM pragma_table_info('orders') WHERE (WITH RECURSIVE n (i) AS"
        " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n) > 0"
    )
    with source.open("shop", Limits(seconds=first_time)) as database:
        database.execute(sql)
    with source.open("shop", Limits(seconds=20)) as database:
        again = database.execute(sql)
        assert isinstance(again, QueryResult)
        assert not again.repeatable
        assert database.execute("SELECT name FROM pragma_table_info('orders')").repeatable


@pytest.mark.contains("S50")
def test_a_name_that_no_statement_can_say_leaves_no_other_database_unbounded(source: SqliteSource) -> None:
    with source.open("shop") as database:
        database.run(["ATTACH ':memory:' AS CAST(x'ff' AS TEXT); ATTACH ':memory:' AS m"])
        grown = database.execute(
            "CREATE TABLE m.t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)"
            " SELECT zeroblob(1000000) FROM n"
        )
        assert isinstance(grown, QueryError) and grown.kind == "too_large"
