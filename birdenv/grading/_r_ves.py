"""R-VES: is the prediction as fast as the gold? As BIRD mini-dev's `evaluation_ves.py` computes it.

It measures the machine too: its authors say that it is not reproducible elsewhere and advise to repeat it
five times and to keep the highest. Compare only what was measured on one idle machine in one go.
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
"""How often the official script runs each of the two queries."""

_REWARDS: Final = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
_SIGMAS: Final = 3
_DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class SpeedMeasurement:
    """The durations of gold and prediction, in seconds, in the order in which they ran.

    Attributes:
        gold_seconds: one number for each run of the gold.
        pred_seconds: one number for each run of the prediction.
        error: why runs are missing: a query failed, or the time was used up. Then the score is 0.
    """

    gold_seconds: tuple[float, ...]
    pred_seconds: tuple[float, ...]
    error: str = ""

    @property
    def score(self) -> float:
        """Return the item's R-VES."""
        return 0.0 if self.error else r_ves(self.gold_seconds, self.pred_seconds)


def r_ves(gold_seconds: Sequence[float], pred_seconds: Sequence[float]) -> float:
    """Return R-VES of one pair whose results agree by the set rule (`compare_bird`); other pairs score 0.

    The score is the square root of a reward for `time_ratio`: 1.25 from a ratio of 2, 1 from 1, 0.75 from
    0.5, 0.5 from 0.25, and 0.25 below. So it is 1.118, 1, 0.866, 0.707 or 0.5, or 0 without a ratio. The
    metric is the mean over all pairs, times 100.
    """
    ratio = time_ratio(gold_seconds, pred_seconds)
    if ratio <= 0:
        return 0.0
    return math.sqrt(next(reward for least, reward in _REWARDS if ratio >= least))


def time_ratio(gold_seconds: Sequence[float], pred_seconds: Sequence[float]) -> float:
    """Return how many times as long as the prediction the gold takes.

    This is the mean, over the runs, of gold time / predicted time. As in the official script, ratios that do
    not lie strictly within three standard deviations of their mean are left out, and the result is 0 if none
    is left: that happens when all ratios are the same, as with a single run. It is also 0 if a time is 0.

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
    """Run both queries in turn, the prediction first, each time on a freshly opened database.

    The database measures the times, from the start of a statement to its last row, without opening. All runs
    together may take `runs` times the wall-clock limit of a statement.

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
