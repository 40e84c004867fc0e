"""Compute R-VES, a metric that rewards predictions for running at least as fast as the gold query.

The metric comes from BIRD mini-dev's `evaluation_ves.py`. R-VES depends on the machine: its authors say that
it cannot be reproduced elsewhere, and advise measuring five times and keeping the highest value. Compare only
values that were measured together on one idle machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Final

from birdenv.databases import DatabaseSource, Limits, QueryError

R_VES_RUNS: Final = 100
"""The number of times that the official script runs each of the two queries."""

_REWARDS: Final = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
_SIGMAS: Final = 3
_DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class SpeedMeasurement:
    """The durations of repeated runs of a gold query and a prediction.

    Attributes:
        gold_seconds: the duration of each run of the gold in seconds, in order.
        pred_seconds: the duration of each run of the prediction in seconds, in order.
        error: why runs are missing, for example because a query failed or timed out; empty if none are
            missing. If runs are missing, the score is 0.
    """

    gold_seconds: tuple[float, ...]
    pred_seconds: tuple[float, ...]
    error: str = ""

    @property
    def score(self) -> float:
        """Return the prediction's R-VES."""
        return 0.0 if self.error else r_ves(self.gold_seconds, self.pred_seconds)


def r_ves(gold_seconds: Sequence[float], pred_seconds: Sequence[float]) -> float:
    """Compute the R-VES of a prediction from the durations of its runs and of the gold query's runs.

    The results of the two queries must agree by the set rule (`compare_bird`); otherwise, R-VES is 0 by
    definition. The score is the square root of a reward that depends on `time_ratio`: 1.25 for a ratio of at
    least 2, 1 for at least 1, 0.75 for at least 0.5, 0.5 for at least 0.25, and 0.25 below that. The score is
    therefore 1.118, 1, 0.866, 0.707 or 0.5, or 0 if the ratio is 0. The metric is the mean over all pairs,
    times 100.
    """
    ratio = time_ratio(gold_seconds, pred_seconds)
    if ratio <= 0:
        return 0.0
    return math.sqrt(next(reward for least, reward in _REWARDS if ratio >= least))


def time_ratio(gold_seconds: Sequence[float], pred_seconds: Sequence[float]) -> float:
    """Return the mean ratio of the gold's time to the prediction's time.

    As in the official script, only ratios strictly within three standard deviations of the mean ratio count.
    If no ratio remains, the result is 0; this happens if all ratios are equal, for example with a single run.
    The result is also 0 if one of the prediction's times is 0.

    Raises:
        ValueError: the sequences differ in length.
    """
    if 0 in pred_seconds:
        return 0.0
    ratios = [gold / pred for gold, pred in zip(gold_seconds, pred_seconds, strict=True)]
    if not ratios:
        return 0.0
    mean, width = fmean(ratios), _SIGMAS * pstdev(ratios)
    kept = [ratio for ratio in ratios if mean - width < ratio < mean + width]
    return fmean(kept) if kept else 0.0


def measure_speed(
    source: DatabaseSource,
    db_id: str,
    gold: str,
    prediction: str,
    runs: int = R_VES_RUNS,
    limits: Limits = _DEFAULT_LIMITS,
) -> SpeedMeasurement:
    """Run the prediction and the gold alternately, each time on a freshly opened database, and time them.

    The database measures each run from the start of the statement to its last row, excluding the time to open
    the database. The wall-clock limit on all runs together is `runs` times the limit on one statement.

    Raises:
        InputError: the database cannot be opened.
    """
    times: tuple[list[float], list[float]] = ([], [])
    deadline = time.monotonic() + limits.wall_seconds * runs
    for _ in range(runs):
        for sql, taken in ((prediction, times[1]), (gold, times[0])):
            with source.open(db_id, limits) as database:
                result = database.query(sql)
            if isinstance(result, QueryError):
                return SpeedMeasurement((), (), f"{result.kind}: {result.message}")
            taken.append(result.elapsed)
        if time.monotonic() > deadline:
            return SpeedMeasurement((), (), f"more than {limits.wall_seconds * runs:g} s of wall time")
    return SpeedMeasurement(tuple(times[0]), tuple(times[1]))
