"""Limits on the time, rows and memory that SQL statements can use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from birdenv.errors import InputError

_STATEMENTS_TIME = 4.0  # a script, or reading a state, gets this many times the seconds of one statement
WALL_TIME: Final = 4.0
"""The wall-clock limit of a statement, as a multiple of its limit on CPU time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one statement, from its start until its last row is fetched.

    A call to `EpisodeDatabase.run` or `EpisodeDatabase.state` runs several statements, which together must
    finish within `seconds_in_all`. The contents that `state` returns are limited to `bytes` in total.

    Attributes:
        seconds: maximum CPU time of the statement in seconds. CPU time is used because it does not depend on
            how busy the machine is. A statement that exceeds `seconds` of CPU time or `wall_seconds` of
            wall-clock time fails with a `timeout` error. PostgreSQL does not report CPU time, so there
            `seconds` limits the wall-clock time.
        rows: maximum number of rows to fetch. A result with more rows is `truncated`.
        bytes: maximum memory for the fetched rows as Python objects. Each row takes about 56 bytes, each cell
            8, each string 50 plus its length, and each large integer 32. A statement that exceeds the limit
            fails with a `too_large` error.

    Raises:
        InputError: a limit is so low that no statement could run.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    bytes: int = 512 * 2**20

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise InputError(f"the time limit must be more than 0 seconds, not {self.seconds:g}")
        if self.rows < 0 or self.bytes < 0:
            raise InputError(
                f"limits on rows and bytes cannot be negative, but rows={self.rows} and bytes={self.bytes}"
            )

    @property
    def seconds_in_all(self) -> float:
        """Return the CPU time, in seconds, that several statements may use in total: four times `seconds`."""
        return _STATEMENTS_TIME * self.seconds

    @property
    def wall_seconds(self) -> float:
        """Return the wall-clock limit for one statement in seconds: four times `seconds`."""
        return WALL_TIME * self.seconds

    @property
    def wall_seconds_in_all(self) -> float:
        """Return the wall-clock time, in seconds, that several statements may use in total."""
        return WALL_TIME * self.seconds_in_all
