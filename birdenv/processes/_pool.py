"""Pools of worker processes: leased one by one, or a group at work in which a death costs its own item."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from birdenv.processes._process import Process, WorkerCrashError

W = TypeVar("W", bound=Process)


class WorkerPool(Generic[W]):
    """Workers that one user at a time leases, and the idle ones, kept for the next.

    A worker belongs to who leased it until it is released; what is not released ends with its last reference,
    and everything with this process. Lives as long as this process. Any thread may lease and release.
    """

    def __init__(self, start: Callable[[], W], most_idle: float = math.inf) -> None:
        """Start no worker yet; keep `most_idle` idle ones at most."""
        self._start = start
        self._most_idle = most_idle
        self._idle: deque[W] = deque()
        os.register_at_fork(after_in_child=self.close_idle)

    def lease(self) -> W:
        """Give an idle worker, or a new one. Raises `InputError` if none can be started."""
        while True:
            try:
                worker = self._idle.pop()
            except IndexError:  # not asked before: another thread may take the last one
                return self._start()
            if worker.is_alive:
                return worker
            worker.close()

    def release(self, worker: W) -> None:
        """Take back a worker that has nothing to do."""
        if len(self._idle) < self._most_idle:
            self._idle.append(worker)
        else:
            worker.close()

    def close_idle(self) -> None:
        """End the idle workers; in a forked child, let go of the parent's."""
        while self._idle:
            self._idle.pop().close()


class Crash(NamedTuple, Generic[W]):
    """A worker of a group has died, and another has its number. `worker`: the dead one."""

    worker: W
    error: WorkerCrashError


@dataclass(slots=True)
class _Member(Generic[W]):
    worker: W
    items: int = 0  # that it has been sent and has not finished
    seconds: float = math.inf  # for its next message
    deadline: float = math.inf
    error: WorkerCrashError | None = None  # met in sending


class WorkerGroup(Generic[W]):
    """So many workers of a pool, numbered from 0, at work for one owner.

    One that dies, or says nothing in time, costs the items that it had, and is replaced. A context manager:
    at its end workers with nothing to do go back to the pool, the others are killed.
    """

    def __init__(
        self, pool: WorkerPool[W], size: int, prepare: Callable[[W], None], rest: Callable[[W], None]
    ) -> None:
        """`prepare` is called with each worker before its first item, `rest` before it goes back."""
        self._pool = pool
        self._size = size
        self._prepare = prepare
        self._rest = rest
        self._selector = selectors.DefaultSelector()
        self._members: dict[int, _Member[W]] = {}

    def __enter__(self) -> WorkerGroup[W]:
        try:
            for number in range(self._size):
                self._begin(number)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def workers(self) -> dict[int, W]:
        """The workers by number, as they are now."""
        return {number: member.worker for number, member in self._members.items()}

    def items(self, number: int) -> int:
        """Give how many items a worker has that it has not finished."""
        return self._members[number].items

    def send(self, number: int, data: bytes, seconds: float) -> None:
        """Send a worker one item more, for whose every message it gets so many seconds.

        One that takes nothing, or has died, is told by `wait`.
        """
        member = self._members[number]
        member.seconds = max(seconds, member.seconds) if member.items else seconds
        member.deadline = time.monotonic() + member.seconds
        member.items += 1
        try:
            member.worker.send(data, member.deadline)
        except WorkerCrashError as error:
            member.error = error

    def finish_item(self, number: int) -> int:
        """Note that a worker has finished an item; gives how many it has left."""
        member = self._members[number]
        member.items -= 1
        if not member.items:
            member.deadline = math.inf
        return member.items

    def wait(self, most_bytes: float) -> Iterator[tuple[int, bytes | Crash[W]]]:
        """Give what workers say, and their crashes, by number: at least one thing.

        Raises `InputError` if no worker can be started in place of a dead one.
        """
        dead = [(number, member.error) for number, member in self._members.items() if member.error]
        for number, error in dead:
            yield number, self._replace(number, error)
        if dead:
            return
        soonest = min(member.deadline for member in self._members.values())
        left = None if soonest == math.inf else max(soonest - time.monotonic(), 0)
        ready = self._selector.select(left)
        for key, _ in ready:
            number = key.data
            member = self._members[number]
            try:
                data = member.worker.receive(most_bytes, time.monotonic() + member.seconds)
            except WorkerCrashError as error:
                yield number, self._replace(number, error)
                continue
            if member.items:
                member.deadline = time.monotonic() + member.seconds
            yield number, data
        now = time.monotonic()
        for number, member in list(self._members.items()):
            if now > member.deadline and not ready:
                late = member.worker.crash("it did not answer", was_late=True)
                yield number, self._replace(number, late)

    def reject(self, number: int, reason: str) -> Crash[W]:
        """Kill a worker for what it said, and replace it."""
        return self._replace(number, self._members[number].worker.crash(reason))

    def _replace(self, number: int, error: WorkerCrashError) -> Crash[W]:
        dead = self._members.pop(number).worker
        self._selector.unregister(dead.connection)
        self._begin(number)
        return Crash(dead, error)

    def _begin(self, number: int) -> None:
        worker = self._pool.lease()
        member = self._members[number] = _Member(worker)
        self._selector.register(worker.connection, selectors.EVENT_READ, number)
        try:
            self._prepare(worker)
        except WorkerCrashError as error:
            member.error = error

    def _end(self) -> None:
        self._selector.close()
        for member in self._members.values():
            if member.items:
                member.worker.strike()  # all of them first: who waits types Ctrl-C again
        while self._members:
            _, member = self._members.popitem()
            if member.items:
                member.worker.kill()
                continue
            with contextlib.suppress(WorkerCrashError):
                self._rest(member.worker)
                self._pool.release(member.worker)
