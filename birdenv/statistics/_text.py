"""Format numbers and intervals as text, draw intervals, and separate the sections of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.statistics._intervals import Interval

_STRIP: Final = 25
_RULE: Final = 55


def rule(character: str) -> str:
    """Return a line that repeats `character`, to separate the sections of a report."""
    return character * _RULE


def counted(number: int, noun: str) -> str:
    """Format a number with a noun, adding an s to the noun unless the number is 1.

    >>> counted(1, "dialogue"), counted(2, "dialogue"), counted(0, "rater")
    ('1 dialogue', '2 dialogues', '0 raters')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def percent(value: float) -> str:
    """Format a share between 0 and 1 as a percentage, without the percent sign: ` 76.9`."""
    return f"{100 * value:5.1f}"


def in_digits(value: float, sign: str = "") -> str:
    """Format a number that is not a share, with fewer decimals for larger numbers: `0.467`, `15321`."""
    size = abs(value)
    digits = 3 if size < 100 else 1 if size < 10_000 else 0
    if 0 < size < 0.01:
        digits = 5
    return f"{value:{sign}{5 + len(sign)}.{digits}f}"


def between(interval: Interval | None, *, share: bool = True) -> str:
    """Format an interval, as percentages if `share` is true: ` 63.9 .. 86.3`. Return a dash for None."""
    if interval is None:
        return "    -"
    low, high = interval
    return f"{percent(low)} .. {percent(high)}" if share else f"{in_digits(low)} .. {in_digits(high)}"


def rate_line(name: str, rate: Mapping[str, Any]) -> str:
    """Format a rate as a line: `EX 40/52 76.9 %`. For 0 tasks, a dash replaces the percentage."""
    total = rate["total"]
    percent = f"{100 * rate['passed'] / total:6.1f} %" if total else "      -"
    return f"{name:<24}{rate['passed']:>6}/{total:<6}{percent}"


def strip(value: float | None, interval: Interval | None) -> str:
    """Draw a value and its interval on a line from 0 to 1: `|        ---o-- |`."""
    cells = [" "] * _STRIP
    if interval is not None:
        for cell in range(_cell(interval.low), _cell(interval.high) + 1):
            cells[cell] = "-"
    if value is not None:
        cells[_cell(value)] = "o"
    return f"|{''.join(cells)}|"


def strip_scale() -> str:
    """Return the axis labels for `strip` as a line of text."""
    return f"0{'50':^{_STRIP}}100 %"


def _cell(value: float) -> int:
    return min(_STRIP - 1, max(0, round(value * (_STRIP - 1))))
