"""Figures with intervals as lines of text, and as a strip that is looked at instead of read."""

from __future__ import annotations

from birdenv.runs._estimates import Estimate
from birdenv.runs._statistics import Interval

__all__ = ["between", "figure_line", "percent", "strip", "strip_scale"]

_STRIP = 25


def percent(value: float) -> str:
    """` 76.9`, of a share."""
    return f"{100 * value:5.1f}"


def between(interval: Interval | None, *, share: bool = True) -> str:
    """` 63.9 ..  86.3`: in percent, or as it is; a dash where there is none."""
    if interval is None:
        return "    -"
    low, high = interval
    return f"{percent(low)} .. {percent(high)}" if share else f"{low:5.3f} .. {high:5.3f}"


def figure_line(estimate: Estimate, name: str | None = None, last: str = "") -> str:
    """`EX    40/52   76.9 %    63.9 ..  86.3`: the figure, its interval over tasks, and a last column."""
    title = estimate.measure.title if name is None else name
    share = estimate.measure.is_rate
    counts = f"{estimate.passed:>6}/{estimate.count:<6}" if share else " " * 13
    value = estimate.value
    figure = "-" if value is None else f"{percent(value)} %" if share else f"{value:5.3f}"
    interval = between(estimate.over_tasks, share=share)
    return f"{title:<24}{counts}{figure:<7}  {interval:<16}  {last}".rstrip()


def strip(value: float | None, interval: Interval | None) -> str:
    """The interval drawn on a line from 0 to 1: `|        ---o-- |`."""
    cells = [" "] * _STRIP
    if interval is not None:
        for cell in range(_cell(interval.low), _cell(interval.high) + 1):
            cells[cell] = "-"
    if value is not None:
        cells[_cell(value)] = "o"
    return f"|{''.join(cells)}|"


def strip_scale() -> str:
    """What the ends of a strip mean."""
    return f"0{'50':^{_STRIP}}100 %"


def _cell(value: float) -> int:
    return min(_STRIP - 1, max(0, round(value * (_STRIP - 1))))
