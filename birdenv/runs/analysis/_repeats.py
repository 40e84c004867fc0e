"""Figures of runs that play every task several times: pass^k and pass@k for k = 1 .. repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.runs._agents import Game
from birdenv.runs._summary import Summary
from birdenv.runs.analysis._estimates import estimate, rounded
from birdenv.runs.analysis._lines import rule
from birdenv.runs.analysis._measures import MEASURES, Measure, Outcome, measures_of, outcome
from birdenv.runs.analysis._statistics import Interval, bootstrap, pass_at_k, pass_hat_k
from birdenv.runs.analysis._text import between, figure_line, percent


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
    for o in outcomes:
        if o.rated and (value := o.values[measure.name]) is not None:
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


def with_repeats(summary: Summary, game: Game, records: Sequence[Mapping[str, Any]], repeats: int) -> Summary:
    """The summary of a run with repeats, and what they add: intervals over tasks, pass^k and pass@k."""
    measures = measures_of(game, records)
    outcomes = [outcome(game, record, measures) for record in records]
    means = [estimate(outcomes, measure, repeated=True) for measure in measures]
    rates = {m: pass_rates(outcomes, m, repeats) for m in MEASURES[game] if m.is_rate}
    overall = summary.overall | {
        "repeats": repeats,
        "means": {mean.measure.name: mean.to_json() for mean in means},
        "pass": {measure.name: [rate.to_json() for rate in of] for measure, of in rates.items()},
    }
    lines = [f"Every task was played {repeats} times; the counts above are of episodes.", ""]
    lines += [f"{'Mean over episodes':<43}95 % over tasks"]
    lines += [figure_line(mean) for mean in means]
    lines += ["", *repeats_lines({measure.title: of for measure, of in rates.items()})]
    return Summary(overall, summary.text + "\n".join([*lines, rule("=")]) + "\n")
