"""P01-P42 of the specification of containment, as an agent and as a submission to be graded type them.

Whatever is typed: an answer soon after the deadline, and neighbours on the same server (one that reads, one
that wrote, one that comes after) that notice nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from pg_shop import DOORS, LIMITS, Attacked, Neighbours, kind, load_shop, rows

from birdenv.databases import QueryError, QueryResult
from birdenv.databases.postgres import PostgresServer, PostgresSource
from birdenv.databases.postgres._privileges import HIDE_THE_SERVER, ONLY_READING

SLOW_ROWS = (
    "SELECT x, (SELECT count(*) FROM generate_series(1, 100000) AS y WHERE y > x)"
    " FROM generate_series(1, 1000000) AS x"
)
DEAF = (
    "DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(100);"
    " EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"
)

# Id, statement, answers allowed for grading, answers allowed for an agent. {elsewhere} is a path where
# nothing is, {neighbour} the process of a neighbour's session. Where grading has several answers and the
# first is `denied`, that is the answer in the database that all share; the others are a clone's.
STATEMENTS = [
    ("P01", "COPY (SELECT 1) TO PROGRAM 'cat > {elsewhere}'", "denied", "denied"),
    ("P01", "COPY customers FROM PROGRAM 'id'", "denied", "denied"),
    ("P02", "COPY customers TO '{elsewhere}'", "denied", "denied"),
    ("P02", "COPY customers (name) FROM '/etc/passwd'", "denied", "denied"),
    ("P02", "DO $$ BEGIN COPY customers TO '{elsewhere}'; END $$", "denied", "denied"),
    ("P02", "DO $$ BEGIN COPY (SELECT 1) TO PROGRAM 'cat > {elsewhere}'; END $$", "denied", "denied"),
    ("P03", "COPY customers TO STDOUT", "denied", "denied"),
    ("P03", "COPY customers FROM STDIN", "denied", "denied"),
    ("P03", "/* a */ copy (SELECT 1) TO STDOUT", "denied", "denied"),
    ("P04", "SELECT pg_read_file('/etc/passwd')", "denied", "denied"),
    ("P04", "SELECT pg_read_binary_file('PG_VERSION')", "denied", "denied"),
    ("P04", "SELECT pg_ls_dir('.')", "denied", "denied"),
    ("P04", "SELECT pg_stat_file('PG_VERSION')", "denied", "denied"),
    ("P05", "SELECT lo_import('/etc/passwd')", "denied", "denied"),
    ("P05", "SELECT lo_export(1, '{elsewhere}')", "denied", "denied"),
    ("P06", "SELECT lo_create(4711)", "denied", "ok"),
    ("P06", "SELECT lo_from_bytea(4712, '\\x00')", "denied", "ok"),
    ("P07", "SELECT pg_sleep(60)", "denied timeout", "timeout"),
    ("P07", "SELECT pg_sleep_for('1 minute')", "denied timeout", "timeout"),
    ("P07", "SELECT pg_sleep_until(now() + interval '1 minute')", "denied timeout", "timeout"),
    ("P08", "SELECT count(*) FROM generate_series(1, 10000000000)", "timeout", "timeout"),
    ("P08", "SELECT x FROM generate_series(1, 10000000000) AS x ORDER BY x % 17", "timeout", "timeout"),
    (
        "P08",
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "timeout",
        "timeout",
    ),
    ("P08", "SELECT array_agg(x) FROM generate_series(1, 10000000000) AS x", "timeout", "timeout"),
    ("P09", "SELECT repeat('x', 300000000)", "too_large timeout", "too_large timeout"),
    ("P09", "SELECT repeat('x', 1000000000)", "too_large timeout", "too_large timeout"),
    (
        "P09",
        "SELECT repeat('x', 1000000) FROM generate_series(1, 1000000)",
        "too_large timeout",
        "too_large timeout",
    ),
    ("P10", "SELECT repeat('a', 30) ~ '(a*)*b'", "ok", "ok"),
    ("P10", "SELECT regexp_count(repeat('ab', 100000), '(a|ab)(c|bcd)*$')", "ok timeout", "ok timeout"),
    ("P11", "SET statement_timeout = 0", "denied", "ok"),
    ("P11", "RESET ALL", "denied", "ok"),
    ("P11", "SELECT set_config('statement_timeout', '0', false)", "denied ok", "ok"),
    ("P11", "SELECT set_config('timezone', 'Asia/Tokyo', false)", "denied ok", "ok"),
    ("P12", "COMMIT", "denied", "ok"),
    ("P12", "ROLLBACK", "denied", "ok"),
    ("P12", "END", "denied", "ok"),
    ("P12", "BEGIN", "denied", "ok"),
    ("P12", "ABORT", "denied", "ok"),
    ("P12", "COMMIT; SET statement_timeout = 0; SELECT pg_sleep(60)", "denied", "syntax"),
    ("P13", "SELECT 1; SELECT 2", "syntax", "syntax"),
    ("P13", "SELECT 1; DROP TABLE customers", "syntax", "syntax"),
    ("P14", "SET TRANSACTION READ WRITE", "denied", "ok"),
    ("P14", "START TRANSACTION READ WRITE", "denied", "ok"),
    ("P15", "SET default_transaction_read_only = off", "denied", "ok"),
    ("P15", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "denied", "ok"),
    ("P16", "SET ROLE birdenv", "denied", "denied"),
    ("P16", "SET ROLE birdenv_contents", "denied", "denied"),
    ("P16", "SET SESSION AUTHORIZATION birdenv", "denied", "denied"),
    ("P16", "SELECT set_config('role', 'birdenv', false)", "denied", "denied"),
    ("P17", "INSERT INTO customers VALUES (7, 'X')", "denied", "ok"),
    ("P17", "UPDATE customers SET city = 'X'", "denied", "ok"),
    ("P17", "DELETE FROM orders", "denied", "ok"),
    (
        "P17",
        "MERGE INTO customers USING (VALUES (1)) AS v (a) ON id = a WHEN MATCHED THEN DO NOTHING",
        "denied",
        "ok",
    ),
    ("P17", "TRUNCATE orders", "denied", "ok"),
    ("P17", "CREATE TABLE t (a int)", "denied", "ok"),
    ("P17", "CREATE SCHEMA s", "denied", "ok"),
    ("P17", "DROP TABLE orders CASCADE", "denied", "ok"),
    ("P17", "ALTER TABLE customers ADD COLUMN a int", "denied", "ok"),
    ("P17", "CREATE TEMP TABLE customers AS SELECT 42 AS id", "denied", "ok"),
    ("P17", "SELECT 1 AS a INTO t", "denied", "ok"),
    ("P17", "SELECT * FROM customers FOR UPDATE", "denied", "ok"),
    ("P17", "/* SELECT */ DELETE FROM orders", "denied", "ok"),
    ("P18", "WITH d AS (DELETE FROM orders RETURNING 1) SELECT count(*) FROM d", "denied", "ok"),
    ("P18", "WITH d AS (SELECT 1) INSERT INTO customers VALUES (7, 'X') RETURNING id", "denied syntax", "ok"),
    ("P19", "EXPLAIN ANALYZE DELETE FROM orders", "denied", "ok"),
    ("P19", "EXPLAIN ANALYZE SELECT pg_sleep(60)", "denied", "timeout"),
    ("P19", "EXPLAIN SELECT 1", "denied", "ok"),
    ("P20", "DO $$ BEGIN DELETE FROM orders; END $$", "denied", "ok"),
    ("P20", "DO $$ BEGIN PERFORM pg_sleep(60); END $$", "denied", "timeout"),
    ("P20", DEAF, "denied", "timeout"),
    ("P21", "CREATE EXTENSION dblink", "denied", "denied engine"),
    ("P21", "CREATE EXTENSION postgres_fdw", "denied", "denied engine"),
    ("P21", "CREATE EXTENSION file_fdw", "denied", "denied engine"),
    ("P21", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "denied", "ok"),
    ("P21", "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc.so.6', 'getpid'", "denied", "denied"),
    (
        "P21",
        "CREATE FUNCTION f(text) RETURNS text LANGUAGE internal AS 'pg_read_file_all'",
        "denied",
        "denied",
    ),
    ("P21", "LOAD 'libc.so.6'", "denied", "denied"),
    ("P22", "DROP DATABASE postgres", "denied", "denied"),
    ("P22", "CREATE DATABASE mine", "denied", "denied"),
    ("P22", "ALTER DATABASE birdenv_shop RENAME TO mine", "denied", "denied"),
    ("P22", "ALTER SYSTEM SET work_mem = '1GB'", "denied", "denied"),
    ("P22", "ALTER ROLE CURRENT_USER SUPERUSER", "denied", "denied"),
    ("P22", "ALTER ROLE birdenv_reader SET search_path = 'x'", "denied", "denied"),
    ("P22", "ALTER ROLE CURRENT_USER SET timezone = 'Asia/Tokyo'", "denied", "ok"),
    ("P22", "CREATE ROLE mine", "denied", "denied"),
    ("P22", "CREATE TABLESPACE mine LOCATION '{elsewhere}'", "denied", "denied"),
    ("P22", "VACUUM customers", "denied", "ok"),
    ("P22", "CLUSTER customers USING customers_pkey", "denied", "ok"),
    ("P22", "CHECKPOINT", "denied", "denied"),
    ("P22", "PREPARE TRANSACTION 'mine'", "denied", "denied"),
    ("P23", "ANALYZE customers", "denied", "ok"),
    ("P24", "SELECT pg_terminate_backend(pg_backend_pid())", "denied", "denied"),
    ("P25", "SELECT pg_terminate_backend({neighbour})", "denied", "denied"),
    ("P25", "SELECT pg_cancel_backend({neighbour})", "denied", "denied"),
    ("P25", "SELECT pg_terminate_backend({neighbour}, 1000)", "denied", "denied"),
    ("P26", "SELECT pg_advisory_lock(1)", "denied", "denied"),
    ("P26", "SELECT pg_try_advisory_lock(1)", "denied", "denied"),
    ("P26", "SELECT pg_advisory_xact_lock(1)", "denied", "denied"),
    ("P27", "LOCK TABLE customers IN ACCESS SHARE MODE", "denied", "engine"),
    ("P27", "DO $$ BEGIN LOCK TABLE customers; END $$", "denied", "ok"),
    ("P28", "SELECT nextval('numbers')", "denied", "ok"),
    ("P28", "SELECT setval('numbers', 9)", "denied", "ok"),
    ("P29", "LISTEN a", "denied", "ok"),
    ("P29", "NOTIFY a", "denied", "ok"),
    ("P29", "SELECT pg_notify('a', 'b')", "denied ok", "ok"),
    ("P30", "SELECT query_to_xml('SELECT 1', true, true, '')", "denied ok engine", "ok engine"),
    ("P30", "SELECT database_to_xml(true, true, '')", "denied ok engine", "ok engine"),
    ("P31", "SELECT pg_export_snapshot()", "denied", "denied"),
    ("P31", "SELECT pg_logical_emit_message(true, 'a', 'b')", "denied", "denied"),
    ("P31", "SELECT txid_current()", "denied ok", "ok"),
    ("P31", "SELECT txid_status(txid_snapshot_xmin(txid_current_snapshot()) - 3)", "denied", "denied"),
    ("P31", "SELECT * FROM pg_last_committed_xact()", "denied", "denied"),
    ("P32", "SELECT * FROM pg_stat_activity", "denied", "denied"),
    ("P32", "SELECT * FROM pg_stat_get_activity(NULL)", "denied", "denied"),
    (
        "P32",
        "SELECT pg_stat_get_backend_activity(backend) FROM pg_stat_get_backend_idset() AS backend",
        "denied",
        "denied",
    ),
    ("P32", "SELECT * FROM pg_roles", "denied", "denied"),
    ("P32", "SELECT * FROM pg_database", "denied", "denied"),
    ("P32", "SELECT * FROM pg_shdescription", "denied", "denied"),
    ("P32", "SELECT * FROM pg_locks", "denied", "denied"),
    ("P32", "SELECT * FROM pg_settings", "denied", "denied"),
    ("P32", "SELECT * FROM pg_show_all_settings()", "denied", "denied"),
    ("P32", "SHOW ALL", "denied", "ok"),
    ("P32", "SELECT pg_stat_get_buf_alloc()", "denied missing", "denied missing"),
    ("P32", "SELECT pg_stat_have_stats('relation', 1, 1)", "denied missing", "denied missing"),
    ("P32", "SELECT pg_stat_get_wal()", "denied", "denied"),
    ("P32", "SELECT * FROM pg_stat_io", "denied missing", "denied missing"),
    ("P32", "SELECT * FROM pg_stat_progress_analyze", "denied", "denied"),
    ("P32", "SELECT pg_tablespace_location(1663)", "denied", "denied"),
    ("P32", "SELECT pg_current_wal_insert_lsn()", "denied", "denied"),
    ("P32", "SELECT pg_isolation_test_session_is_blocked(1, ARRAY[2])", "denied", "denied"),
    ("P33", "SELECT * FROM pg_shadow", "denied", "denied"),
    ("P33", "SELECT * FROM pg_authid", "denied", "denied"),
    ("P33", "SELECT * FROM pg_hba_file_rules", "denied", "denied"),
    ("P33", "SELECT current_setting('data_directory')", "denied", "denied"),
    ("P33", "SHOW data_directory", "denied", "denied"),
    ("P34", "SELECT * FROM birdenv_shop.public.customers", "missing", "missing"),
    (
        "P35",
        "SELECT 1) AS q; DROP TABLE customers; SELECT * FROM (SELECT 2",
        "syntax",
        "syntax",
    ),
    ("P36", "SET search_path = pg_catalog", "denied", "ok"),
    ("P36", "SET timezone = 'Asia/Tokyo'", "denied", "ok"),
    ("P36", "SET datestyle = 'German'", "denied", "ok"),
    ("P36", "SET extra_float_digits = -15", "denied", "ok"),
    ("P36", "SET client_encoding = 'LATIN1'", "denied", "ok"),
    ("P36", "SELECT setseed(0.5)", "denied ok", "ok"),
    ("P37", "SELECT 'infinity'::date, '0044-03-15 BC'::date, '99999-01-01'::date", "ok", "ok"),
    ("P38", "SELECT 'NaN'::numeric, 'NaN'::float8, '{\"a\": [1]}'::json, ARRAY[1], 'a'::char(3)", "ok", "ok"),
    ("P39", "SELECT 'a%s' LIKE 'a%', ':x', '{\"a\": 1}'::jsonb ? 'a', 5 % 2", "ok", "ok"),
    ("P39", "SELECT $1", "syntax", "syntax"),
    ("P41", SLOW_ROWS, "timeout", "timeout"),
]


CASES = [
    pytest.param(
        statement, id=f"{statement[0]} {statement[1][:50]}", marks=pytest.mark.contains(statement[0])
    )
    for statement in STATEMENTS
]


@pytest.fixture(scope="module")
def shop(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresSource]:
    load_shop(server, tmp_path_factory.mktemp("shop"))
    with PostgresSource(server) as source:
        yield source


@pytest.fixture(scope="module")
def neighbours(server: PostgresServer, shop: PostgresSource) -> Iterator[Neighbours]:
    neighbours = Neighbours(server, shop)
    yield neighbours
    neighbours.close()


@pytest.fixture(
    params=[*DOORS[::3], *(pytest.param(door, marks=pytest.mark.hostile_all_doors) for door in DOORS[1:3])]
)
def attacked(request: pytest.FixtureRequest, neighbours: Neighbours, tmp_path: Path) -> Iterator[Attacked]:
    tmp_path.chmod(0o777)
    attacked = Attacked(neighbours, tmp_path, request.param)
    yield attacked
    attacked.close()
    assert neighbours.seen() == neighbours.seen_before, "nothing that happens inside shows outside"
    assert not attacked.elsewhere.exists()


@pytest.mark.every(2)
@pytest.mark.parametrize("statement", CASES)
def test_pg_statement(
    attacked: Attacked, statement: tuple[str, str, str, str], record_property: Callable[[str, object], None]
) -> None:
    _, sql, grading, agent = statement
    sql = sql.replace("{elsewhere}", str(attacked.elsewhere)).replace("{neighbour}", attacked.neighbour)
    allowed = (grading if attacked.is_grading else agent).split()
    was_private = attacked.database.is_private
    if attacked.is_grading and not was_private and len(allowed) > 1 and allowed[0] == "denied":
        allowed = allowed[:1]
    result = attacked.run(sql)
    record_property("outcome", kind(result))
    assert kind(result) in allowed, result
    if attacked.is_grading:
        assert attacked.database.is_private == was_private
    if isinstance(result, QueryError):
        assert result.message
        assert "birdenv-" not in result.message
        if result.kind == "timeout":
            assert result.message.startswith("stopped after 0.3 s")
    assert rows(attacked.database.query("SELECT 1")) == [(1,)], "usable afterwards"


@pytest.mark.contains("P12")
def test_p12_time_cannot_be_won_by_ending_the_transaction(attacked: Attacked) -> None:
    database = attacked.database
    last = database.run(["COMMIT; SET statement_timeout = 0; SELECT pg_sleep(60)"])
    assert kind(last) == "timeout"


@pytest.mark.contains("P25")
def test_p25_neighbours_outlive_each_other(attacked: Attacked) -> None:
    """Under one role for all, one could end the session of another."""
    attacked.database.execute("SELECT pg_terminate_backend(pid) FROM generate_series(1, 100000) AS pid")
    attacked.database.execute("DROP OWNED BY CURRENT_USER CASCADE")
    # the fixture looks at the neighbours


@pytest.mark.contains("P34")
def test_p34_no_way_into_another_database(server: PostgresServer, shop: PostgresSource) -> None:
    with shop.open("shop") as database, server.connect() as connection:
        database.execute("CREATE TABLE t (a int)")
        clone = database._private.clone  # type: ignore[union-attr]
        names = [name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()]
        let_in = set()
        for role in ("birdenv_reader", clone.owner.role):
            for name in names:
                try:
                    psycopg.connect(server.conninfo(name, role)).close()
                except psycopg.OperationalError:
                    continue
                let_in.add((role, name.rpartition("-")[0]))
        own = clone.name.rpartition("-")[0]
        assert let_in == {("birdenv_reader", "birdenv-reading"), (clone.owner.role, own)}


@pytest.mark.contains("P42")
def test_p42_the_counters_of_the_server_do_not_tell_what_another_episode_writes(
    server: PostgresServer, tmp_path: Path
) -> None:
    """They move by random numbers beside; without these, all six differences would be equal, or by one."""
    load_shop(server, tmp_path)
    look = "SELECT txid_current(), lo_create(0)::bigint"
    with PostgresSource(server, warm=0) as source, source.open("shop") as agent:
        seen = []
        for _ in range(7):
            seen.append(rows(agent.execute(look))[0])
            with source.open("shop") as gold:
                assert isinstance(gold.execute("UPDATE customers SET city = 'Brno'"), QueryResult)
    for counter in zip(*seen, strict=True):
        moved = [after - before for before, after in pairwise(counter)]
        assert max(moved) - min(moved) > 2


@pytest.mark.contains("P36")
@pytest.mark.parametrize("poison", ["CREATE TEMP TABLE customers AS SELECT 42 AS id", "SET search_path = s"])
def test_p36_the_gold_is_asked_elsewhere(shop: PostgresSource, poison: str) -> None:
    with shop.open("shop") as prediction, shop.open("shop") as gold:
        prediction.run(["CREATE SCHEMA s; CREATE TABLE s.customers AS SELECT 42 AS id", poison])
        assert rows(prediction.execute("SELECT id FROM customers")) == [(42,)]
        assert rows(gold.query("SELECT max(id) FROM customers")) == [(3,)]
        after = shop.open("shop")
        assert rows(after.query("SELECT max(id) FROM customers")) == [(3,)]


@pytest.mark.contains("P26")
def test_what_a_session_had_is_gone_in_the_next_episode(shop: PostgresSource) -> None:
    """`ALTER ROLE ... SET` outlives sessions."""
    with shop.open("shop") as first:
        first.run(["ALTER ROLE CURRENT_USER SET work_mem = '1MB'; LISTEN a"])
    with shop.open("shop") as second:
        second.execute("CREATE TABLE t (a int)")
        assert rows(second.execute("SELECT current_setting('work_mem')")) == [("4MB",)]


@pytest.mark.contains("P32")
@pytest.mark.parametrize(
    ("extension", "is_hidden"), [("pg_stat_statements", True), ("pg_buffercache", True), ("vector", False)]
)
def test_extensions_that_show_the_server_are_hidden(
    server: PostgresServer, shop: PostgresSource, extension: str, is_hidden: bool
) -> None:
    """As on a server whose owner has put them into the database that is played on."""
    callable_ones = (
        "SELECT count(*) FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.deptype = 'e'"
        " AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = %s)"
        " WHERE has_function_privilege('birdenv_reader', p.oid, 'EXECUTE')"
    )
    with server.connect("template1") as inside, inside.transaction(force_rollback=True):
        inside.execute("CREATE EXTENSION vector; SET LOCAL allow_system_table_mods = on")
        inside.execute("UPDATE pg_extension SET extname = %s WHERE extname = 'vector'", [extension])
        inside.execute("CREATE VIEW public.shown AS SELECT 1 AS calls")
        inside.execute(f"ALTER EXTENSION {extension} ADD VIEW public.shown".encode())
        inside.execute((HIDE_THE_SERVER + ONLY_READING.replace("{reader}", "birdenv_reader")).encode())
        readable = inside.execute("SELECT has_table_privilege('birdenv_reader', 'public.shown', 'SELECT')")
        (calls,) = inside.execute(callable_ones, [extension]).fetchone() or (None,)
        assert (readable.fetchone(), calls == 0) == ((not is_hidden,), is_hidden)


@pytest.mark.contains("P32")
def test_p32_the_information_schema_still_works(attacked: Attacked) -> None:
    sql = (
        "SELECT table_catalog, table_name FROM information_schema.tables"
        " WHERE table_schema = 'public' AND table_name <> 'moved' ORDER BY 2"
    )
    assert rows(attacked.run(sql)) == [("shop", "customers"), ("shop", "orders"), ("shop", "spending")]
    assert isinstance(attacked.run("SELECT * FROM pg_indexes, pg_class, pg_attribute LIMIT 5"), QueryResult)


@pytest.mark.slow
@pytest.mark.contains("P20")
def test_p20_what_does_not_listen_is_ended(attacked: Attacked) -> None:
    if attacked.is_grading:
        pytest.skip("grading takes no DO")
    attacked.database.run(["BEGIN; INSERT INTO customers VALUES (8, 'X')"])
    result = attacked.run(DEAF)
    assert result == QueryError(
        "timeout",
        f"stopped after {LIMITS.seconds:g} s of wall time;"
        " the session was ended, and its uncommitted changes are lost",
    )
    assert rows(attacked.database.execute("SELECT count(*) FROM customers")) == [(3,)]
    assert isinstance(attacked.database.execute("INSERT INTO customers VALUES (8, 'X')"), QueryResult)
