"""Stopping statements whose time is up.

SQLite looks at the progress handler only every so many steps of its virtual machine, and one step may be a
long function call; it looks for an interrupt at every row. So a thread of ours looks at the clocks of the
running statements and interrupts what is late.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Protocol

__all__ = ["Watched", "alarm", "watchdog"]

_PERIOD = 0.05  # seconds between two looks, while anything runs
_KILL_AFTER = 0.9  # seconds beyond the deadline
_LONGEST_ALARM = 1e6  # seconds


class Watched(Protocol):
    def interrupt_if_late(self, now: float) -> None:
        """Interrupt the statement that runs now, if `now` (`time.monotonic`) is beyond its deadline."""


class _Watchdog:
    """The one of this process; its thread sleeps while nothing runs."""

    def __init__(self) -> None:
        self._running: dict[Watched, None] = {}
        self._something_runs = threading.Event()
        self._is_awake = False  # what the event says, at less cost
        self._is_started = False

    def watch(self, watched: Watched, deadline: float) -> None:
        """From now to `release`: interrupt `watched` when it is late, which it is after `deadline`."""
        self._running[watched] = None
        if not self._is_awake:
            self._is_awake = True
            self._something_runs.set()
            if not self._is_started:
                self._is_started = True
                threading.Thread(target=self._look, name="birdenv-watchdog", daemon=True).start()

    def release(self, watched: Watched) -> None:
        self._running.pop(watched, None)

    def _look(self) -> None:
        while True:
            self._something_runs.wait()
            time.sleep(_PERIOD)
            now = time.monotonic()
            for watched in list(self._running):
                watched.interrupt_if_late(now)
            if not self._running:
                self._something_runs.clear()
                self._is_awake = False
                if self._running:  # one began in between
                    self._is_awake = True
                    self._something_runs.set()


class _Alarm(_Watchdog):
    """In a process made to be killed: what no interrupt stops, the kernel does, with SIGALRM."""

    def watch(self, watched: Watched, deadline: float) -> None:
        super().watch(watched, deadline)
        seconds = max(deadline - time.monotonic(), 0.0)
        signal.setitimer(signal.ITIMER_REAL, min(seconds, _LONGEST_ALARM) + _KILL_AFTER)

    def release(self, watched: Watched) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        super().release(watched)


watchdog = _Watchdog()
alarm = _Alarm()


def _start_again() -> None:
    """In a forked child there is no thread, and nothing of the parent's runs."""
    watchdog.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_start_again)
