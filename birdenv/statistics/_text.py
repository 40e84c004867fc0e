"""Numbers and intervals as text, as a strip that is looked at instead of read; the rule between blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.statistics._intervals import Interval

_STRIP: Final = 25
_RULE: Final = 55


def rule(character: str) -> str:
    """Return a line that sets off the blocks of a report."""
    return character * _RULE


def percent(value: float) -> str:
    """` 76.9`, of a share."""
    return f"{100 * value:5.1f}"


def in_digits(value: float, sign: str = "") -> str:
    """Return a figure that is not a share, with its significant digits: `0.467`, `15321`."""
    size = abs(value)
    digits = 3 if size < 100 else 1 if size < 10_000 else 0
    if 0 < size < 0.01:
        digits = 5
    return f"{value:{sign}{5 + len(sign)}.{digits}f}"


def between(interval: Interval | None, *, share: bool = True) -> str:
    """` 63.9 ..  86.3`: in percent, or as it is; a dash where there is none."""
    if interval is None:
        return "    -"
    low, high = interval
    return f"{percent(low)} .. {percent(high)}" if share else f"{in_digits(low)} .. {in_digits(high)}"


def rate_line(name: str, rate: Mapping[str, Any]) -> str:
    """Return `EX             40/52   76.9 %`; a dash where there is nothing to divide by."""
    total = rate["total"]
    percent = f"{100 * rate['passed'] / total:6.1f} %" if total else "      -"
    return f"{name:<24}{rate['passed']:>6}/{total:<6}{percent}"


def strip(value: float | None, interval: Interval | None) -> str:
    """Return the interval drawn on a line from 0 to 1: `|        ---o-- |`."""
    cells = [" "] * _STRIP
    if interval is not None:
        for cell in range(_cell(interval.low), _cell(interval.high) + 1):
            cells[cell] = "-"
    if value is not None:
        cells[_cell(value)] = "o"
    return f"|{''.join(cells)}|"


def strip_scale() -> str:
    """Return what the ends of a strip mean."""
    return f"0{'50':^{_STRIP}}100 %"


def _cell(value: float) -> int:
    return min(_STRIP - 1, max(0, round(value * (_STRIP - 1))))
