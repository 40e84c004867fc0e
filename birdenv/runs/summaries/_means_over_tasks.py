"""Compute means over episodes with intervals, and pass^k for repeated tasks, and format them as text.

There are two intervals. The interval over tasks shows how the mean might change with other tasks on the same
databases. The interval over databases shows how the mean might change with other databases, too, and is wider
if the databases differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from birdenv.dialogue.measures import Measure
from birdenv.runs.summaries._episode_figures import Outcome
from birdenv.statistics import (
    RESAMPLES,
    Interval,
    between,
    bootstrap,
    in_digits,
    pass_at_k,
    pass_hat_k,
    percent,
    rounded,
    wilson,
)

NAME_WIDTH = 24


def figure_line(
    estimate: Estimate, name: str | None = None, last: str = "", *, width: int = NAME_WIDTH
) -> str:
    """Return a line like `EX    40/52   76.9 %    63.9 ..  86.3`, with a mean and its interval over tasks.

    Args:
        estimate: the mean to show.
        name: the text of the first column; None for the title of the measure.
        last: the text of the last column.
        width: the width of the first column in characters.
    """
    title = estimate.measure.title if name is None else name
    share = estimate.measure.is_rate
    counts = f"{estimate.passed:>6}/{estimate.count:<6}" if share else " " * 13
    value = estimate.value
    figure = "-" if value is None else f"{percent(value)} %" if share else in_digits(value)
    interval = between(estimate.over_tasks, share=share) if estimate.method != "none" else ""
    return f"{title:<{width}}{counts}{figure:<7}  {interval:<16}  {last}".rstrip()


def usage_lines(used: Sequence[Estimate], episodes: int) -> list[str]:
    """Return a table of the agent's model usage, with means, totals and intervals over tasks.

    Args:
        used: the estimates of the usage measures.
        episodes: the number of all episodes, including episodes with unknown usage.
    """
    lines = [f"{'Usage, as reported by the agent':<33}{'mean':>14}{'total':>16}    95 % over tasks"]
    for of in used:
        money = of.measure.name == "cost_usd"
        mean = "-" if of.value is None else f"{of.value:.6f}" if money else in_digits(of.value).strip()
        some = f"  ({of.count} of {episodes} episodes)" if of.count < episodes else ""
        interval = between(of.over_tasks, share=False).strip()
        total = f"{of.total:>16.{6 if money else 0}f}"
        lines.append(f"  {of.measure.title:<31}{mean:>14}{total}    {interval}{some}")
    return lines


@dataclass(frozen=True, slots=True)
class PassRates:
    """The probability that all of k attempts at a task succeed (pass^k), or at least one of them (pass@k).

    Attributes:
        k: the number of attempts.
        tasks: the number of tasks with at least k rated episodes, over which the means are taken.
        hat: the mean of pass^k.
        hat_interval: the interval of `hat` over tasks, as `bootstrap` returns it for a rate.
        at: the mean of pass@k.
        at_interval: the same for `at`.
    """

    k: int
    tasks: int
    hat: float
    hat_interval: Interval | None
    at: float
    at_interval: Interval | None

    def text(self) -> str:
        """Return text like `pass^3 60.0 %, pass@3 90.0 % of 12 tasks`."""
        return (
            f"pass^{self.k} {percent(self.hat).strip()} %, pass@{self.k} {percent(self.at).strip()} % "
            f"of {self.tasks} tasks"
        )

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = rounded(
            {
                "k": self.k,
                "tasks": self.tasks,
                "pass^k": self.hat,
                "pass^k_interval": self.hat_interval,
                "pass@k": self.at,
                "pass@k_interval": self.at_interval,
            }
        )
        return found


def pass_rates(outcomes: Sequence[Outcome], measure: Measure, repeats: int) -> list[PassRates]:
    """Return pass^k and pass@k for each k up to `repeats`, if at least one task has k rated episodes."""
    episodes: dict[str, list[float]] = defaultdict(list)
    for o, value in values_of(outcomes, measure):
        episodes[o.instance_id].append(value)
    counts = [(len(values), int(sum(values))) for values in episodes.values()]
    rates = []
    for k in range(1, repeats + 1):
        enough = [count for count in counts if count[0] >= k]
        if enough:
            hat, at = _mean(pass_hat_k, enough, k), _mean(pass_at_k, enough, k)
            rates.append(PassRates(k, len(enough), *hat, *at))
    return rates


def _mean(
    chance: Callable[[int, int, int], float], counts: Sequence[tuple[int, int]], k: int
) -> tuple[float, Interval | None]:
    values = [chance(played, solved, k) for played, solved in counts]
    return sum(values) / len(values), bootstrap(values, range(len(values)), is_rate=True)


def repeats_lines(rates: Mapping[str, Sequence[PassRates]]) -> list[str]:
    """Return a table of pass^k and pass@k. The keys of `rates` are the titles of the measures."""
    lines = [f"{'':<24}{'':>13}pass^k (all)             pass@k (any)"]
    for title, of_measure in rates.items():
        for number, rate in enumerate(of_measure):
            name = title if number == 0 else ""
            hat = f"{percent(rate.hat)} %  {between(rate.hat_interval)}"
            at = f"{percent(rate.at)} %  {between(rate.at_interval)}"
            lines.append(f"{name:<24}{f'k = {rate.k}':>9}    {hat:<25}{at}".rstrip())
    return lines


METHODS = {
    "none": "a run of one episode: no interval",
    "wilson": "Wilson score interval",
    "tasks": f"bootstrap over tasks, percentiles of {RESAMPLES} resamples",
    "databases": f"bootstrap over databases, percentiles of {RESAMPLES} resamples",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a measure over episodes, with intervals.

    Attributes:
        measure: the measure.
        count: the number of episodes that count for the measure.
        total: the sum of the values; for a rate, the number of successful episodes.
        value: the mean; None if no episodes count.
        over_tasks: the interval over tasks; None if there is none.
        over_databases: the interval over databases; None if there is none.
        method: how `over_tasks` was computed, as a key of `METHODS`.
    """

    measure: Measure
    count: int
    total: float
    value: float | None
    over_tasks: Interval | None
    over_databases: Interval | None
    method: str

    @property
    def passed(self) -> int:
        """The number of successful episodes, if the measure is a rate."""
        return int(self.total)

    def to_json(self) -> dict[str, Any]:
        passed = {"passed": self.passed} if self.measure.is_rate else {}
        return {
            "title": self.measure.title,
            **passed,
            "total": self.count,
            "value": rounded(self.value),
            "interval_over_tasks": rounded(self.over_tasks),
            "interval_over_databases": rounded(self.over_databases),
            "method_over_tasks": self.method,
        }


def values_of(outcomes: Sequence[Outcome], measure: Measure) -> list[tuple[Outcome, float]]:
    """Return the outcomes that count for a measure, each with the value of the measure."""
    counted = (o for o in outcomes if o.rated or measure.over == "all")
    return [(o, value) for o in counted if (value := o.values[measure.name]) is not None]


def estimate(outcomes: Sequence[Outcome], measure: Measure, *, repeated: bool) -> Estimate:
    """Return the mean of a measure over the outcomes that count for it, with intervals.

    The interval over tasks is Wilson's if the measure is a rate and each task is played once; otherwise it is
    a bootstrap interval clustered by task. The interval over databases is a bootstrap interval clustered by
    database. Instead of a bootstrap interval, a rate of 0 or 1 gets Wilson's interval over the clusters.
    """
    counted, is_rate = values_of(outcomes, measure), measure.is_rate
    values = [value for _, value in counted]
    count, total = len(values), fsum(values)
    over_databases = bootstrap(values, [o.database for o, _ in counted], is_rate=is_rate)
    if is_rate and not repeated:
        over_tasks = wilson(int(total), count)
    else:
        over_tasks = bootstrap(values, [o.instance_id for o, _ in counted], is_rate=is_rate)
    method = "wilson" if is_rate and (not repeated or total in (0, count)) else "tasks"
    return Estimate(
        measure, count, total, total / count if count else None, over_tasks, over_databases, method
    )
