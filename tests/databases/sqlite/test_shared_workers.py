"""Writing episodes share a bounded number of workers; nobody can tell whose image was put aside when."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from birdenv.databases import Checkpoint, Limits, QueryError, Result, SqliteSource
from birdenv.databases.sqlite import _process_database as pool
from birdenv.databases.sqlite._process_database import ProcessDatabase

LIMITS = Limits(seconds=5)
COUNTERS = "SELECT changes(), total_changes(), last_insert_rowid()"
SCRIPT = (
    "INSERT INTO customers (name) VALUES ('A'), ('B')",
    "UPDATE customers SET name = name || '!' WHERE id > 1",
    "CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, text)",
    "INSERT INTO notes VALUES (-7, 'first')",
    "DELETE FROM notes WHERE id = 99",
    "INSERT INTO notes (text) SELECT name FROM customers",
    "SELECT * FROM notes",
    "SELEC",
    "CREATE VIRTUAL TABLE words USING fts5 (text)",
    "INSERT INTO words SELECT text FROM notes",
    "SELECT * FROM words WHERE words MATCH 'first'",
    "PRAGMA page_count",
    "INSERT INTO customers (name) VALUES ('C') RETURNING id",
)
BOUND = (
    ("BEGIN", "DELETE FROM customers", "SELECT count(*) FROM customers", "ROLLBACK"),
    ("CREATE TEMP TABLE mine (x)", "INSERT INTO mine VALUES (1)", "SELECT * FROM mine"),
    ("PRAGMA foreign_keys = 1", "SELECT 1", "PRAGMA foreign_keys"),
    ("ATTACH ':memory:' AS other", "CREATE TABLE other.t (a)", "PRAGMA database_list"),
    ("PRAGMA case_sensitive_like = 1", "SELECT 'a' LIKE 'A'"),
    (
        "CREATE TABLE n (i)",
        "WITH RECURSIVE c(x) AS (VALUES (0) UNION ALL SELECT x + 1 FROM c LIMIT 10001)"
        " INSERT INTO n SELECT x FROM c",
        "SELECT count(*) FROM n",
    ),
    ("DELETE FROM orders", "VACUUM", "PRAGMA page_count"),
)


@pytest.fixture
def workers(source: SqliteSource) -> Iterator[SqliteSource]:
    pool.workers.close_idle()
    yield SqliteSource(source.root, isolation="process")
    pool.workers.close_idle()


def opened(source: SqliteSource) -> ProcessDatabase:
    database = source.open("shop", LIMITS)
    assert isinstance(database, ProcessDatabase)
    return database


def first_value(result: Result) -> object:
    assert not isinstance(result, QueryError), result
    return result.rows[0][0]


@pytest.mark.slow
def test_an_episode_that_is_put_aside_after_each_statement_goes_on_as_if_nothing_had_been(
    source: SqliteSource, workers: SqliteSource
) -> None:
    with source.open("shop", LIMITS) as here, opened(workers) as there:
        for sql in SCRIPT:
            assert there.execute(sql) == here.execute(sql), sql
            there._give_up()
            assert there._worker is None, sql
            assert there.execute(COUNTERS) == here.execute(COUNTERS), sql
        there._give_up()
        assert there.state() == here.state()


@pytest.mark.every(9)
@pytest.mark.parametrize("script", BOUND, ids=[script[0] for script in BOUND])
def test_what_is_more_than_an_image_keeps_its_worker(
    source: SqliteSource, workers: SqliteSource, script: tuple[str, ...]
) -> None:
    with source.open("shop", LIMITS) as here, opened(workers) as there:
        for place, sql in enumerate(script):
            assert there.execute(sql) == here.execute(sql), sql
            there._give_up()
            assert place != 1 or there._worker is not None
        assert there.execute(COUNTERS) == here.execute(COUNTERS)


@pytest.mark.slow
def test_forty_writing_episodes_share_the_workers(workers: SqliteSource) -> None:
    most = 0

    def play(number: int) -> list[object]:
        nonlocal most
        with opened(workers) as database:
            for turn in range(5):
                database.execute(f"INSERT INTO customers (name) VALUES ('{number}-{turn}')")
                barrier.wait(60)
                most = max(most, pool.workers.count())
            return [
                first_value(database.execute("SELECT count(*) FROM customers")),
                first_value(database.execute(f"SELECT count(*) FROM customers WHERE name LIKE '{number}-%'")),
            ]

    barrier = threading.Barrier(40)
    with ThreadPoolExecutor(40) as threads:
        assert list(threads.map(play, range(40))) == [[8, 5]] * 40
    assert 0 < most <= pool.MOST_WORKERS


def test_where_every_worker_is_bound_another_is_started(workers: SqliteSource) -> None:
    episodes = [opened(workers) for _ in range(pool.MOST_WORKERS + 2)]
    try:
        for database in episodes:
            database.execute("BEGIN")
            database.execute("DELETE FROM orders")
        assert pool.workers.count() == len(episodes)
        for database in episodes:
            database.execute("ROLLBACK")
            assert first_value(database.execute("SELECT count(*) > 0 FROM orders")) == 1
    finally:
        for database in episodes:
            database.close()
    assert pool.workers.count() <= pool.MOST_WORKERS, "those beyond the bound have ended"


def test_after_a_kill_an_episode_goes_on_from_its_checkpoint_not_from_where_it_was_put_aside(
    workers: SqliteSource,
) -> None:
    with opened(workers) as database:
        database.execute("INSERT INTO customers (name) VALUES ('Kept')")
        assert isinstance(database.checkpoint(), Checkpoint)
        database.execute("INSERT INTO customers (name) VALUES ('Lost')")
        database._give_up()
        assert first_value(database.execute("SELECT count(*) FROM customers")) == 5
        assert database._worker is not None
        os.kill(database._worker.pid, signal.SIGKILL)
        database._give_up()
        told = database.execute("SELECT count(*) FROM customers")
        assert isinstance(told, QueryError) and "since its last checkpoint is lost" in told.message
        assert first_value(database.execute("SELECT count(*) FROM customers")) == 4
