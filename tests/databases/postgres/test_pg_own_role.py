"""What an agent does to its own role, rights and database is its own error, never the server's loss."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from pg_shop import kind, load_shop, rows

from birdenv.databases import DatabaseState, QueryError
from birdenv.databases.postgres import PostgresServer, PostgresSource
from birdenv.databases.postgres._session import Session, SessionRefusedError
from birdenv.databases.postgres.clones._clone_factory import CloneFactory, open_clone
from birdenv.databases.postgres.clones._leftovers import sweep

SELF = "ALTER ROLE CURRENT_USER "
SPOILT = [
    SELF + "SET local_preload_libraries = 'nonexistent'",
    "DO $$ BEGIN EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET local_preload_libraries = %L',"
    " current_database(), 'none'); END $$",
    SELF + "SET role = 'none'",
    SELF + "SET search_path = 'nowhere'",
    SELF + "SET statement_timeout = '1ms'",
    SELF + "SET idle_session_timeout = '1ms'",
    SELF + "SET default_transaction_read_only = on",
    SELF + "SET transaction_timeout = '1ms'",
    SELF + "SET client_encoding = 'LATIN1'",
    SELF + "SET temp_buffers = '1TB'",
    SELF + "RESET ALL",
    SELF + "PASSWORD 'mine'",
    SELF + "PASSWORD NULL",
    "DROP OWNED BY CURRENT_USER CASCADE",
    "DROP SCHEMA public CASCADE",
    "REVOKE ALL ON SCHEMA public FROM CURRENT_USER, PUBLIC",
    "DO $$ BEGIN EXECUTE format('REVOKE ALL ON DATABASE %I FROM CURRENT_USER', current_database()); END $$",
    "ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM CURRENT_USER",
]


@pytest.fixture(scope="module")
def source(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresSource]:
    load_shop(server, tmp_path_factory.mktemp("shop"))
    with PostgresSource(server, warm=1) as source:
        yield source


@pytest.mark.every(4)
@pytest.mark.parametrize("statement", SPOILT)
def test_a_spoilt_role_costs_no_episode(source: PostgresSource, statement: str) -> None:
    with source.open("shop") as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS x")
        database.execute(statement)
        private = database._private
        assert private is not None
        assert private.clone.session is not None
        private.clone.session._connection.cut()  # as the agent can, who ends its session
        assert rows(database.execute("SELECT 2")) == [(2,)]
        assert isinstance(database.state(), DatabaseState)
        kept = database.checkpoint()
        assert not isinstance(kept, QueryError)
        with source.open("shop") as other:
            other.restore(kept)
            assert kind(other.execute("CREATE SCHEMA s")) == "ok", "nor does a copy of what it left"
            limit = "SELECT current_setting('temp_file_limit')"
            assert rows(other.execute(limit)) == [("1GB",)], "the role has its bounds again"


def test_a_clone_that_still_refuses_its_owner_is_the_agents_error(
    source: PostgresSource, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with source.open("shop") as database:
        database.execute("CREATE TABLE t (a int)")
        assert database._private is not None
        clone = database._private.clone
        with server.connect() as connection:
            connection.execute(f'ALTER ROLE "{clone.owner.role}" NOLOGIN'.encode())
        with pytest.raises(SessionRefusedError):
            open_clone(server, clone)
        monkeypatch.setattr(CloneFactory, "let_in", lambda factory, clone: True)  # in vain
        assert isinstance(clone.session, Session)
        clone.session.close()
        for result in (database.execute("SELECT 1"), database.query("SELECT 1"), database.state()):
            assert isinstance(result, QueryError)
            assert result.kind == "engine"
            assert result.message.startswith("cannot open a new session in this database: ")
            assert "birdenv-" not in result.message


@pytest.mark.slow
def test_a_session_that_notices_nothing_stops_nobody_else(
    source: PostgresSource, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server drops a database only when all sessions have noticed; one that is stopped never does."""
    monkeypatch.setattr("birdenv.databases.postgres.clones._leftovers._DROPPING_SECONDS", 1)
    with source.open("shop") as deaf, source.open("shop") as other:
        ((process,),) = rows(
            deaf.execute("CREATE TABLE t (a int)") and deaf.execute("SELECT pg_backend_pid()")
        )
        other.execute("CREATE TABLE t (a int)")
        os.kill(process, signal.SIGSTOP)
        try:
            other.close()  # its clone is to be dropped
            began = time.monotonic()
            with server.connect() as connection:
                connection.execute('CREATE DATABASE "birdenv-episode-0123456789abcdef-1"')
                sweep(connection)  # as whoever comes next does, and as closing does
                assert connection.execute("SHOW statement_timeout").fetchone() == ("0",)
            for _ in range(4):  # more than stand ready
                with source.open("shop") as new:
                    assert kind(new.execute("CREATE TABLE t (a int)")) == "ok"
            assert time.monotonic() - began < 60, "not for as long as the session is stopped"
        finally:
            os.kill(process, signal.SIGCONT)


GOLD = "SELECT count(*) FROM orders JOIN customers ON customer = customers.id"
READS = [
    "SELECT sum(seq_scan), sum(idx_scan) FROM pg_stat_user_tables",
    "SELECT sum(heap_blks_read + heap_blks_hit) FROM pg_statio_user_tables",
    "SELECT sum(pg_stat_get_numscans(oid)) FROM pg_class WHERE relname = 'orders'",
    "SELECT sum(pg_stat_get_blocks_fetched(oid)) FROM pg_class WHERE relname = 'orders'",
    "SELECT sum(idx_scan) FROM pg_stat_all_indexes WHERE relname = 'customers'",
]


@pytest.mark.parametrize("read", READS)
def test_statistics_do_not_tell_what_a_gold_read(source: PostgresSource, read: str) -> None:
    def seen() -> object:
        with source.open("shop") as episode:
            return rows(episode.execute(read))

    def grade() -> None:
        with source.open("shop") as gold:
            gold.query(GOLD)
            gold.query("SELECT pg_stat_force_next_flush()")  # as a second later

    grade()
    before = seen()
    for _ in range(3):
        grade()
    source._readers.close()  # a session that ends tells what it did
    assert seen() == before
    with source.open("shop") as prediction:
        assert kind(prediction.query(read)) == "denied", "a submission is run where golds run"


def test_what_explain_measures_is_of_a_database_of_its_own(source: PostgresSource) -> None:
    with source.open("shop") as episode:
        episode.execute("EXPLAIN SELECT * FROM customers")
        assert not episode.is_private
        episode.execute("EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM customers")
        assert episode.is_private
