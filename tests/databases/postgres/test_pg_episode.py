"""An episode's database on PostgreSQL: what it answers, where it runs, what becomes of what it changes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pg_shop import kind, load_shop, rows

from birdenv.databases import Checkpoint, DatabaseState, Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.postgres import PostgresServer, PostgresSource
from birdenv.databases.postgres._episode import PostgresDatabase
from birdenv.errors import InputError


@pytest.fixture(scope="module")
def source(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresSource]:
    load_shop(server, tmp_path_factory.mktemp("shop"))
    with PostgresSource(server) as source:
        yield source


@pytest.fixture
def database(source: PostgresSource) -> Iterator[PostgresDatabase]:
    with source.open("shop", Limits(seconds=20, rows=100, bytes=100_000)) as opened:
        yield opened


def state(database: PostgresDatabase) -> DatabaseState:
    found = database.state()
    assert isinstance(found, DatabaseState), found
    return found


def checkpoint(database: PostgresDatabase) -> Checkpoint:
    made = database.checkpoint()
    assert isinstance(made, Checkpoint), made
    return made


# --- the source --------------------------------------------------------------------------------------------


def test_the_source_names_what_it_holds(source: PostgresSource, server: PostgresServer) -> None:
    assert source.dialect == "postgres"
    assert source.engine == server.version
    assert "shop" in source.names()
    assert len(source.digest("shop")) == 64
    source.check("shop")
    for method in (source.check, source.digest, source.open, source.schema_text):
        with pytest.raises(InputError, match=r"'nowhere' is not loaded .* `birdenv db load`"):
            method("nowhere")


def test_schema_text(source: PostgresSource) -> None:
    first, second = source.schema_text("shop").split("\n\n")
    assert first == (
        "CREATE TABLE customers (\n    id integer NOT NULL,\n    name text NOT NULL,\n    city text,\n"
        "    mood mood,\n    PRIMARY KEY (id),\n    UNIQUE (name)\n);"
    )
    assert "total price" in second
    assert "FOREIGN KEY (customer) REFERENCES customers(id)" in second
    assert "DEFAULT '2024-01-01'::date" in second
    with PostgresSource(source._server) as another:
        assert another.schema_text("shop") == source.schema_text("shop")


# --- where statements run ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM spending",
        "(VALUES (1))",
        "TABLE customers",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
        "EXPLAIN SELECT 1",
        "SHOW timezone",
        "SELECT doubled(4)",
        "SELECT nothing",
        "SELEC 1",
        "nonsense",
        "'nonsense'",
        "COPY customers TO STDOUT",
        "",
    ],
)
def test_reading_and_errors_need_no_clone(database: PostgresDatabase, sql: str) -> None:
    database.execute(sql)
    assert not database.is_private


@pytest.mark.parametrize(
    "sql",
    ["SET timezone = 'Asia/Tokyo'", "BEGIN", "CREATE TEMP TABLE t (a int)", "SELECT nextval('numbers')"],
)
def test_what_would_stick_moves_the_episode(database: PostgresDatabase, sql: str) -> None:
    assert kind(database.execute(sql)) == "ok"
    assert database.is_private


def test_two_writing_episodes_side_by_side(source: PostgresSource) -> None:
    with source.open("shop") as first, source.open("shop") as second, source.open("shop") as third:
        first.run(["BEGIN; ALTER TABLE customers ADD COLUMN a int; INSERT INTO customers VALUES (4, 'X')"])
        second.execute("DROP TABLE orders CASCADE")
        count = "SELECT (SELECT count(*) FROM customers), to_regclass('orders') IS NULL"
        assert rows(first.query(count)) == [(4, False)]
        assert rows(second.query(count)) == [(3, True)]
        assert rows(third.query(count)) == [(3, False)]


def test_names_are_the_same_in_every_run(source: PostgresSource) -> None:
    sql = (
        "SELECT current_database(), current_user, relowner::regrole FROM pg_class WHERE relname = 'customers'"
    )
    seen = []
    for _ in range(2):
        with source.open("shop") as database:
            reading = rows(database.execute(sql))
            database.execute("CREATE TABLE t (a int)")
            denied = database.execute("ALTER DATABASE shop SET timezone = 'UTC'")
            seen.append((reading, rows(database.execute(sql)), kind(denied)))
            assert rows(database.execute(sql)) == [("shop", "birdenv_agent", "birdenv_agent")]
            comment = database.execute(
                "DO $$ BEGIN EXECUTE format('DROP DATABASE %I', current_database()); END $$"
            )
            assert isinstance(comment, QueryError)
            assert "birdenv-" not in comment.message
    assert seen[0] == seen[1]


# --- statements --------------------------------------------------------------------------------------------


def test_a_full_agent(database: PostgresDatabase) -> None:
    assert kind(database.execute("CREATE TABLE bills (id serial PRIMARY KEY, total numeric)")) == "ok"
    written = database.execute("INSERT INTO bills (total) VALUES (1.5), (2) RETURNING id")
    assert rows(written) == [(1,), (2,)]
    changed = database.execute("UPDATE bills SET total = 2 * total")
    assert isinstance(changed, QueryResult)
    assert (changed.columns, changed.rows_affected) == ((), 2)
    last = database.run(
        [
            "CREATE FUNCTION f(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN x + 1; END $$;"
            " CREATE VIEW v AS SELECT f(id) AS a FROM bills; CREATE OR REPLACE VIEW spending AS SELECT name,"
            " 1.0 * id AS total FROM customers JOIN bills USING (id)",
            "BEGIN; DELETE FROM bills WHERE id = 2; COMMIT; SELECT array_agg(a) FROM v",
        ]
    )
    assert rows(last) == [([2],)]
    assert rows(database.query("SELECT name, total FROM spending")) == [("Ada", Decimal("1.0"))]


def test_a_script_stops_at_its_first_error(database: PostgresDatabase) -> None:
    failed = database.run(["CREATE TABLE t (a int); INSERT INTO t VALUES ('x'); DROP TABLE t"])
    assert kind(failed) == "engine"
    assert rows(database.query("SELECT count(*) FROM t")) == [(0,)]
    assert database.run([" -- nothing", ""]) == QueryResult((), ())


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT x FROM customers", "missing"),
        ("SELECT * FROM nowhere", "missing"),
        ("SELECT nofunction()", "missing"),
        ("INSERT INTO customers VALUES (1, 'A')", "constraint"),
        ("INSERT INTO orders (total) VALUES (-1)", "constraint"),
        ("SELECT 1/0", "engine"),
        ("SELECT FROM WHERE", "syntax"),
        ("SELECT $1", "syntax"),
        ("SELECT '\0'", "syntax"),
        ("SELECT '\ud800'", "syntax"),
        ("-- nothing", "syntax"),
        ("/* /* nested */ */", "syntax"),
    ],
)
def test_errors_have_kinds(database: PostgresDatabase, sql: str, expected: str) -> None:
    result = database.execute(sql)
    assert kind(result) == expected, result


def test_values(database: PostgresDatabase) -> None:
    sql = (
        "SELECT 1.50, 'NaN'::numeric, 'infinity'::date, '2024-05-01'::date, 'ab'::char(5),"
        " '{\"a\": [1]}'::jsonb, ARRAY['x', NULL], true, '\\xff'::bytea, '1 mon'::interval, NULL"
    )
    (row,) = rows(database.query(sql))
    assert row[0] == Decimal("1.50")
    assert row[1].is_nan()
    assert row[2:] == (
        "infinity",
        date(2024, 5, 1),
        "ab",
        {"a": [1]},
        ["x", None],
        True,
        b"\xff",
        "1 mon",
        None,
    )


@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        ("datestyle = 'German'", "'2024-01-02 03:04Z'::timestamptz", "02.01.2024 03:04:00 UTC"),
        ("intervalstyle = 'iso_8601'", "'1 day'::interval", "P1D"),
    ],
)
def test_values_in_another_style_are_text(
    database: PostgresDatabase, setting: str, value: str, text: str
) -> None:
    database.execute(f"SET {setting}")
    assert rows(database.execute(f"SELECT {value}")) == [(text,)]


def test_rows_are_cut(database: PostgresDatabase) -> None:
    endless = "SELECT generate_series(1, 1000000000)"
    for is_private in (False, True):
        assert database.is_private is is_private
        cut = database.execute(endless, 3)
        assert isinstance(cut, QueryResult)
        assert (cut.rows, cut.truncated) == ([(1,), (2,), (3,)], True)
        assert rows(database.query(endless)) == [(x,) for x in range(1, 101)]
        exact = database.execute("SELECT generate_series(1, 3)", 3)
        assert isinstance(exact, QueryResult)
        assert (len(exact.rows), exact.truncated) == (3, False)
        database.execute("CREATE TABLE t (a int)")
    with pytest.raises(ValueError, match="rows cannot be negative: -1"):
        database.execute("SELECT 1", -1)


def test_cutting_rows_undoes_nothing(database: PostgresDatabase) -> None:
    database.run(["CREATE TABLE t (a int); BEGIN; INSERT INTO t VALUES (0)"])
    assert rows(database.execute("SELECT generate_series(1, 1000000000)", 1)) == [(1,)]
    assert rows(database.execute("INSERT INTO t SELECT generate_series(1, 999) RETURNING a", 1)) == [(1,)]
    database.execute("COMMIT")
    assert rows(database.query("SELECT count(*) FROM t")) == [(1000,)]


def test_bytes_are_limited(database: PostgresDatabase) -> None:
    for _ in range(2):
        for sql in (
            "SELECT repeat('x', 2000000)",
            "SELECT repeat('x', 2000) FROM generate_series(1, 60)",
            "SELECT array_agg(x) FROM generate_series(1, 20000) AS x",
        ):
            found = database.execute(sql)
            assert (kind(found), "more than 100000 bytes" in found.message) == ("too_large", True)  # type: ignore[union-attr]
        assert len(rows(database.execute("SELECT repeat('x', 2000) FROM generate_series(1, 45)"))) == 45
        database.execute("CREATE TABLE IF NOT EXISTS t (a int)")


def test_a_query_only_reads(database: PostgresDatabase) -> None:
    database.run(["CREATE TEMP TABLE t AS SELECT 1 AS a", "BEGIN; INSERT INTO t VALUES (2)"])
    for sql in (
        "WITH d AS (DELETE FROM t RETURNING 1) SELECT * FROM d",
        "SELECT a INTO u FROM t",
        "SELECT * FROM customers FOR UPDATE",
        "SELECT nextval('numbers')",
        "DELETE FROM t",
        "ROLLBACK",
    ):
        assert kind(database.query(sql)) == "denied", sql
    assert kind(database.query("SELECT 1/0")) == "engine"
    assert rows(database.query("SELECT count(*) FROM t")) == [(2,)]
    assert kind(database.execute("COMMIT")) == "ok"
    assert rows(database.query("SELECT count(*) FROM t")) == [(2,)]


class RowSink:
    """Sees so many rows."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.columns: tuple[str, ...] = ()
        self.seen: list[Any] = []

    def begin(self, columns: tuple[str, ...]) -> None:
        self.columns, self.seen = columns, []

    def see(self, rows: list[Any]) -> bool:
        self.seen += rows
        return len(self.seen) < self.most


@pytest.mark.parametrize("is_private", [False, True])
def test_scans(source: PostgresSource, is_private: bool) -> None:
    with source.open("shop", Limits(rows=10_000)) as database:
        if is_private:
            database.execute("CREATE TABLE t (a int)")
        all_of_it = RowSink(5_000)
        end = database.scan("SELECT x FROM generate_series(1, 1000) AS x", all_of_it)
        assert end == QueryResult(("x",), [], truncated=False)
        assert all_of_it.seen == [(x,) for x in range(1, 1001)]
        some = RowSink(2_000)
        assert database.scan("SELECT generate_series(1, 1000000000)", some) == QueryResult(
            ("generate_series",), [], truncated=True
        )
        assert 2_000 <= len(some.seen) < 10_000
        none = RowSink(1)
        assert database.scan("SELECT 1 AS a WHERE false", none) == QueryResult(("a",), [])
        assert (none.columns, none.seen) == (("a",), [])
        assert (
            kind(database.scan("SELECT 1 / (x - 500) FROM generate_series(1, 600) AS x", RowSink(999)))
            == "engine"
        )


# --- states and checkpoints --------------------------------------------------------------------------------


def test_a_state_is_what_is_committed(database: PostgresDatabase) -> None:
    before = state(database)
    assert not database.is_private
    assert sorted(before.contents) == ["customers", "numbers", "orders", "spending"]
    assert {"table orders", "view spending", "routine doubled(x integer)", "type mood", "type price"} <= set(
        before.schema
    )
    assert any("2 * x" in text for text in before.definitions)
    database.run(
        [
            "SET search_path = pg_catalog; SET timezone = 'Asia/Tokyo'; CREATE TEMP TABLE customers (a int)",
            "BEGIN; DELETE FROM public.orders",
        ]
    )
    assert state(database) == before
    assert rows(database.query("SELECT count(*) FROM public.orders")) == [(3,)], "it was rolled back"


@pytest.mark.parametrize(
    ("script", "changed"),
    [
        ("ALTER TABLE orders ADD COLUMN a int", "table orders"),
        ("ALTER TABLE orders ADD CHECK (total < 100)", "table orders"),
        ("CREATE UNIQUE INDEX i ON orders (made, id)", "table orders"),
        ("CREATE VIEW v AS SELECT 1 AS a", "view v"),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1 AS a", "view v"),
        ("CREATE SEQUENCE s", "sequence s"),
        ("ALTER TYPE mood ADD VALUE 'glad'", "type mood"),
        (
            "CREATE OR REPLACE FUNCTION doubled(x int) RETURNS int LANGUAGE sql AS 'SELECT x'",
            "routine doubled(x integer)",
        ),
        (
            "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
            "CREATE TRIGGER g BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION t()",
            "trigger orders.g",
        ),
        ("CREATE SCHEMA s CREATE TABLE t (a int)", "table s.t"),
    ],
)  # fmt: skip
def test_a_state_tells_schemas_apart(database: PostgresDatabase, script: str, changed: str) -> None:
    before = state(database)
    assert kind(database.run([script])) == "ok"
    after = state(database)
    assert before.schema.get(changed) != after.schema[changed]
    found = database.state(before)
    assert isinstance(found, DatabaseState)
    assert found.contents == {}


def test_a_state_tells_contents_apart(database: PostgresDatabase) -> None:
    before = state(database)
    database.run(["UPDATE orders SET total = 8 WHERE id = 3; SELECT nextval('numbers')"])
    after = state(database)
    assert after.schema == before.schema
    differing = {name for name in before.contents if before.contents[name] != after.contents[name]}
    assert differing == {"numbers", "orders", "spending"}


def test_checkpoints(source: PostgresSource, database: PostgresDatabase) -> None:
    pristine = checkpoint(database)
    assert pristine.size == 0
    database.run(["CREATE TABLE t (a int); INSERT INTO t VALUES (1)", "BEGIN; INSERT INTO t VALUES (2)"])
    made = checkpoint(database)
    assert made.size > 0
    assert database.is_private
    count = "SELECT count(*) FROM t"
    assert rows(database.query(count)) == [(1,)]
    database.run(["INSERT INTO t VALUES (3), (4); DROP TABLE orders CASCADE"])
    with source.open("shop") as second, source.open("shop") as third:
        for other in (second, third):
            assert other.restore(made) is None
            assert rows(other.query(count)) == [(1,)]
        second.run(["INSERT INTO t VALUES (5)", "ALTER TABLE customers ADD COLUMN a int"])
        assert rows(third.query(count)) == [(1,)]
        assert database.restore(made) is None
        assert rows(database.query(f"{count}, orders")) == [(3,)]
        assert database.restore(pristine) is None
        assert kind(database.query(count)) == "missing"


def test_a_checkpoint_of_another_database_is_refused(database: PostgresDatabase, tmp_path: Any) -> None:
    from database_files import write_database

    write_database(tmp_path, "shop")
    with SqliteSource(tmp_path).open("shop") as other:
        foreign = other.checkpoint()
        assert isinstance(foreign, Checkpoint)
        with pytest.raises(ValueError, match="a different database"):
            database.restore(foreign)
        with pytest.raises(ValueError, match="a different database"):
            other.restore(checkpoint(database))


def test_a_checkpoint_is_dropped_with_its_value(
    source: PostgresSource, database_names: Any, wait_until: Any
) -> None:
    with source.open("shop") as database:
        database.execute("CREATE TABLE t (a int)")
        made = checkpoint(database)
    name = made.clone.name  # type: ignore[attr-defined]
    assert name in database_names()
    with source.open("shop") as later:
        later.restore(made)
        assert rows(later.query("SELECT count(*) FROM t")) == [(0,)]
    assert name in database_names()
    del made
    gc.collect()
    wait_until(lambda: name not in database_names())


def test_a_closed_database(source: PostgresSource) -> None:
    database = source.open("shop")
    database.execute("CREATE TABLE t (a int)")
    database.close()
    database.close()
    for use in (database.execute, database.query, lambda sql: database.run([sql])):
        with pytest.raises(ValueError, match="closed"):
            use("SELECT 1")
    with pytest.raises(ValueError, match="closed"):
        database.state()


@pytest.mark.slow
def test_a_session_that_ends_itself_costs_the_agent_what_was_not_committed(
    database: PostgresDatabase, wait_until: Callable[..., None]
) -> None:
    short = "SET idle_in_transaction_session_timeout = '1s'"
    script = ["CREATE TABLE t (a int)", short, "BEGIN; INSERT INTO t VALUES (1)"]
    assert kind(database.run(script)) == "ok"
    assert database._private is not None
    session = database._private.clone.session
    assert session is not None
    wait_until(lambda: not session.is_well)  # the time-out strikes between two statements
    lost = database.execute("SELECT 1")
    assert isinstance(lost, QueryError) and lost.kind == "engine"
    assert lost.message.endswith("the session was ended, and its uncommitted changes are lost")
    assert rows(database.execute("SELECT count(*) FROM t")) == [(0,)]
