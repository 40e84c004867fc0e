"""When a statement has to end: by the processor time that it used itself, at the latest by the wall clock.

How much processor time a statement needs does not depend on what else the machine does; how long it takes
does. So the first is what limits count, and the second only keeps a statement that waits from waiting for
ever.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Literal, TypeAlias

from birdenv.databases._fetching import Allowance
from birdenv.databases._limits import WALL_TIME

Expiry: TypeAlias = Literal["processor", "wall"]
"""Which clock ended a statement."""

NEVER: Final = float("inf")


class Deadline:
    """The end of a statement that starts now, in the thread that makes this object.

    Args:
        seconds: of processor time.
        wall_seconds: by the wall clock.
        of_process: the processor time of the whole process counts (one that runs this statement and nothing
            else), not that of this thread only.

    Attributes:
        soonest: the earliest time at which it can have passed, on `time.monotonic`'s scale: before it, nobody
            has to ask for processor time, which is dear.
    """

    __slots__ = ("_clock", "_processor", "_wall", "soonest")

    def __init__(self, seconds: float, wall_seconds: float, *, of_process: bool = False) -> None:
        now = time.monotonic()
        self._clock = (
            time.CLOCK_PROCESS_CPUTIME_ID
            if of_process
            else time.pthread_getcpuclockid(threading.get_ident())  # to be read in any thread
        )
        self._processor = time.clock_gettime(self._clock) + seconds
        self._wall = now + wall_seconds
        self.soonest = now + min(seconds, wall_seconds)

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
