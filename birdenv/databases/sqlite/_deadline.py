"""The deadline of a statement by its own processor time, and stopping statements whose time is up.

SQLite looks at the progress handler only every so many steps of its virtual machine, and one step may be a
long function call; it looks for an interrupt at every row. So a thread looks at the clocks of the statement
that runs and interrupts it when it is late. What no interrupt stops, the kernel does: it ends this process,
by SIGPROF for processor time and by SIGALRM for the wall clock. The thread sets these alarms, too, so that a
statement that is over in a moment pays for none of it.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from typing import Final, Literal, Protocol, TypeAlias

from birdenv.databases._limits import WALL_TIME
from birdenv.databases._results import Allowance

Expiry: TypeAlias = Literal["processor", "wall"]
"""Which clock ended a statement."""

NEVER: Final = float("inf")
_RECENT: Final = 0.01  # seconds for which processor time is not read again: reading it is dear


class _Clock:
    """Processor time of this process, read once in a while."""

    def __init__(self) -> None:
        self._read_at = -NEVER
        self._read = 0.0

    def at_most(self, now: float) -> float:
        """Return the processor time at `now` (`time.monotonic`), or up to `_RECENT` more than it is."""
        since = now - self._read_at
        if since > _RECENT:
            self._read_at, self._read, since = now, time.process_time(), 0.0
        return self._read + since


_clock: Final = _Clock()


class Deadline:
    """The end of a statement that starts now.

    Args:
        seconds: limit in seconds of processor time, which may be exceeded by 0.01.
        wall_seconds: limit in seconds by the wall clock.

    Attributes:
        began: now, on `time.monotonic`'s scale.
        soonest: the earliest time at which it can have passed, on the same scale. Before it, nobody needs to
            ask for the processor time, which is expensive.
    """

    __slots__ = ("_processor", "_wall", "began", "soonest")

    def __init__(self, seconds: float, wall_seconds: float) -> None:
        now = self.began = time.monotonic()
        self._processor = _clock.at_most(now) + seconds
        self._wall = now + wall_seconds
        self.soonest = now + (seconds if seconds < wall_seconds else wall_seconds)

    @property
    def seconds_left(self) -> float:
        """Of processor time."""
        return self._processor - time.process_time()

    @property
    def wall_seconds_left(self) -> float:
        return self._wall - time.monotonic()

    def expiry(self) -> Expiry | None:
        """Return which clock has run out, or None."""
        if time.monotonic() <= self.soonest:
            return None
        if self.seconds_left < 0:
            return "processor"
        return "wall" if self.wall_seconds_left < 0 else None


def timeout_message(allowance: Allowance, expiry: Expiry | None) -> str:
    """Return why a statement was stopped, or was given no time at all (None)."""
    seconds = allowance.in_all or allowance.seconds
    together = " for everything together" if allowance.in_all else ""
    if expiry == "wall":
        return f"stopped after {seconds * WALL_TIME:g} s of wall time{together}"
    return f"stopped after {seconds:g} s of CPU time{together}"


_PERIOD: Final = 0.05  # seconds between two looks, while anything runs
_LONGEST_SLEEP: Final = 0.5  # seconds; nothing depends on who forgot to wake it
_KILL_AFTER: Final = 0.9  # seconds beyond the deadline, by either clock
_LONGEST_ALARM: Final = 1e6  # seconds


class HasDeadline(Protocol):
    @property
    def deadline(self) -> Deadline | None:
        """Return the deadline of the statement that runs; None for one without."""

    def interrupt_if_late(self, now: float) -> None:
        """Interrupt the statement that runs, if it is late at `now` (`time.monotonic`)."""


class Watchdog:
    """Watches the one statement that runs in this process; its thread sleeps while none does."""

    def __init__(self) -> None:
        self._running: HasDeadline | None = None
        self._between: float = 0.0
        self._alarms_are_set = False
        self._lock = threading.Lock()  # of the alarms: none may be set for a statement that is over
        self._bell = threading.Lock()  # open: it rings
        self._bell.acquire()
        self._is_awake = False
        self._is_started = False

    def begin(self, watched: HasDeadline) -> None:
        """A statement starts."""
        if self._alarms_are_set:
            self._clear_alarms()
        self._running = watched
        if not self._is_awake:
            self._wake()

    def end(self) -> None:
        """The statement is over."""
        self._running = None
        if self._alarms_are_set:
            self._clear_alarms()
        if self._between:
            self._set_between()

    def limit_between(self, seconds: float) -> None:
        """End this process when it takes more processor time than this between two statements, from now on.

        0 is no limit.
        """
        self._clear_alarms()
        self._between = seconds
        if seconds:
            self._set_between()

    def _wake(self) -> None:
        if not self._is_started:  # first: without a thread nobody would ever find that it sleeps
            threading.Thread(target=self._look, name="birdenv-watchdog", daemon=True).start()
            self._is_started = True
        self._is_awake = True
        with suppress(RuntimeError):  # somebody has rung already
            self._bell.release()

    def _look(self) -> None:
        while True:
            self._bell.acquire(timeout=_LONGEST_SLEEP)
            self._is_awake = False  # before the look: who begins after it rings
            while self._running is not None:
                self._is_awake = True
                time.sleep(_PERIOD)
                running = self._running
                if running is not None:
                    self._watch(running)
                self._is_awake = False

    def _watch(self, running: HasDeadline) -> None:
        running.interrupt_if_late(time.monotonic())
        with self._lock:
            if self._alarms_are_set:
                return
            self._alarms_are_set = True  # first: a statement that ends meanwhile clears them
            deadline = None if self._running is not running else running.deadline
            if deadline is None:
                self._alarms_are_set = False
                return
            signal.setitimer(signal.ITIMER_PROF, _alarm_in(deadline.seconds_left) + _KILL_AFTER)
            signal.setitimer(signal.ITIMER_REAL, _alarm_in(deadline.wall_seconds_left) + _KILL_AFTER)

    def _set_between(self) -> None:
        with self._lock:
            self._alarms_are_set = True
            signal.setitimer(signal.ITIMER_PROF, self._between)

    def _clear_alarms(self) -> None:
        with self._lock:
            if self._alarms_are_set:
                self._alarms_are_set = False
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)


watchdog: Final = Watchdog()
"""The one of this process."""


def _alarm_in(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_ALARM)
