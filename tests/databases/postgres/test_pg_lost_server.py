"""P40: the server is killed in the middle of an episode. Nothing is answered wrongly; things go on after."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pg_shop import load_shop, rows

from birdenv.databases import Limits
from birdenv.databases.postgres import Cluster, PostgresServer, PostgresSource, ServerError, find_server
from birdenv.databases.postgres.clones._admin_connection import AdminConnection

pytestmark = pytest.mark.contains("P40")


@pytest.fixture
def own(cache: Path, tmp_path: Path) -> Iterator[PostgresServer]:
    """A server to kill."""
    with find_server() as server:
        load_shop(server, tmp_path)
        yield server
        with PostgresSource(server) as last:
            last.check("shop")  # sweeps what was left


def kill(server: PostgresServer) -> None:
    """`kill -9` of the server's first process."""
    cluster = server._cluster
    assert isinstance(cluster, Cluster)
    process = int((cluster.place.data / "postmaster.pid").read_text().split()[0])
    os.kill(process, signal.SIGKILL)


@pytest.mark.slow
def test_reading_goes_on(own: PostgresServer) -> None:
    with PostgresSource(own) as source, source.open("shop") as database:
        before = database.execute("SELECT * FROM customers ORDER BY id")
        kill(own)
        assert database.execute("SELECT * FROM customers ORDER BY id") == before
        assert not database.is_private


@pytest.mark.kills
def test_an_episode_that_wrote_is_over_and_the_next_one_is_not(own: PostgresServer) -> None:
    with PostgresSource(own, warm=1) as source:
        database = source.open("shop", Limits(seconds=30))
        database.run(["CREATE TABLE t (a int); BEGIN; INSERT INTO t VALUES (1)"])
        kept = source.open("shop")
        kept.execute("CREATE TABLE t (a int)")
        snapshot = kept.checkpoint()
        kill(own)
        with pytest.raises(ServerError, match="was lost"):
            while True:  # a session may answer once more before it notices
                database.execute("SELECT count(*) FROM t")
        for use in (lambda: database.execute("SELECT 1"), database.state, database.checkpoint):
            with pytest.raises(ServerError):
                use()
        database.close()
        with pytest.raises(ServerError):
            kept.restore(snapshot)  # type: ignore[arg-type]
            kept.execute("SELECT 1")
        kept.close()
        for _ in range(3):
            with source.open("shop") as new:
                new.execute("CREATE TABLE t AS SELECT 7 AS a")
                assert rows(new.query("SELECT a FROM t")) == [(7,)]
    with own.connect() as connection:
        left = "SELECT datname FROM pg_database WHERE starts_with(datname, 'birdenv-episode-')"
        assert connection.execute(left).fetchall() == []


@pytest.mark.slow
def test_killed_while_a_statement_runs(own: PostgresServer) -> None:
    with PostgresSource(own) as source, source.open("shop", Limits(seconds=60)) as database:
        database.execute("CREATE TABLE t (a int)")
        threading.Timer(0.5, kill, [own]).start()
        with pytest.raises(ServerError, match="was lost"):
            database.execute("SELECT pg_sleep(50)")


@pytest.mark.slow
def test_a_session_that_answers_once_more_does_not_pass_for_a_server(own: PostgresServer) -> None:
    admin = AdminConnection(own, lambda: None)
    assert admin.attempt(admin.is_up)
    kill(own)
    assert not admin.is_up()


@pytest.mark.kills
def test_killed_twice_before_an_answer(own: PostgresServer) -> None:
    with PostgresSource(own) as source, source.open("shop") as database:
        for _ in range(2):
            kill(own)
            assert rows(database.query("SELECT count(*) FROM customers")) == [(3,)]
