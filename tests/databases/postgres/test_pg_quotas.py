"""What one episode may take of the server's disk and memory: it is told, goes on, and nobody else notices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pg_shop import ELSEWHERE, Neighbours, kind, load_shop, rows
from postgres_server import start_postgres

from birdenv.databases import Limits, QueryError, QueryResult
from birdenv.databases.postgres import PostgresServer, PostgresSource, find_server
from birdenv.databases.postgres._episode import PostgresDatabase
from birdenv.databases.postgres.server._paths import ADMIN

pytestmark = pytest.mark.contains("quota")

MIB = 2**20
MOST = 64 * MIB
BEYOND = 512 * MIB
"""What may have been written besides between two looks, on a machine that has other things to do."""
LINE = "repeat('x', 100) || generate_series(1, 1000000000)"

WRITERS = {
    "insert": f"INSERT INTO customers SELECT generate_series(10, 1000000000), {LINE}",
    "table": f"CREATE TABLE big AS SELECT {LINE}",
    "temporary table": f"CREATE TEMP TABLE big AS SELECT {LINE}",
    "materialized view": f"CREATE MATERIALIZED VIEW big AS SELECT {LINE}",
    "returning": f"INSERT INTO customers SELECT generate_series(10, 1000000000), {LINE} RETURNING id",
    "large objects": "SELECT lo_from_bytea(0, convert_to(repeat('x', 1000000), 'UTF8'))"
    " FROM generate_series(1, 10000000)",
    "many tables": "DO $$ BEGIN FOR i IN 1..100000000 LOOP"
    " EXECUTE format('CREATE TABLE t%s (a int PRIMARY KEY)', i); COMMIT; END LOOP; END $$",
}
SLOW_WRITERS = ("large objects", "many tables")
DEAF = (
    f"DO $$ BEGIN LOOP BEGIN CREATE TABLE big AS SELECT {LINE};"
    " EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a gigabyte, but sooner."""
    for module in ("_connection", "_session"):
        monkeypatch.setattr(f"birdenv.databases.postgres.{module}.MOST_GROWTH", MOST)


@pytest.fixture(scope="module")
def shop(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresSource]:
    load_shop(server, tmp_path_factory.mktemp("shop"))
    with PostgresSource(server) as source:
        yield source


@pytest.fixture
def database(server: PostgresServer, shop: PostgresSource) -> Iterator[PostgresDatabase]:
    """An episode; afterwards its neighbours are as they were, and its files are gone."""
    neighbours = Neighbours(server, shop)
    with shop.open("shop", Limits(seconds=100)) as opened:
        yield opened
        assert neighbours.seen() == neighbours.seen_before
    neighbours.close()


def clone_of(database: PostgresDatabase) -> str:
    """The name of the clone that an episode has by now."""
    database.execute("CREATE TABLE IF NOT EXISTS moved (a int)")
    assert database._private is not None
    return database._private.clone.name


def folder_of(server: PostgresServer, name: str) -> Path:
    """Where the files of a database are."""
    with server.connect(name, ADMIN) as inside:
        query = "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('pg_class')"
        found = inside.execute(query).fetchone()
    assert found is not None
    return Path(found[0]).parent


def taken(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def told(megabytes: int, more: str = "") -> QueryError:
    return QueryError(
        "too_large",
        f"stopped: the database has grown by more than {megabytes} MiB (a lock counts as 128 KiB){more}",
    )


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(sql, id=name, marks=pytest.mark.slow if name in SLOW_WRITERS else ())
        for name, sql in WRITERS.items()
    ],
)
def test_writing_ends_at_the_quota_and_the_episode_goes_on(
    server: PostgresServer, database: PostgresDatabase, small: None, sql: str, wait_until: Callable[..., None]
) -> None:
    folder = folder_of(server, clone_of(database))
    before = taken(folder)
    assert database.execute(sql) == told(64)
    assert taken(folder) - before < MOST + BEYOND
    assert rows(database.execute("SELECT count(*) FROM orders, generate_series(1, 1000000)")) == [
        (3_000_000,)
    ]
    assert kind(database.execute("INSERT INTO customers VALUES (4, 'Emmy')")) == "ok"
    database.close()
    wait_until(lambda: not folder.exists())


TABLES = "DO $$ BEGIN FOR i IN 1..100000000 LOOP EXECUTE format('CREATE TABLE t%s ()', i); END LOOP; END $$"


def test_locks_of_one_transaction_end_at_the_quota(
    database: PostgresDatabase, small: None, server: PostgresServer
) -> None:
    """All sessions of a server share one table of locks: who fills it ends their statements."""
    database.execute("BEGIN")
    assert database.execute(TABLES) == told(64)
    assert database._private is not None
    with server.connect() as connection:
        held = "SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database"
        (count,) = connection.execute(f"{held} WHERE datname = '{database._private.clone.name}'".encode())
    assert count[0] < 100
    database.execute("ROLLBACK")
    assert kind(database.execute("INSERT INTO customers VALUES (4, 'Emmy')")) == "ok"


@pytest.mark.slow
def test_what_was_stopped_leaves_its_room(
    server: PostgresServer, database: PostgresDatabase, small: None
) -> None:
    folder = folder_of(server, clone_of(database))
    before = taken(folder)
    database.execute("CREATE TABLE plain (a text)")
    for _ in range(3):
        assert database.execute(f"INSERT INTO plain SELECT {LINE}") == told(64)
    database.execute("SELECT 1")
    assert taken(folder) - before < 2 * MIB


@pytest.mark.slow
def test_what_does_not_listen_is_ended(
    server: PostgresServer, database: PostgresDatabase, small: None
) -> None:
    folder = folder_of(server, clone_of(database))
    before = taken(folder)
    ended = told(64, "; the session was ended, and its uncommitted changes are lost")
    for _ in range(3):
        assert database.execute(DEAF) == ended
    assert rows(database.execute("SELECT count(*) FROM customers")) == [(3,)]
    assert taken(folder) - before < MOST + BEYOND


@pytest.mark.slow
def test_savepoints_win_no_room(server: PostgresServer, database: PostgresDatabase, small: None) -> None:
    """What is rolled back inside a transaction stays in the files until that ends."""
    folder = folder_of(server, clone_of(database))
    before = taken(folder)
    database.run(["BEGIN; SAVEPOINT s"])
    for _ in range(5):
        assert database.execute(WRITERS["insert"]) == told(64)
        database.execute("ROLLBACK TO s")
        assert kind(database.execute("SELECT count(*) FROM customers, generate_series(1, 1000000)")) == "ok"
    assert taken(folder) - before < MOST + BEYOND
    database.execute("ROLLBACK")
    assert kind(database.execute("CREATE TABLE t AS SELECT generate_series(1, 100000)")) == "ok"
    assert taken(folder) - before < MOST


def test_what_was_committed_goes_on_counting_and_can_be_dropped(
    database: PostgresDatabase, small: None
) -> None:
    """Statements that are each short; a checkpoint does not start anew."""
    clone_of(database)
    results = database.run(
        [f"CREATE TABLE t{i} AS SELECT repeat('x', 100) FROM generate_series(1, 100000)" for i in range(100)]
    )
    assert results == told(64)
    database.checkpoint()
    assert database.execute(WRITERS["table"]) == told(64)
    database.run([f"DROP TABLE IF EXISTS t{i}" for i in range(100)])
    assert kind(database.execute("CREATE TABLE few AS SELECT generate_series(1, 100000)")) == "ok"


@pytest.mark.slow
def test_the_quota_holds_on_another_server(tmp_path: Path, small: None) -> None:
    with find_server(start_postgres().admin) as other:
        load_shop(other, tmp_path, ELSEWHERE)
        with PostgresSource(other) as source, source.open(ELSEWHERE, Limits(seconds=100)) as database:
            for name in ("insert", "table"):
                assert database.execute(WRITERS[name]) == told(64)
            assert rows(database.execute("SELECT count(*) FROM customers")) == [(3,)]


@pytest.mark.slow
def test_a_gigabyte(server: PostgresServer, database: PostgresDatabase) -> None:
    folder = folder_of(server, clone_of(database))
    before = taken(folder)
    assert database.execute(WRITERS["insert"]) == told(1024)
    assert 1024 * MIB < taken(folder) - before < 1024 * MIB + BEYOND


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "sql",
    [
        "SET temp_file_limit = -1",
        "SELECT set_config('temp_file_limit', '-1', false)",
        "ALTER ROLE CURRENT_USER SET temp_file_limit = -1",
        "ALTER ROLE CURRENT_USER RESET temp_file_limit",
        "ALTER ROLE CURRENT_USER RESET ALL",
        "ALTER DATABASE shop SET temp_file_limit = -1",
        "RESET ALL",
        "DISCARD ALL",
    ],
)
def test_nobody_gets_rid_of_the_limit_on_temporary_files(database: PostgresDatabase, sql: str) -> None:
    clone_of(database)
    database.execute(sql)
    for _ in range(2):
        assert rows(database.execute("SELECT current_setting('temp_file_limit')")) == [("1GB",)]
        database.checkpoint()  # the next statement gets a new session


@pytest.mark.slow
@pytest.mark.parametrize("is_private", [False, True])
def test_a_huge_sort(database: PostgresDatabase, is_private: bool) -> None:
    if is_private:
        clone_of(database)
    sort = f"SELECT count(*) FROM (SELECT {LINE} AS x ORDER BY x) AS q"
    result = database.execute(sort)
    assert isinstance(result, QueryError) and result.kind == "too_large", result
    assert 'exceeds "temp_file_limit"' in result.message
    assert rows(database.execute("SELECT count(*) FROM customers")) == [(3,)]


HUGE = {
    "a value": "SELECT repeat(repeat('x', 1000000), 1000)",
    "values": "SELECT " + ", ".join(["array_fill(repeat('x', 1000000), ARRAY[900])"] * 2),
    "json": "SELECT ('[' || repeat('1,', 100000000) || '1]')::jsonb",
    "a plan": "DO $$ DECLARE s text := 'SELECT 1'; BEGIN FOR i IN 1..22 LOOP"
    " s := s || ' UNION ALL ' || s; END LOOP; EXECUTE s; END $$",
    "a sort": "DO $$ BEGIN SET LOCAL work_mem = '1000GB'; PERFORM count(*) FROM ("
    "SELECT repeat('x', 1000) || generate_series(1, 100000000) AS x ORDER BY 1) AS q; END $$",
    "notifications": "DO $$ BEGIN FOR i IN 1..100000000 LOOP"
    " PERFORM pg_notify('a', repeat('x', 7000) || i); END LOOP; END $$",
}
FILL_AND_FALL = """
DO $$ DECLARE held text[] := '{}'; size int := 1000000; caught int := 0; BEGIN
  LOOP
    BEGIN held := held || array_fill(repeat('x', size), ARRAY[100]);
    EXCEPTION WHEN out_of_memory THEN size := size / 2; EXIT WHEN size < 4; END;
  END LOOP;
  LOOP
    BEGIN PERFORM deeper(1);
    EXCEPTION WHEN OTHERS THEN caught := caught + 1; EXIT WHEN caught = 30; END;
  END LOOP;
END $$
"""


def most_memory(process: int) -> int:
    """The most bytes that a process has had in memory, shared buffers included."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    [peak] = [line for line in lines if line.startswith("VmHWM:")]
    return int(peak.split()[1]) * 1024


@pytest.mark.slow
@pytest.mark.parametrize("sql", HUGE.values(), ids=HUGE)
def test_a_session_without_memory_is_told(database: PostgresDatabase, sql: str) -> None:
    clone_of(database)
    [[process]] = rows(database.execute("SELECT pg_backend_pid()"))
    assert database.execute(sql) == QueryError("too_large", "out of memory (SQLSTATE 53200)")
    assert rows(database.execute("SELECT pg_backend_pid()")) == [(process,)], "the same session goes on"
    assert most_memory(process) < 2048 * MIB


@pytest.mark.slow
def test_a_value_as_large_as_limits_allow_has_room(database: PostgresDatabase) -> None:
    result = database.execute("SELECT repeat(repeat('x', 1000000), 250)")
    assert isinstance(result, QueryResult) and len(result.rows[0][0]) == 250_000_000


@pytest.mark.slow
def test_nothing_ends_a_session_that_has_no_memory_left(database: PostgresDatabase) -> None:
    """Full to the last byte, and then deep into the stack: a crash would end every session there is."""
    clone_of(database)
    [[process]] = rows(database.execute("SELECT pg_backend_pid()"))
    deeper = "CREATE FUNCTION deeper(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN deeper(n + 1); END'"
    assert kind(database.execute(deeper)) == "ok"
    assert kind(database.execute(FILL_AND_FALL)) == "ok"
    assert rows(database.execute("SELECT pg_backend_pid()")) == [(process,)]
