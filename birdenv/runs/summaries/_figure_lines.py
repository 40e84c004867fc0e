"""Figures of a run with their intervals as lines of text; and what the agent reports of its usage."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.runs.summaries._means_over_tasks import Estimate
from birdenv.statistics import between, in_digits, percent

NAME_WIDTH = 24


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
