"""What it costs that statements run in worker processes: one statement, the first one, and many episodes."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from birdenv.databases import Limits, SqliteSource
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, side_by_side, times_as_long
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_ECHO = """
import pickle, socket, sys
connection = socket.socket(fileno=int(sys.argv[1]))
while data := connection.recv(65536):
    connection.send(pickle.dumps(pickle.loads(data)))
"""
_PROBE = """
import json, sys, threading, time
from pathlib import Path
from birdenv.databases import SqliteSource
from birdenv.databases.sqlite._process_database import workers

def memory():  # MB of this process and its workers, each shared page counted in shares
    pids = ["self", *[process.pid for process in list(workers._all) if process.is_alive]]
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024

folder, db_id, statement, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
source = SqliteSource(folder)
source.check(db_id)
began = time.perf_counter()
databases = [source.open(db_id) for _ in range(count)]
databases[0].execute("SELECT 1")
first = time.perf_counter() - began
before = memory()
threads = [threading.Thread(target=each.execute, args=(statement,)) for each in databases]
for thread in threads: thread.start()
for thread in threads: thread.join()
alive = sum(process.is_alive for process in list(workers._all))
print(json.dumps({"first": first, "workers": alive, "before": before, "after": memory()}))
"""
_READING = "SELECT * FROM orders WHERE id < 100"
_WRITING = "UPDATE orders SET total = total + 1 WHERE id < 100"


def lines(setting: Setting) -> list[Line]:
    needs = (setting.sizes[0].db_id,)
    most = 2.0 * (os.cpu_count() or 1)
    return [
        Line(
            "SELECT 1 in a worker",
            "a bare echo between two processes",
            partial(_statement, setting),
            Bar("at most", 2.5),
            needs,
        ),
        Line(
            "the first statement of a process",
            "ms, a worker started",
            partial(_first, setting),
            Bar("at most", 150.0),
            needs,
        ),
        Line(
            "64 reading episodes at once",
            "worker processes",
            partial(_open, setting, _READING, 64),
            Bar("at most", most),
            needs,
        ),
        Line(
            "200 writing episodes at once",
            "worker processes",
            partial(_open, setting, _WRITING, 200),
            Bar("at most", 202.0),
            needs,
        ),
    ]


def _statement(setting: Setting) -> Figure:
    """Owner and child on a processor each, where there are two: as the scheduler has them under load."""
    source, size = SqliteSource(setting.folder), setting.sizes[0]
    with _on_one_processor() as others, _echo(others) as connection, ExitStack() as stack:
        database = stack.enter_context(source.open(size.db_id, Limits()))
        database.execute("SELECT 1")
        _pin_workers(others)

        def echo() -> None:
            connection.send(pickle.dumps(("execute", ("SELECT 1", None))))
            pickle.loads(connection.recv(65536))

        ours, theirs = side_by_side(
            [Contender(lambda: database.execute("SELECT 1")), Contender(echo)], setting.effort
        )
    return times_as_long(ours, theirs, note=f"{ours * 1e6:.0f} us against {theirs * 1e6:.0f} us")


@contextmanager
def _on_one_processor() -> Iterator[set[int]]:
    """Keep this process on its first processor; gives the others."""
    if not hasattr(os, "sched_setaffinity"):
        yield set()
        return
    before = os.sched_getaffinity(0)
    first = min(before)
    os.sched_setaffinity(0, {first})
    try:
        yield before - {first} or before
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _echo(processors: set[int]) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-S", "-c", _ECHO, str(theirs.fileno())]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        if processors:
            os.sched_setaffinity(process.pid, processors)
        yield ours
        ours.close()


def _pin_workers(processors: set[int]) -> None:
    from birdenv.databases.sqlite._process_database import workers

    for process in list(workers._all):
        if processors and process.is_alive:
            os.sched_setaffinity(process.pid, processors)


def _probed(setting: Setting, statement: str, count: int) -> dict[str, float]:
    command = [
        sys.executable,
        "-c",
        _PROBE,
        str(setting.folder),
        setting.sizes[0].db_id,
        statement,
        str(count),
    ]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _first(setting: Setting) -> Figure:
    times = sorted(_probed(setting, "SELECT 1", 1)["first"] for _ in range(5))
    return Figure(1000 * times[2], "ms")


def _open(setting: Setting, statement: str, count: int) -> Figure:
    found = _probed(setting, statement, count)
    memory = f"{found['before']:.0f} MB before, {found['after']:.0f} MB after, of all processes"
    return Figure(found["workers"], "", note=memory)
