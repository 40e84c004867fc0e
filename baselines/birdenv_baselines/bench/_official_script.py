"""The way of BIRD's official script (mini_dev evaluation_ex.py), and the floor below every way of scoring.

Both have two processes, which are started and have loaded their modules before anything is timed.
"""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Final

from birdenv_baselines.bench._episode_tasks import Task
from birdenv_baselines.bench._peers import REFUSALS, official_verdict, plain_connection

__all__ = ["OfficialScript", "RawPool", "two_processes"]

_AT_ONCE: Final = 4  # tasks or statements sent to a process in one message
_ROWS: Final = 1_000

_connections: dict[Path, sqlite3.Connection] = {}


def two_processes() -> Pool:
    """To be used in a `with`."""
    return multiprocessing.get_context("spawn").Pool(2, _leave_ctrl_c_to_the_parent)


class OfficialScript:
    """Each task by itself: a new connection, the prediction, the gold, all rows of both, equal as sets?

    The original waits for each in a thread with a deadline; the progress handler here is cheaper.
    """

    def __init__(self, databases: Mapping[str, Path], pool: Pool) -> None:
        self._databases = databases
        self._pool = pool

    def score(self, tasks: Sequence[Task]) -> list[bool]:
        work = [(self._databases[task.db_id], task.gold, task.prediction) for task in tasks]
        return self._pool.starmap(official_verdict, work, _AT_ONCE)


class RawPool:
    """Statements, each to its last row, on connections that stay open; nothing is compared."""

    def __init__(self, databases: Mapping[str, Path], pool: Pool) -> None:
        self._databases = databases
        self._pool = pool

    def run(self, statements: Iterable[tuple[str, str]]) -> None:
        """`statements`: a database and an SQL text each."""
        work = [(self._databases[db_id], sql) for db_id, sql in statements]
        self._pool.starmap(_drain, work, _AT_ONCE)


def _drain(database: Path, sql: str) -> None:
    if database not in _connections:
        _connections[database] = plain_connection(database)
    try:
        cursor = _connections[database].execute(sql)
        while cursor.fetchmany(_ROWS):
            pass
    except REFUSALS:
        pass  # a query that fails is executed too


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
