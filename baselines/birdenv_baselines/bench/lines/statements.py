"""Measure the time that a step adds to its SQL statement, and compare a worker with an echo process.

The cost of a message depends on where the two processes run. On one processor, the system switches between
them. On two processors, the other processor must be woken up. Therefore, each case has a line.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from typing import Final

import birdenv
from birdenv.databases import QueryResult, SqliteSource
from birdenv_baselines.bench._databases import SIZES
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Setting,
    Skip,
    in_rounds,
    spread,
    times_as_long,
)
from birdenv_baselines.bench._processes import below
from birdenv_baselines.bench._tasks import make_environment, plain_connection, quick_tasks

__all__ = ["lines"]

_SIZE: Final = SIZES[0]
_FIVE_BY_FIVE: Final = (
    "SELECT id, customer_id, placed, status, total FROM orders WHERE id BETWEEN 101 AND 105 /* {} */"
)
_STEPS: Final = 200  # in one episode, which may have 999
_MORE_ROUNDS: Final = 4  # times as many as for other lines, because these are quick
_ANYWHERE: Final = "where the system puts them"
_APART: Final = "a processor each"
_TOGETHER: Final = "on one processor"
_ECHO: Final = """
import pickle, socket, sys
connection = socket.socket(fileno=int(sys.argv[1]))
while data := connection.recv(65536):
    connection.send(pickle.dumps(pickle.loads(data)))
"""


def lines(quick: bool) -> list[Line]:
    """Return the lines about statements; `quick` changes nothing."""
    echo = "bare echo of a pickle, {}"
    return [
        Line("env.step, 5 rows x 5 columns, no SQL twice", "the raw statement", _step, None, (_SIZE,)),
        *(
            Line(
                "SELECT 1 through the wall", echo.format(place), partial(_through_wall, place), bar, (_SIZE,)
            )
            for place, bar in (
                (_ANYWHERE, None),
                (_APART, Bar("at most", 2.5)),
                (_TOGETHER, None),
            )
        ),
    ]


def _step(setting: Setting) -> Figure:
    numbers = count()
    texts: list[str] = []

    def new_texts() -> None:
        texts[:] = [_FIVE_BY_FIVE.format(next(numbers)) for _ in range(_STEPS)]

    with ExitStack() as stack:
        tasks = quick_tasks(_SIZE)
        environment = stack.enter_context(closing(make_environment(setting.folder, tasks, setting.scratch)))
        connection = stack.enter_context(closing(plain_connection(setting.file(_SIZE))))
        database = stack.enter_context(SqliteSource(setting.folder).open(_SIZE.db_id))

        def begin() -> None:
            new_texts()
            environment.reset(options={"index": 0})

        def steps() -> None:
            for sql in texts:
                environment.step(birdenv.execute_sql(sql))

        def bare() -> None:
            for sql in texts:
                connection.execute(sql).fetchmany(101)

        def wall() -> None:
            for sql in texts:
                database.execute(sql)

        contenders = [Contender(steps, begin), Contender(bare, new_texts), Contender(wall, new_texts)]
        ours, theirs, walls = in_rounds(contenders, _MORE_ROUNDS * setting.rounds)
        observation, *_ = environment.step(birdenv.execute_sql(_FIVE_BY_FIVE))
        if "(5 rows)" not in observation["message"]:
            raise RuntimeError(f"expected five rows, got {observation['message']!r}")
    added = [(a - b) / _STEPS * 1e6 for a, b in zip(ours, theirs, strict=True)]
    through = spread([(a - b) / _STEPS * 1e6 for a, b in zip(walls, theirs, strict=True)], "µs")
    note = f"the figure is what a step adds; {through.value:.0f} µs of it is the wall"
    return spread(added, "µs", ours, theirs, _STEPS, note)


def _through_wall(place: str, setting: Setting) -> Figure:
    with ExitStack() as stack:
        there = stack.enter_context(_placed(place))
        connection = stack.enter_context(_echo())
        database = stack.enter_context(SqliteSource(setting.folder).open(_SIZE.db_id))
        if not isinstance(database.execute("SELECT 1"), QueryResult):
            raise RuntimeError("SELECT 1 failed")
        for process in below(os.getpid()):
            os.sched_setaffinity(process, there)

        def echo() -> None:
            connection.send(pickle.dumps(("execute", ("SELECT 1", None))))
            pickle.loads(connection.recv(65536))

        contenders = [Contender(partial(database.execute, "SELECT 1")), Contender(echo)]
        return times_as_long(*in_rounds(contenders, _MORE_ROUNDS * setting.rounds))


@contextmanager
def _placed(place: str) -> Iterator[set[int]]:
    """Pin this process to its first processor if `place` says so, and yield the processors for workers."""
    if not hasattr(os, "sched_setaffinity"):
        raise Skip("not measured: this system does not let a process choose its processor")
    before = os.sched_getaffinity(0)
    here = before if place == _ANYWHERE else {min(before)}
    there = before - here if place == _APART else here
    if not there:
        raise Skip("not measured: this process may use only one processor")
    os.sched_setaffinity(0, here)
    try:
        yield there
    finally:
        for process in {os.getpid()} | below(os.getpid()):
            os.sched_setaffinity(process, before)


@contextmanager
def _echo() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-S", "-c", _ECHO, str(theirs.fileno())]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()]):
        theirs.close()
        yield ours
        ours.close()  # ends the process
