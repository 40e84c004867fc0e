"""Figures with intervals as lines of text, and as a strip that is looked at instead of read."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.runs.analysis._estimates import Estimate
from birdenv.runs.analysis._statistics import Interval

NAME_WIDTH = 24
_STRIP = 25


def percent(value: float) -> str:
    """` 76.9`, of a share."""
    return f"{100 * value:5.1f}"


def in_digits(value: float, sign: str = "") -> str:
    """`0.467`, `15321`: a figure that is no share, with as many digits as say something."""
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


def figure_line(
    estimate: Estimate, name: str | None = None, last: str = "", *, width: int = NAME_WIDTH
) -> str:
    """`EX    40/52   76.9 %    63.9 ..  86.3`: the figure, its interval over tasks, and a last column.

    `width` is that of the name's column.
    """
    title = estimate.measure.title if name is None else name
    share = estimate.measure.is_rate
    counts = f"{estimate.passed:>6}/{estimate.count:<6}" if share else " " * 13
    value = estimate.value
    figure = "-" if value is None else f"{percent(value)} %" if share else in_digits(value)
    interval = between(estimate.over_tasks, share=share) if estimate.method != "none" else ""
    return f"{title:<{width}}{counts}{figure:<7}  {interval:<16}  {last}".rstrip()


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


def usage_lines(used: Sequence[Estimate], episodes: int) -> list[str]:
    """What the agent reports: mean, total and the interval of the mean over tasks."""
    lines = [f"{'Usage, as the agent reports it':<33}{'mean':>14}{'total':>16}    95 % over tasks"]
    for of in used:
        money = of.measure.name == "cost_usd"
        mean = "-" if of.value is None else f"{of.value:.6f}" if money else in_digits(of.value).strip()
        some = f"  ({of.count} of {episodes} episodes)" if of.count < episodes else ""
        interval = between(of.over_tasks, share=False).strip()
        total = f"{of.total:>16.{6 if money else 0}f}"
        lines.append(f"  {of.measure.title:<31}{mean:>14}{total}    {interval}{some}")
    return lines
