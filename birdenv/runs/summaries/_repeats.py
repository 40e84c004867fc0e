"""Figures of runs that play every task several times: pass^k and pass@k for k = 1 .. repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.dialogue.measures import Measure
from birdenv.runs.summaries._episode_figures import Outcome
from birdenv.runs.summaries._means_over_tasks import values_of
from birdenv.statistics import Interval, between, bootstrap, pass_at_k, pass_hat_k, percent, rounded


@dataclass(frozen=True, slots=True)
class PassRates:
    """For one k: that all of k attempts at a task succeed (`hat`, pass^k), and that one does (`at`, pass@k).

    Means over the `tasks` that have at least k rated episodes, with bootstrap intervals over tasks.
    """

    k: int
    tasks: int
    hat: float
    hat_interval: Interval | None
    at: float
    at_interval: Interval | None

    def text(self) -> str:
        """`pass^3 60.0 %, pass@3 90.0 % of 12 tasks`."""
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
    """One for each k from 1 to `repeats` for which a task has enough rated episodes."""
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
    return sum(values) / len(values), bootstrap(values, range(len(values)))


def repeats_lines(rates: Mapping[str, Sequence[PassRates]]) -> list[str]:
    """A table for people; `rates` by title of the measure."""
    lines = [f"{'':<24}{'':>13}pass^k (all)             pass@k (any)"]
    for title, of_measure in rates.items():
        for number, rate in enumerate(of_measure):
            name = title if number == 0 else ""
            hat = f"{percent(rate.hat)} %  {between(rate.hat_interval)}"
            at = f"{percent(rate.at)} %  {between(rate.at_interval)}"
            lines.append(f"{name:<24}{f'k = {rate.k}':>9}    {hat:<25}{at}".rstrip())
    return lines
