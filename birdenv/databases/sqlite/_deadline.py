"""Set deadlines for the CPU time of statements, and stop late statements with a watchdog.

SQLite calls the progress handler only after a number of virtual-machine instructions, and a single
instruction may be a long function call. However, SQLite checks for interrupts at every row. Therefore a
thread, the watchdog, checks the clocks of the running statement, and interrupts the statement when it is
late. If that has no effect, the kernel kills this process, with SIGPROF for CPU time or SIGALRM for
wall-clock time. The watchdog sets these alarms, so that they do not slow down short statements.
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
"""The clock by which a statement was late."""

NEVER: Final = float("inf")
_RECENT: Final = 0.01  # seconds during which the CPU time is not read again, because reading it is slow


class _Clock:
    """The CPU time of this process, which is not read at every call because reading it is slow."""

    def __init__(self) -> None:
        self._read_at = -NEVER
        self._read = 0.0

    def at_most(self, now: float) -> float:
        """Return the CPU time at `now` (of `time.monotonic`), or up to `_RECENT` seconds more."""
        since = now - self._read_at
        if since > _RECENT:
            self._read_at, self._read, since = now, time.process_time(), 0.0
        return self._read + since


_clock: Final = _Clock()


class Deadline:
    """The deadline of a statement that starts now.

    Args:
        seconds: limit on CPU time in seconds, with a tolerance of 0.01 seconds.
        wall_seconds: limit on wall-clock time in seconds.

    Attributes:
        began: the start of the statement, as measured by `time.monotonic`.
        soonest: the earliest time, as measured by `time.monotonic`, at which the deadline can have passed.
            Until then, there is no need to read the CPU time, which is slow.
    """

    __slots__ = ("_processor", "_wall", "began", "soonest")

    def __init__(self, seconds: float, wall_seconds: float) -> None:
        now = self.began = time.monotonic()
        self._processor = _clock.at_most(now) + seconds
        self._wall = now + wall_seconds
        self.soonest = now + (seconds if seconds < wall_seconds else wall_seconds)

    @property
    def seconds_left(self) -> float:
        """Return the remaining CPU time in seconds."""
        return self._processor - time.process_time()

    @property
    def wall_seconds_left(self) -> float:
        """Return the remaining wall-clock time in seconds."""
        return self._wall - time.monotonic()

    def expiry(self) -> Expiry | None:
        """Return the clock whose limit was exceeded, or None if the statement is still within its limits."""
        if time.monotonic() <= self.soonest:
            return None
        if self.seconds_left < 0:
            return "processor"
        return "wall" if self.wall_seconds_left < 0 else None


def timeout_message(allowance: Allowance, expiry: Expiry | None) -> str:
    """Return the error message for a statement that exceeded its deadline.

    `expiry` is None if no time was left to start the statement.
    """
    seconds = allowance.in_all or allowance.seconds
    together = " for all statements together" if allowance.in_all else ""
    if expiry == "wall":
        return f"stopped after {seconds * WALL_TIME:g} s of wall time{together}"
    return f"stopped after {seconds:g} s of CPU time{together}"


_PERIOD: Final = 0.05  # seconds between two checks while a statement runs
_LONGEST_SLEEP: Final = 0.5  # seconds, in case a wake-up call was missed
_KILL_AFTER: Final = 0.9  # seconds after the deadline, by either clock
_LONGEST_ALARM: Final = 1e6  # seconds


class HasDeadline(Protocol):
    """An object that runs statements with deadlines, and can be monitored by the watchdog."""

    @property
    def deadline(self) -> Deadline | None:
        """Return the deadline of the running statement, or None if no statement is running."""

    def interrupt_if_late(self, now: float) -> None:
        """Interrupt the running statement if it is late. `now` is the value of `time.monotonic()`."""


class Watchdog:
    """Interrupts late statements from a thread that sleeps while this process runs no statement."""

    def __init__(self) -> None:
        self._running: HasDeadline | None = None
        self._between: float = 0.0
        self._alarms_are_set = False
        self._lock = threading.Lock()  # for the alarms: none may be set for a finished statement
        self._bell = threading.Lock()  # released to wake the thread
        self._bell.acquire()
        self._is_awake = False
        self._is_started = False

    def begin(self, watched: HasDeadline) -> None:
        """Record that a statement is starting."""
        if self._alarms_are_set:
            self._clear_alarms()
        self._running = watched
        if not self._is_awake:
            self._wake()

    def end(self) -> None:
        """Record that the statement has ended."""
        self._running = None
        if self._alarms_are_set:
            self._clear_alarms()
        if self._between:
            self._set_between()

    def limit_between(self, seconds: float) -> None:
        """Limit the CPU time that this process may use between two statements, in seconds.

        If the process exceeds the limit, the kernel kills it. 0 means no limit.
        """
        self._clear_alarms()
        self._between = seconds
        if seconds:
            self._set_between()

    def _wake(self) -> None:
        if not self._is_started:  # before `_is_awake` is set, in case the thread cannot be started
            threading.Thread(target=self._look, name="birdenv-watchdog", daemon=True).start()
            self._is_started = True
        self._is_awake = True
        with suppress(RuntimeError):  # already released
            self._bell.release()

    def _look(self) -> None:
        while True:
            self._bell.acquire(timeout=_LONGEST_SLEEP)
            self._is_awake = False  # before the check, so that a statement that begins later wakes the thread
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
            self._alarms_are_set = True  # first, so that a statement that ends meanwhile clears them
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
"""The watchdog of this process."""


def _alarm_in(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_ALARM)
