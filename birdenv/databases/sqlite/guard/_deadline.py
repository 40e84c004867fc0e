"""When a statement has to end: by the processor time that it used itself, at the latest by the wall clock.

How much processor time a statement needs does not depend on what else the machine does; how long it takes
does. So the first is what limits count, and the second only keeps a statement that waits from waiting for
ever.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Final, Literal, TypeAlias

from birdenv.databases._fetching import Allowance
from birdenv.databases._limits import WALL_TIME

Expiry: TypeAlias = Literal["processor", "wall"]
"""Which clock ended a statement."""

NEVER: Final = float("inf")
_RECENT: Final = 0.01  # seconds for which processor time is not read again: reading it is dear


class _Clock:
    """Processor time, read once in a while."""

    __slots__ = ("_read", "_read_at", "id")

    def __init__(self, identity: int) -> None:
        self.id = identity
        self._read_at = -NEVER
        self._read = 0.0

    def at_most(self, now: float) -> float:
        """Give the processor time at `now` (`time.monotonic`), or up to `_RECENT` more than it is."""
        since = now - self._read_at
        if since > _RECENT:
            self._read_at, self._read, since = now, time.clock_gettime(self.id), 0.0
        return self._read + since


class _ThreadClock(threading.local):
    """The `clock` of the thread that asks; any thread may read it."""

    def __init__(self) -> None:
        self.clock = _Clock(time.pthread_getcpuclockid(threading.get_ident()))


_of_thread = _ThreadClock()
_of_process = _Clock(time.CLOCK_PROCESS_CPUTIME_ID)


def _renew_clocks() -> None:
    """In a forked child: its thread and processor time are others."""
    global _of_thread, _of_process
    _of_thread, _of_process = _ThreadClock(), _Clock(time.CLOCK_PROCESS_CPUTIME_ID)


os.register_at_fork(after_in_child=_renew_clocks)


class Deadline:
    """The end of a statement that starts now, in the thread that makes this object.

    Args:
        seconds: of processor time, or up to 0.01 more.
        wall_seconds: by the wall clock.
        of_process: the processor time of the whole process counts (one that runs this statement and nothing
            else), not that of this thread only.

    Attributes:
        began: now, on `time.monotonic`'s scale.
        soonest: the earliest time at which it can have passed, on the same scale: before it, nobody has to
            ask for processor time, which is dear.
    """

    __slots__ = ("_clock", "_processor", "_wall", "began", "soonest")

    def __init__(self, seconds: float, wall_seconds: float, *, of_process: bool = False) -> None:
        now = self.began = time.monotonic()
        clock = _of_process if of_process else _of_thread.clock
        self._clock = clock.id
        self._processor = clock.at_most(now) + seconds
        self._wall = now + wall_seconds
        self.soonest = now + (seconds if seconds < wall_seconds else wall_seconds)

    def written_bytes(self) -> int | None:
        """What has been written by the thread so far, or by the process where that one counts; to any file.
        None where the kernel does not tell (Linux does)."""
        is_of_process = self._clock == time.CLOCK_PROCESS_CPUTIME_ID
        # A thread's clock has the thread's number in it, inverted, above three bits.
        place = "/proc/self/io" if is_of_process else f"/proc/self/task/{~(self._clock >> 3)}/io"
        try:
            with open(place, "rb") as told:  # noqa: PTH123 (often)
                return int(told.read().split(b"wchar: ")[1].split()[0])
        except (OSError, IndexError):
            return None

    @property
    def seconds_left(self) -> float:
        """Of processor time."""
        return self._processor - time.clock_gettime(self._clock)

    @property
    def wall_seconds_left(self) -> float:
        return self._wall - time.monotonic()

    def expiry(self) -> Expiry | None:
        """Which clock is beyond its end; None as long as none is. To be asked while the thread lives."""
        if time.monotonic() <= self.soonest:
            return None
        if self.seconds_left < 0:
            return "processor"
        return "wall" if self.wall_seconds_left < 0 else None


def timeout_message(allowance: Allowance, expiry: Expiry | None) -> str:
    """What is said of a statement that was stopped, and of one that got no time at all any more (None)."""
    seconds = allowance.in_all or allowance.seconds
    together = " for everything together" if allowance.in_all else ""
    if expiry == "wall":
        return f"stopped after {seconds * WALL_TIME:g} s of wall time{together}"
    return f"stopped after {seconds:g} s of CPU time{together}"
