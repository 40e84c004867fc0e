"""Processes that take turns: so many at most, none twice, and dead ones are replaced."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from birdenv.errors import InfrastructureError
from birdenv.processes import pool as process_pool
from birdenv.processes.pool import ProcessPool
from birdenv.processes.process import ChildProcess


@pytest.fixture
def pool() -> Iterator[ProcessPool[ChildProcess]]:
    made: ProcessPool[ChildProcess] = ProcessPool(lambda: ChildProcess("obeying_child"), 2)
    yield made
    made.close_idle()


def leased(pool: ProcessPool[ChildProcess]) -> ChildProcess:
    process = pool.lease()
    assert process is not None
    return process


def test_an_idle_process_is_used_again(pool: ProcessPool[ChildProcess]) -> None:
    first = leased(pool)
    second = leased(pool)
    assert first.pid != second.pid
    pool.release(first)
    assert leased(pool) is first


def test_a_dead_process_is_replaced(pool: ProcessPool[ChildProcess]) -> None:
    process = leased(pool)
    pool.release(process)
    os.kill(process.pid, signal.SIGKILL)
    while process.is_alive:
        time.sleep(0.01)
    another = leased(pool)
    assert another.pid != process.pid
    another.kill()
    pool.release(another)
    assert leased(pool).is_alive


def test_who_finds_all_leased_waits_for_one(pool: ProcessPool[ChildProcess]) -> None:
    first, _second = leased(pool), leased(pool)
    found: list[ChildProcess] = []
    thread = threading.Thread(target=lambda: found.append(leased(pool)))
    thread.start()
    time.sleep(0.1)
    assert not found
    pool.release(first)
    thread.join(10)
    assert found == [first]


def test_who_waits_may_give_up(pool: ProcessPool[ChildProcess]) -> None:
    _first, _second = leased(pool), leased(pool)
    wanted, found = [True], []
    thread = threading.Thread(target=lambda: found.append(pool.lease(lambda: bool(wanted))))
    thread.start()
    time.sleep(0.1)
    wanted.clear()
    pool.look_again()
    thread.join(10)
    assert found == [None]


def test_what_is_taken_out_does_not_count(pool: ProcessPool[ChildProcess]) -> None:
    kept = [leased(pool) for _ in range(2)]
    for process in kept:
        pool.take_out(process)
    more = [leased(pool) for _ in range(2)]
    assert len({process.pid for process in kept + more}) == 4
    for process in more + kept:
        pool.release(process)
    assert [process.is_alive for process in more + kept] == [True, True, False, False], "two are kept idle"


def test_what_nobody_holds_any_more_does_not_count(pool: ProcessPool[ChildProcess]) -> None:
    """As after Ctrl-C between the lease and the release."""
    for _ in range(4):
        leased(pool)


def test_threads_share_two_processes(pool: ProcessPool[ChildProcess]) -> None:
    seen, failures = set(), []

    def work() -> None:
        for _ in range(20):
            process = leased(pool)
            seen.add(process.pid)
            if process.call(("echo", 1)) != 1:
                failures.append(process.pid)
            pool.release(process)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(seen), failures) == (2, [])


def test_a_forked_child_has_processes_of_its_own(pool: ProcessPool[ChildProcess]) -> None:
    process = leased(pool)
    pool.release(process)
    child = os.fork()
    if not child:  # no pytest in here: it would report twice
        own = leased(pool)
        os._exit(0 if own.pid != process.pid and own.call(("echo", 1)) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert leased(pool).call(("echo", 1)) == 1


def test_where_none_can_be_started_the_others_go_on(
    pool: ProcessPool[ChildProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = leased(pool)
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    for _ in range(3):
        with pytest.raises(InfrastructureError, match="cannot start a child process"):
            pool.lease()
    assert process.call(("echo", 1)) == 1
    pool.release(process)
    assert leased(pool) is process


def test_memory_that_is_left_is_the_machines_or_the_containers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(process_pool, "_CONTAINER", tmp_path)
    assert process_pool.memory_left() is None
    (tmp_path / "meminfo").write_text("MemTotal:  9000 kB\nMemAvailable:    1000 kB\n")
    assert process_pool.memory_left() == 1_024_000
    for name, text in (
        ("max", "2000000"),
        ("current", "1500000"),
        ("stat", "anon 1\ninactive_file 100000\n"),
    ):
        (tmp_path / f"memory.{name}").write_text(text)
    assert process_pool.memory_left() == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert process_pool.memory_left() == 1_024_000
