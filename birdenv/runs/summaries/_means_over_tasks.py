"""A figure over many episodes, with what is not sure about it.

Two intervals answer two questions. *Over tasks*: what if other tasks had been asked about these databases?
*Over databases*: what if the databases had been others, too? The second is wider where databases differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from birdenv.dialogue.measures import Measure
from birdenv.runs.summaries._episode_figures import Outcome
from birdenv.statistics import RESAMPLES, Interval, bootstrap, rounded, wilson

METHODS = {
    "none": "a run of one episode: no interval",
    "wilson": "Wilson score interval",
    "tasks": f"bootstrap over tasks, percentiles of {RESAMPLES} resamples",
    "databases": f"bootstrap over databases, percentiles of {RESAMPLES} resamples",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """`value` is the mean over `count` episodes, None without any; so is an interval if nothing varies.

    `total` is their sum: of a rate, how many episodes succeeded.
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
        """Episodes that succeeded (of a rate)."""
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
    """Give the outcomes that count for a measure and have a say in it, with their values."""
    counted = (o for o in outcomes if o.rated or measure.over == "all")
    return [(o, value) for o in counted if (value := o.values[measure.name]) is not None]


def estimate(outcomes: Sequence[Outcome], measure: Measure, *, repeated: bool) -> Estimate:
    """Give the mean of a measure over the outcomes that count for it.

    Over tasks: Wilson for a rate of tasks played once, else the bootstrap with a cluster for each task. Over
    databases: the bootstrap with a cluster for each database.
    """
    counted = values_of(outcomes, measure)
    values = [value for _, value in counted]
    count, total = len(values), fsum(values)
    over_databases = bootstrap(values, [o.database for o, _ in counted])
    if measure.is_rate and not repeated:
        over_tasks, method = wilson(int(total), count), "wilson"
    else:
        over_tasks, method = bootstrap(values, [o.instance_id for o, _ in counted]), "tasks"
    return Estimate(
        measure, count, total, total / count if count else None, over_tasks, over_databases, method
    )
