"""How much one statement, and several together, may cost before they are stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from birdenv.errors import InputError

_STATEMENTS_TIME = 4.0  # a script, or the reading of a state, gets so many times a statement's seconds
WALL_TIME: Final = 4.0
"""What waits, or is kept waiting, is over after so many times its seconds of processor time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one statement, from its start to the last row fetched.

    `seconds`: processor time that the statement itself uses; beyond it the answer is a `timeout` error, as it
    is beyond `wall_seconds` by the wall clock, whichever comes first. So a verdict does not depend on what
    else the machine does. On PostgreSQL, which does not tell a statement's processor time, `seconds` are by
    the wall clock.

    `rows`: rows fetched at most; if one more was there the result is `truncated`. `bytes`: what Python takes
    for the fetched rows (about 56 for a row and 8 for a cell; besides, 50 and its characters for a text, 32
    for a large integer); beyond it the answer is a `too_large` error. One call of `run` or `state` gets
    `seconds_in_all` for everything that it does, and a state holds at most `bytes` in all.

    Raises `InputError` for a limit that lets nothing run.
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
        """Return what `seconds` are for one statement, for several together: four times as many."""
        return _STATEMENTS_TIME * self.seconds

    @property
    def wall_seconds(self) -> float:
        """Return the wall-clock time of one statement where `seconds` count processor time: four times
        `seconds`.
        """
        return WALL_TIME * self.seconds

    @property
    def wall_seconds_in_all(self) -> float:
        """Return what `wall_seconds` are for one statement, for several together."""
        return WALL_TIME * self.seconds_in_all
