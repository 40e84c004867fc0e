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
    """Seconds of each run of gold and prediction, in the order in which they ran. `error`: why there are none
    (or no more): a query that failed, or all the time used up; then the score is 0."""

    gold_seconds: tuple[float, ...]
    pred_seconds: tuple[float, ...]
    error: str = ""

    @property
    def score(self) -> float:
        """Return the item's R-VES."""
        return 0.0 if self.error else r_ves(self.gold_seconds, self.pred_seconds)


def r_ves(gold_seconds: Sequence[float], pred_seconds: Sequence[float]) -> float:
    """Return the score of one pair whose results agree by the set rule (`compare_bird`); others score 0.

    The square root of the reward for `time_ratio`: 1.25 from 2 upwards, 1 from 1, 0.75 from 0.5, 0.5 from
    0.25, else 0.25. So one of 1.118, 1, 0.866, 0.707, 0.5, or 0 without a ratio; the metric is the mean over
    all pairs times 100.
    """
    ratio = time_ratio(gold_seconds, pred_seconds)
    if ratio <= 0:
        return 0.0
    return math.sqrt(next(reward for least, reward in _REWARDS if ratio >= least))


def time_ratio(gold_seconds: Sequence[float], pred_seconds: Sequence[float]) -> float:
    """Return how many times longer the gold takes: the mean over the runs of gold time / predicted time,
    ratios that do not lie strictly within three standard deviations of their mean left out.

    0 where nothing is left. That is the script's own trap: if all ratios are the same, as with one run, none
    lies strictly within. It is 0 too where a time is no time at all. Raises `ValueError` for sequences of
    different length.
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

    Times are the database's own: from the start of the statement to its last row, without opening. The whole
    may take `runs` times the wall-clock seconds of a statement. Raises `InputError` if the database cannot be
    opened.
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
