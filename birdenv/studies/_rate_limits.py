"""How often: moves of a person, and new people of an address."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_MOST_ADDRESSES: Final = 10_000


class Bucket:
    """A limit of rates: so many at once, and so many a second after that."""

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._left = burst
        self._at = clock()

    def take(self) -> bool:
        """Take one; False if there are too many."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    @property
    def is_full(self) -> bool:
        """True when it is as good as new."""
        return self._left + (self._clock() - self._at) * self._rate >= self._burst


class Newcomers:
    """Limits how many new people come in from one address.

    Args:
        most: people in a minute; None for any number.
        clock: seconds.
    """

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}

    def take(self, address: str) -> bool:
        """Let one in from an address; False if too many came."""
        if self._most is None:
            return True
        if len(self._buckets) >= _MOST_ADDRESSES:
            self._buckets = {each: bucket for each, bucket in self._buckets.items() if not bucket.is_full}
        if len(self._buckets) >= _MOST_ADDRESSES:
            return False  # a flood from everywhere
        bucket = self._buckets.setdefault(address, Bucket(self._most, self._most / 60, self._clock))
        return bucket.take()
