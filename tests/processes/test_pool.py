"""Pools of workers: who is leased which, and that a death costs its own item and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from birdenv.processes._messages import decoded, encoded
from birdenv.processes._pool import Crash, WorkerGroup, WorkerPool
from birdenv.processes._process import Process, WorkerCrashError

Ends = Callable[[int], bool]
MOST = 2**20


@pytest.fixture
def pool() -> Iterator[WorkerPool[Process]]:
    started = WorkerPool(lambda: Process("obeying_child"), most_idle=2)
    yield started
    started.close_idle()


def group_of(pool: WorkerPool[Process], size: int, prepare: Any = lambda _: None) -> WorkerGroup[Process]:
    return WorkerGroup(pool, size, prepare, lambda _: None)


def send(
    group: WorkerGroup[Process], number: int, order: str, value: Any = None, seconds: float = 20
) -> None:
    group.send(number, encoded([order, value]), seconds)


def test_a_released_worker_is_leased_again(pool: WorkerPool[Process]) -> None:
    first = pool.lease()
    second = pool.lease()
    assert first is not second
    pool.release(first)
    assert pool.lease() is first


def test_a_worker_that_died_while_it_was_idle_is_not_leased(pool: WorkerPool[Process], ends: Ends) -> None:
    worker = pool.lease()
    pool.release(worker)
    os.kill(worker.pid, signal.SIGKILL)
    assert ends(worker.pid)
    assert pool.lease() is not worker


def test_so_many_idle_workers_are_kept(pool: WorkerPool[Process], ends: Ends) -> None:
    workers = [pool.lease() for _ in range(3)]
    for worker in workers:
        pool.release(worker)
    assert ends(workers[2].pid)
    assert [worker.is_alive for worker in workers] == [True, True, False]
    pool.close_idle()
    assert all(ends(worker.pid) for worker in workers)


def test_threads_never_share_a_worker(pool: WorkerPool[Process]) -> None:
    wrong: list[object] = []

    def talk(number: int) -> None:
        for turn in range(20):
            worker = pool.lease()
            worker.send_json(["echo", [number, turn]])
            if (found := worker.receive_json()) != [number, turn]:
                wrong.append(found)
            pool.release(worker)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


KILLERS = {
    "it ends": ("exit", 3, "it ended with exit code 3"),
    "it is killed": ("die", signal.SIGKILL, "it was ended by SIGKILL"),
    "it is late": ("sleep", 60, "it did not answer"),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("order", "value", "reason"), KILLERS.values(), ids=KILLERS)
def test_a_crash_costs_its_own_item(pool: WorkerPool[Process], order: str, value: int, reason: str) -> None:
    items: list[tuple[str, Any]] = [("echo", number) for number in range(12)]
    items[4] = (order, value)
    waiting = list(enumerate(items))
    at_work: dict[int, int] = {}
    outcomes: dict[int, object] = {}
    with group_of(pool, 2) as group:
        while len(outcomes) < len(items):
            for worker in group.workers:
                if not group.items(worker) and waiting:
                    number, item = waiting.pop(0)
                    at_work[worker] = number
                    send(group, worker, *item, seconds=1 if number == 4 else 20)
            for worker, message in group.wait(MOST):
                if isinstance(message, Crash):
                    outcomes[at_work[worker]] = str(message.error)
                    assert not message.worker.is_alive
                else:
                    outcomes[at_work[worker]] = decoded(message)
                    group.finish_item(worker)
    assert outcomes == {**{number: number for number in range(12)}, 4: reason}


def test_a_worker_that_dies_with_its_item_half_sent_is_told_and_replaced(pool: WorkerPool[Process]) -> None:
    prepared: list[Process] = []
    with group_of(pool, 1, prepared.append) as group:
        os.kill(group.workers[0].pid, signal.SIGSTOP)
        send(group, 0, "echo", "x" * 10_000_000, seconds=0.3)
        ((number, crash),) = group.wait(MOST)
        assert isinstance(crash, Crash)
        assert (number, crash.error.was_late, crash.worker) == (0, True, prepared[0])
        assert (group.items(0), group.workers[0]) == (0, prepared[1])


def test_a_worker_whose_answer_makes_no_sense_is_replaced(pool: WorkerPool[Process]) -> None:
    with group_of(pool, 1) as group:
        worker = group.workers[0]
        crash = group.reject(0, "nonsense")
        assert (crash.worker, str(crash.error), worker.is_alive) == (worker, "nonsense", False)
        send(group, 0, "echo", 1)
        assert [decoded(message) for _, message in group.wait(MOST) if isinstance(message, bytes)] == [1]


def test_idle_workers_go_back_to_the_pool_and_busy_ones_are_killed(pool: WorkerPool[Process]) -> None:
    rested: list[Process] = []
    with WorkerGroup(pool, 2, lambda _: None, rested.append) as group:
        busy, idle = group.workers[0], group.workers[1]
        send(group, 0, "compute")
    assert (busy.is_alive, idle.is_alive, rested) == (False, True, [idle])
    assert pool.lease() is idle


def test_a_worker_that_cannot_rest_does_not_go_back(pool: WorkerPool[Process]) -> None:
    def fail(worker: Process) -> None:
        raise worker.crash("it cannot rest")

    with WorkerGroup(pool, 1, lambda _: None, fail) as group:
        worker = group.workers[0]
    assert pool.lease() is not worker


@pytest.mark.parametrize("moment", ["strike", "kill"])
def test_ctrl_c_while_workers_are_ended_leaves_none_behind(
    pool: WorkerPool[Process], monkeypatch: pytest.MonkeyPatch, ends: Ends, moment: str
) -> None:
    group = group_of(pool, 3)
    group.__enter__()
    workers = [worker.pid for worker in group.workers.values()]
    for number in range(3):
        send(group, number, "compute")

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Process, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            group.__exit__()
    del group
    gc.collect()
    assert all(map(ends, workers))


OWNER = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from birdenv.processes._messages import encoded
from birdenv.processes._pool import WorkerGroup, WorkerPool
from birdenv.processes._process import Process
pool = WorkerPool(lambda: Process("obeying_child"))
pool.release(pool.lease())
leased = pool.lease(), pool.lease()
with WorkerGroup(pool, 2, lambda _: None, lambda _: None) as group:
    for number in group.workers:
        group.send(number, encoded(["compute", None]), 600)
    print(*(worker.pid for worker in [*leased, *group.workers.values()]), flush=True)
    for _ in group.wait(2**20): pass
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_an_owner_that_is_interrupted_or_killed(ends: Ends, ending: int) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert owner.stdout is not None
    workers = [int(pid) for pid in owner.stdout.readline().split()]
    time.sleep(0.3)  # they are busy
    owner.send_signal(ending)
    assert owner.wait(20) != 0
    owner.stdout.close()
    assert len(workers) == 4
    assert all(map(ends, workers))


def test_a_forked_child_lets_go_of_the_idle_workers(pool: WorkerPool[Process]) -> None:
    worker = pool.lease()
    pool.release(worker)
    child = os.fork()
    if not child:  # no pytest in here: it would report twice
        other = pool.lease()
        other.send_json(["echo", 1])
        is_right = other is not worker and other.receive_json() == 1
        other.close()
        os._exit(0 if is_right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pool.lease() is worker
    worker.send_json(["echo", 2])
    assert worker.receive_json() == 2


def test_a_leased_worker_that_died_says_so(pool: WorkerPool[Process]) -> None:
    worker = pool.lease()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerCrashError, match="SIGKILL"):
        worker.send_json(["echo", 1])
        worker.receive_json()
