"""The thread that stops late statements, where the progress handler alone would not."""

from __future__ import annotations

import sys
from pathlib import Path

import in_a_process
import pytest
from database_files import write_database

SETTING = """
import os, sys, threading, time
from birdenv.databases import Limits, QueryError, SqliteSource
from birdenv.databases.sqlite.guard import _statement_guard
from birdenv.databases.sqlite.guard._deadline import Deadline
from birdenv.databases.sqlite.guard._watchdog import watchdog

_statement_guard._TICK_INSTRUCTIONS = 2**30
source = SqliteSource(sys.argv[1])
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

def outcome(seconds=0.2):
    with source.open("town", Limits(seconds=seconds)) as database:
        result = database.execute(ENDLESS)
    return result.kind, result.elapsed < seconds + 1

def until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_database(tmp_path, "town", "CREATE TABLE a (b)")
    return tmp_path


def test_it_stops_what_is_late_and_sleeps_while_nothing_runs(root: Path) -> None:
    code = """
for _ in range(3):
    print(outcome())
    until(lambda: not watchdog.is_awake)
"""
    assert in_a_process.run(SETTING + code, root) == "('timeout', True)\n" * 3


@pytest.mark.slow
def test_it_wakes_up_although_nobody_woke_it(root: Path) -> None:
    """As where Ctrl-C came between the parts of that."""
    code = """
outcome()
until(lambda: not watchdog.is_awake)
watchdog.is_awake = True
print(outcome())
until(lambda: not watchdog.is_awake)
"""
    assert in_a_process.run(SETTING + code, root) == "('timeout', True)\n"


@pytest.mark.parametrize("attempts", [30, pytest.param(300, marks=pytest.mark.kills)])
def test_ctrl_c_while_it_is_woken_leaves_time_limits_in_force(root: Path, attempts: int) -> None:
    code = """
import signal
signal.signal(signal.SIGALRM, signal.default_int_handler)
database = source.open("town")
for attempt in range(0, 300, 300 // int(sys.argv[2])):
    time.sleep(0.12 if attempt % 20 == 0 else 0)  # asleep by then, most times
    try:
        signal.setitimer(signal.ITIMER_REAL, 2e-6 + attempt * 2e-7)
        for _ in range(3):
            database.execute("SELECT 2")
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
print(outcome())
database.close()
"""
    assert in_a_process.run(SETTING + code, root, attempts) == "('timeout', True)\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_statements_of_the_parent_do_not_run_in_a_forked_child(root: Path) -> None:
    """A statement that another thread runs at that moment is here only as its guard has it."""
    code = """
inherited = source.open("town", Limits(seconds=0.2))
inherited.execute("CREATE TABLE c (d)")
reader = inherited._file.borrow()
reader._guard.start("", Deadline(99, 99), reading=True)
child = os.fork()
if child == 0:
    print(outcome())
    until(lambda: not watchdog.is_awake)
    result = inherited.execute(ENDLESS)
    print(result.kind, result.elapsed < 1.2, flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1], watchdog.is_awake)
"""
    expected = "('timeout', True)\ntimeout True\n0 True\n"
    assert in_a_process.run(SETTING + code, root) == expected
