"""Keep pools of child processes, so that idle processes can be reused.

`memory_left` returns how much memory is still available to processes.
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
    """Return the bytes of memory still available to processes, or None if unknown, as on macOS."""
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
        most = int((_CONTAINER / "memory.max").read_text())  # "max" if there is no limit
        used = int((_CONTAINER / "memory.current").read_text())
        cached = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
        return most - used + int(cached["inactive_file"])
    except (OSError, KeyError, ValueError):
        return None


P = TypeVar("P", bound=ChildProcess)

_LOOK_AGAIN: Final = 1.0  # seconds after which a waiting thread checks again in any case


class ProcessPool(Generic[P]):
    """A thread-safe pool of processes of one kind, which starts processes on demand.

    A leased process belongs to the caller until it is released or removed from the pool. A process that is
    never released is killed when it is garbage-collected. When the current process exits, so do all processes
    in the pool.

    Args:
        start: a function that starts a process and returns it.
        most: the maximum number of leased processes.
        most_idle: the maximum number of idle processes; by default, `most`.
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
        """Forget all processes and waiting threads, which belong to the parent."""
        self.close_idle()
        self._renew()

    def lease(self, is_wanted: Callable[[], bool] = lambda: True) -> P | None:
        """Return an idle or new process. If too many processes are leased, wait until one is released.

        Args:
            is_wanted: a function that is called before and during the wait. If it returns False, `lease`
                gives up and returns None.

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
        """Return a process to the pool. Its use so far must not affect its next use."""
        with self._change:
            process.at_work = False
            is_kept = not process.is_closed and len(self._idle) < self._most_idle
            if is_kept:
                self._idle.append(process)
            self._change.notify()
        if not is_kept:
            process.kill()

    def take_out(self, process: P) -> None:
        """Remove a leased process from the pool, which makes room for a new process."""
        with self._change:
            process.at_work = False
            self._change.notify()

    def look_again(self) -> None:
        """Wake all threads that are waiting in `lease`, so that they call `is_wanted`."""
        with self._change:
            self._change.notify_all()

    def close_idle(self) -> None:
        """End all idle processes. In a forked child, only forget them, because they belong to the parent."""
        while self._idle:
            self._idle.pop().close()

    def _has_room(self) -> bool:
        if len(self._all) + self._starting < self._most:
            return True
        leased = sum(process.at_work and process.is_alive for process in self._all)
        return leased + self._starting < self._most
