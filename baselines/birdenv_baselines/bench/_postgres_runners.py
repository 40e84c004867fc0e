"""Runners of writing episodes on PostgreSQL: processes that play as many as they are told, birdenv's way or
the other one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from birdenv.databases import Limits, QueryError
from birdenv_baselines.bench._postgres_peers import ResetByPrograms
from birdenv_baselines.bench._postgres_servers import Kind, loaded, programs, server

if TYPE_CHECKING:
    import psycopg

    from birdenv.databases.postgres import PostgresDatabase, PostgresServer, PostgresSource

__all__ = [
    "CLONES",
    "Way",
    "begin_writing",
    "begin_writing_their_way",
    "runner",
    "together",
    "wait_for_clones",
    "working_database",
]

Way: TypeAlias = Literal["ours", "theirs"]

CLONES: Final = 2
"""That a source keeps ready of the benchmark's database."""

_WRITING: Final = "CREATE TABLE found (id integer PRIMARY KEY, total double precision)"
_REST: Final = ("INSERT INTO found SELECT id, total FROM orders LIMIT 5", "SELECT * FROM found")
_LIMITS: Final = Limits()
_MOST_SECONDS: Final = 60.0
_READY: Final = """
SELECT count(DISTINCT d.datname), count(a.pid)
FROM pg_database AS d LEFT JOIN pg_stat_activity AS a ON a.datname = d.datname
WHERE starts_with(d.datname, 'birdenv-episode-')
"""
"""Databases of writing episodes, and the sessions in them: a clone that is ready has one."""


def begin_writing(source: PostgresSource, db_id: str) -> PostgresDatabase:
    """An episode after its first statement, which writes."""
    database = source.open(db_id, _LIMITS)
    _expect_done(database.execute(_WRITING))
    return database


def begin_writing_their_way(peer: ResetByPrograms) -> psycopg.Connection[Any]:
    """The same after a reset."""
    connection = peer.reset()
    connection.execute(_WRITING)
    return connection


def wait_for_clones(connection: psycopg.Connection[Any], clones: int) -> None:
    """Until so many stand ready and nothing is left to drop. Raises `RuntimeError` if that never happens."""
    end = time.monotonic() + _MOST_SECONDS
    while connection.execute(_READY).fetchone() != (clones, clones):
        if time.monotonic() > end:
            raise RuntimeError(
                f"{clones} clones were not ready after {_MOST_SECONDS:g} s: is this benchmark running twice?"
            )
        time.sleep(0.002)


@contextmanager
def working_database(folder: Path, kind: Kind, db_id: str) -> Iterator[ResetByPrograms]:
    """This process's database for the other way; dropped at the end."""
    running, template = server(folder, kind), loaded(folder, kind, db_id)
    peer = ResetByPrograms(running, programs(running), template.name, f"bench_{db_id}_{os.getpid()}")
    try:
        yield peer
    finally:
        peer.remove()


@dataclass(frozen=True, slots=True)
class _Order:
    way: Way
    episodes: int


def together(runners: Sequence[Connection], way: Way, episodes: int) -> None:
    """Let each play so many episodes. Raises `RuntimeError` if one of them could not."""
    for runner in runners:
        runner.send(_Order(way, episodes))
    for told in [runner.recv() for runner in runners]:
        if told:
            raise RuntimeError(told)


@contextmanager
def runner(folder: Path, kind: Kind, db_id: str) -> Iterator[Connection]:
    """A process for episodes on one database, which has to be loaded."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, folder, kind, db_id), daemon=True)
    process.start()
    there.close()
    try:
        yield here
    finally:
        here.close()
        process.join()


def _work(orders: Connection, folder: Path, kind: Kind, db_id: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; then the pipe ends
    running: PostgresServer = server(folder, kind)
    with ExitStack() as stack:
        from birdenv.databases.postgres import PostgresSource

        source = stack.enter_context(PostgresSource(running, CLONES))
        peer = stack.enter_context(working_database(folder, kind, db_id))
        while True:
            try:
                order = orders.recv()
            except EOFError:
                return
            try:
                for _ in range(order.episodes):
                    _episode(source, db_id) if order.way == "ours" else _their_episode(peer)
            except Exception as error:
                orders.send(f"{type(error).__name__}: {error}")
            else:
                orders.send("")


def _episode(source: PostgresSource, db_id: str) -> None:
    with begin_writing(source, db_id) as database:
        for sql in _REST:
            _expect_done(database.execute(sql))


def _their_episode(peer: ResetByPrograms) -> None:
    with begin_writing_their_way(peer) as connection:
        for sql in _REST:
            connection.execute(sql.encode())


def _expect_done(result: object) -> None:
    if isinstance(result, QueryError):
        raise RuntimeError(result.message)
