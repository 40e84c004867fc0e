"""Limits on the cost of a single statement, and of several statements together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from birdenv.errors import InputError

_STATEMENTS_TIME = 4.0  # a script, or reading a state, gets this many times the seconds of one statement
WALL_TIME: Final = 4.0
"""The wall-clock limit of a statement, as a multiple of its limit on processor time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one statement, from its start until its last row is fetched.

    A call to `EpisodeDatabase.run` or `EpisodeDatabase.state` runs several statements, which must finish
    within `seconds_in_all` together. The contents that `state` returns are limited to `bytes` in total.

    Attributes:
        seconds: maximum processor time of the statement in seconds. Processor time makes a verdict
            independent of how busy the machine is. A statement that exceeds `seconds`, or `wall_seconds` by
            the wall clock, ends with a `timeout` error. PostgreSQL does not report processor time, so there
            `seconds` is measured by the wall clock.
        rows: maximum number of rows to fetch. A result with more rows is `truncated`.
        bytes: maximum memory for the fetched rows, as Python objects: about 56 bytes for each row, 8 for each
            cell, 50 plus its characters for each text, and 32 for each large integer. A statement that
            exceeds it ends with a `too_large` error.

    Raises:
        InputError: a limit is so low that no statement could run.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    bytes: int = 512 * 2**20

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise InputError(f"the time limit must be above 0 seconds, not {self.seconds:g}")
        if self.rows < 0 or self.bytes < 0:
            raise InputError(f"row and byte limits cannot be negative (rows={self.rows}, bytes={self.bytes})")

    @property
    def seconds_in_all(self) -> float:
        """Return the processor time that several statements may use together: four times `seconds`."""
        return _STATEMENTS_TIME * self.seconds

    @property
    def wall_seconds(self) -> float:
        """Return the wall-clock limit on one statement in seconds: four times `seconds`."""
        return WALL_TIME * self.seconds

    @property
    def wall_seconds_in_all(self) -> float:
        """Return the wall-clock limit on several statements together, in seconds."""
        return WALL_TIME * self.seconds_in_all
