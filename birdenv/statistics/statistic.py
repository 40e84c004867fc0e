"""One statistic: a number with its interval, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from birdenv.statistics.intervals import Interval

_DIGITS = 6


class Figure(NamedTuple):
    """A statistic of some data.

    Attributes:
        value: the number; None where the statistic is not defined.
        interval: its 95 % interval; None where nothing varies.
        why: why there is no number, or why the number has no interval; a sentence without its full stop.
    """

    value: float | None
    interval: Interval | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the statistic as a JSON object; `why` stands there only if something is not defined."""
        found: dict[str, Any] = {"value": rounded(self.value), "interval_95": rounded(self.interval)}
        return found | ({"why": self.why} if self.why else {})

    def text(self, digits: int = 3) -> str:
        """Return the statistic in words: `0.743 [0.610, 0.852]`, or `not defined: ...`."""
        if self.value is None:
            return f"not defined: {self.why}"
        shown = f"{self.value:.{digits}f}"
        if self.interval is not None:
            shown += f" [{self.interval.low:.{digits}f}, {self.interval.high:.{digits}f}]"
        return f"{shown} ({self.why})" if self.why else shown


def undefined(why: str) -> Figure:
    """Return a statistic that has no number."""
    return Figure(None, None, why)


def rounded(value: Any) -> Any:
    """Numbers for files: six digits, so that the last bits of a sum do not show."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [rounded(item) for item in value]
    return value
