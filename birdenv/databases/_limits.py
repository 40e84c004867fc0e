"""Limits on the cost of one statement, and of several statements together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from birdenv.errors import InputError

_STATEMENTS_TIME = 4.0  # a script, or reading a state, gets this many times the seconds of one statement
WALL_TIME: Final = 4.0
"""The wall-clock limit of a statement, as a multiple of its limit on processor time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one statement, from its start to the last row fetched.

    A call of `run` or `state` runs several statements, which have `seconds_in_all` for all of them together.
    The contents that `state` returns have at most `bytes` in total.

    Attributes:
        seconds: limit on the processor time that the statement itself uses, so that a verdict does not depend
            on how busy the machine is. A statement that exceeds it, or exceeds `wall_seconds` by the wall
            clock, ends with a `timeout` error. PostgreSQL does not report processor time: there, `seconds`
            are measured by the wall clock.
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
        """Return the processor-time limit for several statements together: four times `seconds`."""
        return _STATEMENTS_TIME * self.seconds

    @property
    def wall_seconds(self) -> float:
        """Return the wall-clock limit that applies besides a processor-time limit: four times `seconds`."""
        return WALL_TIME * self.seconds

    @property
    def wall_seconds_in_all(self) -> float:
        """Return the wall-clock limit for several statements together, in seconds."""
        return WALL_TIME * self.seconds_in_all
