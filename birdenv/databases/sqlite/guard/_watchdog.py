"""Stopping statements whose time is up.

SQLite looks at the progress handler only every so many steps of its virtual machine, and one step may be a
long function call; it looks for an interrupt at every row. So a thread of ours looks at the clocks of the
running statements and interrupts what is late. In a process made to be killed, what no interrupt stops, the
kernel does.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref
from contextlib import suppress
from typing import Protocol

from birdenv.databases.sqlite.guard._deadline import NEVER, Deadline

_PERIOD = 0.05  # seconds between two looks, while anything runs
_LONGEST_SLEEP = 0.5  # seconds; nothing depends on who forgot to wake it
_KILL_AFTER = 0.9  # seconds beyond the deadline, by either clock
_LONGEST_ALARM = 1e6  # seconds


class Watched(Protocol):
    @property
    def is_running(self) -> bool:
        """Whether a statement runs now."""

    def forget_parent(self) -> None:
        """In a forked child: nothing of the parent's runs here."""

    def interrupt_if_late(self, now: float) -> None:
        """Interrupt the statement that runs now, if it is late at `now` (`time.monotonic`)."""


class _Watchdog:
    """The one of this process; its thread sleeps while nothing runs.

    Who starts a statement looks whether it `is_awake`, and else calls `wake`: so a statement costs no more
    than the look.
    """

    def __init__(self) -> None:
        self._all: weakref.WeakSet[Watched] = weakref.WeakSet()
        self._begin()

    def _begin(self) -> None:
        """There is no thread."""
        self._lock = threading.Lock()
        self._bell = threading.Lock()  # open: it rings. An event could be left locked for ever by Ctrl-C
        self._bell.acquire()
        self.is_awake = False
        self._is_started = False

    def start_again(self) -> None:
        """In a forked child."""
        self._begin()
        self._all = weakref.WeakSet(list(self._all))
        for watched in self._everything():
            watched.forget_parent()

    def watch(self, watched: Watched) -> None:
        """From now on, while it exists, interrupt its statements that are late."""
        with self._lock:
            self._all.add(watched)

    def wake(self) -> None:
        """Something runs. What Ctrl-C leaves undone of it, the next statement does, or the longest sleep."""
        if not self._is_started:  # first: without a thread nobody would ever find that it sleeps
            threading.Thread(target=self._look, name="birdenv-watchdog", daemon=True).start()
            self._is_started = True
        self.is_awake = True
        with suppress(RuntimeError):  # somebody has rung already
            self._bell.release()

    def _look(self) -> None:
        while True:
            self._bell.acquire(timeout=_LONGEST_SLEEP)
            self.is_awake = False  # before the look: who begins after it rings
            while self._runs_anything():
                self.is_awake = True
                time.sleep(_PERIOD)
                self._interrupt_late(time.monotonic())
                self.is_awake = False

    def _interrupt_late(self, now: float) -> None:
        for watched in self._everything():
            watched.interrupt_if_late(now)

    def _runs_anything(self) -> bool:
        return any(watched.is_running for watched in self._everything())

    def _everything(self) -> list[Watched]:
        with self._lock:
            return list(self._all)


watchdog = _Watchdog()
os.register_at_fork(after_in_child=watchdog.start_again)


class _Alarms:
    """The kernel's alarms, which end this process: SIGPROF for processor time, SIGALRM for the wall clock.

    They are set for what the watchdog finds at work, and so for nothing that is over in a moment.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._statement: Deadline | None = None
        self._last = NEVER
        self._are_set = False

    @property
    def is_running(self) -> bool:
        return self._statement is not None or self._last < NEVER

    def watch_statement(self, deadline: Deadline | None) -> None:
        """End this process soon after the deadline of the statement that runs now; None: it is over."""
        with self._lock:
            self._statement = deadline
            self._clear()

    def watch_all(self, last: float) -> None:
        """End this process soon after `last` (`time.monotonic`), whatever runs, ours included."""
        with self._lock:
            self._last = last
            self._clear()
        if last < NEVER and not watchdog.is_awake:
            watchdog.wake()

    def interrupt_if_late(self, now: float) -> None:
        """Set the alarms for what runs now."""
        with self._lock:
            if self._are_set or not self.is_running:
                return
            self._are_set = True
            wall = self._last - now
            if self._statement is not None:
                signal.setitimer(signal.ITIMER_PROF, _alarm_in(self._statement.seconds_left))
                wall = min(wall, self._statement.wall_seconds_left)
            signal.setitimer(signal.ITIMER_REAL, _alarm_in(wall))

    def forget_parent(self) -> None:
        """In a forked child: alarms are not inherited."""
        self.__init__()  # type: ignore[misc]

    def _clear(self) -> None:
        if self._are_set:
            self._are_set = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)


alarms = _Alarms()
watchdog.watch(alarms)


def _alarm_in(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_ALARM) + _KILL_AFTER
