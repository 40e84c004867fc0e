"""How much a clone has grown, looked at while statements run in it; beyond a limit nothing may grow it more.

PostgreSQL has no quota for a database. So whoever waits for a statement looks now and then at the size of the
clone's files, and has the statement cancelled that takes them too far. How far that goes beyond the limit is
what can be written between two looks. What a statement that was stopped leaves in the files may stay there:
reading goes on then, and so does whatever makes room.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES

MOST_GROWTH: Final = GROWTH_BYTES
"""Bytes that a clone may take beyond its template, as an image of an SQLite file may."""

LOCK_BYTES: Final = 2**17
"""What a lock in a clone counts for: all sessions of a server share one table of locks, some ten thousand."""

_SELDOM: Final = 0.25  # seconds of running statements between two looks
_OFTEN: Final = 0.02  # the same, once half of the room is taken
_PAUSE: Final = 0.005  # until an answer that is not there yet is waited for again
_SLACK: Final = 16 * 2**20  # what reading may leave: maps of free space, and other things of the server's


class DiskQuota:
    """Of one clone; `ask` has its growth in bytes found out by another thread."""

    def __init__(self, ask: Callable[[], Future[int]]) -> None:
        self._ask = ask
        self._asked: Future[int] | None = None
        self._left = _SELDOM
        self._due = 0.0
        self._allowed: int | None = MOST_GROWTH  # None after a stop, until the next look

    def begin(self) -> None:
        """A statement starts."""
        self._due = time.monotonic() + self._left

    def end(self) -> None:
        """It has ended; the time that it took counts for the next."""
        self._left = max(self._due - time.monotonic(), 0.0)

    def seconds_to_look(self) -> float:
        """When `is_beyond` wants to be asked next."""
        return max(self._due - time.monotonic(), 0.0)

    def is_beyond(self) -> bool:
        """Whether the statement that runs has to be stopped; says so once."""
        now = time.monotonic()
        if now < self._due:
            return False
        if self._asked is None:
            self._asked = self._ask()
        if not self._asked.done():
            self._due = now + _PAUSE
            return False
        asked, self._asked = self._asked, None
        if asked.exception() is not None:  # no server: the statement itself will say so
            self._due = now + _SELDOM
            return False
        grown = asked.result()
        self._due = now + (_OFTEN if grown > MOST_GROWTH / 2 else _SELDOM)
        allowed = grown + _SLACK if self._allowed is None else min(self._allowed, grown + _SLACK)
        self._allowed = max(allowed, MOST_GROWTH)
        if grown <= self._allowed:
            return False
        self._allowed = None
        return True
