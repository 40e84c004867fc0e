"""How much one statement, and several together, may cost before they are stopped."""

from __future__ import annotations

from dataclasses import dataclass

from birdenv.errors import InputError

__all__ = ["LONGEST_SQL", "Limits"]

LONGEST_SQL = 1_000_000
"""Characters of SQL in one text; a longer one is refused before anything looks into it."""

_STATEMENTS_TIME = 4.0  # a script, or the reading of a state, gets so many times the seconds of a statement


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one statement, from its start to the last row fetched.

    `seconds`: wall-clock time; beyond it the answer is a `timeout` error. `rows`: rows fetched at most; if
    one more was there the result is `truncated`. `bytes`: size of the fetched cells (text and blobs by
    length, 8 for each cell besides); beyond it the answer is a `too_large` error. One call of `run` or
    `state` gets `seconds_in_all` for everything that it does, and a state holds at most `bytes` in all.

    Raises `InputError` for a limit that lets nothing run.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    bytes: int = 256 * 2**20

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise InputError(f"the time limit must be above 0 seconds, not {self.seconds:g}")
        if self.rows < 0 or self.bytes < 0:
            raise InputError(f"row and byte limits cannot be negative (rows={self.rows}, bytes={self.bytes})")

    @property
    def seconds_in_all(self) -> float:
        """The wall-clock time of several statements together: four times `seconds`."""
        return _STATEMENTS_TIME * self.seconds
