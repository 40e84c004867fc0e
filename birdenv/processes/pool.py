"""A pool of child processes: leased one at a time, so many at most, the idle ones kept for the next use.

`memory_left` says how many more the machine can take.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar

from birdenv.processes.process import ChildProcess

_MACHINE: Final = Path("/proc/meminfo")
_CONTAINER: Final = Path("/sys/fs/cgroup")


def memory_left() -> int | None:
    """Return the bytes that processes can still take; None where the kernel does not tell (macOS)."""
    known = [left for left in (_of_machine(), _of_container()) if left is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MACHINE.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        most = int((_CONTAINER / "memory.max").read_text())  # "max" where there is no limit
        used = int((_CONTAINER / "memory.current").read_text())
        cached = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
        return most - used + int(cached["inactive_file"])
    except (OSError, KeyError, ValueError):
        return None


P = TypeVar("P", bound=ChildProcess)

_LOOK_AGAIN: Final = 1.0  # seconds after which who waits looks again, whatever it was told


class ProcessPool(Generic[P]):
    """A limited number of processes of one kind that take turns; each is started when it is first needed.

    A process belongs to who leased it until it is released or taken out; what is not released ends with its
    last reference, and everything with this process. Any thread may use the pool.

    Args:
        start: starts a process.
        most: processes that are leased at a time, at most.
        most_idle: processes that are kept idle, at most; as many as `most` if it is not given.
    """

    def __init__(self, start: Callable[[], P], most: int, most_idle: int | None = None) -> None:
        self._start = start
        self._most = most
        self._most_idle = most if most_idle is None else most_idle
        self._renew()
        os.register_at_fork(after_in_child=self._after_fork)

    def _renew(self) -> None:
        self._idle: deque[P] = deque()
        self._all: weakref.WeakSet[P] = weakref.WeakSet()
        self._change = threading.Condition(threading.Lock())
        self._starting = 0

    def _after_fork(self) -> None:
        """Let go of processes and waiting threads: they are the parent's."""
        self.close_idle()
        self._renew()

    def lease(self, is_wanted: Callable[[], bool] = lambda: True) -> P | None:
        """Return an idle process or a new one; wait for one where all are leased.

        Args:
            is_wanted: asked while waiting; where it says no, the answer is None.

        Raises:
            InfrastructureError: no process can be started.
        """
        with self._change:
            while True:
                while self._idle and self._has_room():
                    process = self._idle.pop()
                    if process.is_alive:
                        process.at_work = True
                        return process
                    process.close()
                if not is_wanted():
                    return None
                if not self._idle and self._has_room():
                    self._starting += 1
                    break
                self._change.wait(_LOOK_AGAIN)
        started: P | None = None
        try:
            started = self._start()
            started.at_work = True
            return started
        finally:
            with self._change:
                self._starting -= 1
                if started is not None:
                    self._all.add(started)
                else:
                    self._change.notify()

    def release(self, process: P) -> None:
        """Take back a process in which nothing of its user is left."""
        with self._change:
            process.at_work = False
            is_kept = not process.is_closed and len(self._idle) < self._most_idle
            if is_kept:
                self._idle.append(process)
            self._change.notify()
        if not is_kept:
            process.kill()

    def take_out(self, process: P) -> None:
        """Note that a leased process stays with its user from now on and no longer counts here."""
        with self._change:
            process.at_work = False
            self._change.notify()

    def look_again(self) -> None:
        """Let all who wait look whether they still want a process."""
        with self._change:
            self._change.notify_all()

    def close_idle(self) -> None:
        """End the idle processes. In a forked child, only forget those of the parent."""
        while self._idle:
            self._idle.pop().close()

    def _has_room(self) -> bool:
        if len(self._all) + self._starting < self._most:
            return True
        leased = sum(process.at_work and process.is_alive for process in self._all)
        return leased + self._starting < self._most
