"""When a statement has to end: by the processor time that it used itself, at the latest by the wall clock.

How much processor time a statement needs does not depend on what else the machine does; how long it takes
does. So the first is what limits count, and the second only keeps a statement that waits from waiting for
ever. A worker runs one statement at a time, so the processor time of the process is the statement's.
"""

from __future__ import annotations

import time
from typing import Final, Literal, TypeAlias

from birdenv.databases._fetching import Allowance
from birdenv.databases._limits import WALL_TIME

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
        seconds: of processor time, or up to 0.01 more.
        wall_seconds: by the wall clock.

    Attributes:
        began: now, on `time.monotonic`'s scale.
        soonest: the earliest time at which it can have passed, on the same scale: before it, nobody has to
            ask for processor time, which is dear.
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
        """Return which clock is beyond its end; None as long as none is."""
        if time.monotonic() <= self.soonest:
            return None
        if self.seconds_left < 0:
            return "processor"
        return "wall" if self.wall_seconds_left < 0 else None


def timeout_message(allowance: Allowance, expiry: Expiry | None) -> str:
    """Say why a statement was stopped, or was given no time at all (None)."""
    seconds = allowance.in_all or allowance.seconds
    together = " for everything together" if allowance.in_all else ""
    if expiry == "wall":
        return f"stopped after {seconds * WALL_TIME:g} s of wall time{together}"
    return f"stopped after {seconds:g} s of CPU time{together}"
