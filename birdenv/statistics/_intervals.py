"""Compute rates, means over clusters and paired differences, and resample clusters for other statistics.

Intervals are 95% intervals, and tests are two-sided. Use Wilson's interval (`wilson`) for a rate over
independent tasks, and Newcombe's interval (`paired_difference`) and McNemar's test (`mcnemar`) for the
difference between two rates on the same tasks. For all other statistics, whole clusters are resampled with
replacement, because tasks on one database (or repeats of one task, or dialogues about one scenario) resemble
each other: `bootstrap`, `bootstrap_test`, `ratio_figure` and `correlation` do this for common statistics;
`resamples` and `percentiles` do it for any other statistic.

All functions are pure. Random numbers are the raw 64-bit words of PCG64 with a fixed seed, because numpy
promises never to change this sequence (NEP 19), unlike that of `Generator`. Only functions that resample
import numpy, because most programs that load a game compute no statistics.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import comb, fsum, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RESAMPLES: Final = 10_000
"""The number of resamples for all figures except ratings, which cost more."""

_Z: Final = 1.959963984540054  # the normal quantile of 0.975
_SEED: Final = 0
_ROUNDING: Final = 1e-12  # means closer to 0 differ from it only by rounding
_BATCH: Final = 2**20  # random numbers that are drawn at a time
_KEPT: Final = 2**25  # maximum size of a cached set of resamples in bytes
_MOST: Final = 1e50  # sums and squares of smaller numbers are finite
_DIGITS: Final = 6


class Interval(NamedTuple):
    """A closed interval of numbers, from `low` to `high`."""

    low: float
    high: float


class Figure(NamedTuple):
    """A statistic and its interval.

    Attributes:
        value: the value, or None if the statistic is not defined.
        interval: the 95% interval, or None if there is none.
        why: the reason why there is no value or no interval, without a full stop at the end; empty if both
            exist.
    """

    value: float | None
    interval: Interval | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the statistic as a JSON object, which contains `why` only if there is a reason."""
        found: dict[str, Any] = {"value": rounded(self.value), "interval_95": rounded(self.interval)}
        return found | ({"why": self.why} if self.why else {})

    def text(self, digits: int = 3) -> str:
        """Return the statistic as text: `0.743 [0.610, 0.852]`, or `not defined: ...`."""
        if self.value is None:
            return f"not defined: {self.why}"
        shown = f"{self.value:.{digits}f}"
        if self.interval is not None:
            shown += f" [{self.interval.low:.{digits}f}, {self.interval.high:.{digits}f}]"
        return f"{shown} ({self.why})" if self.why else shown


class BootstrapTest(NamedTuple):
    """The 95% interval of a mean, and the p-value for the hypothesis that the true mean is 0."""

    interval: Interval
    p: float


class Ratio(NamedTuple):
    """One dialogue's contribution to the numerator (`above`) and denominator (`below`) of a ratio."""

    above: float
    below: float = 1.0


def undefined(why: str) -> Figure:
    """Return a statistic without a value or interval, for the reason `why`."""
    return Figure(None, None, why)


def number(value: Any) -> float | None:
    """Return a value as a float, or None if the value is not a number or its magnitude exceeds 1e50."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _MOST else None


def wilson(passed: int, total: int) -> Interval | None:
    """Return Wilson's score interval (1927) for the rate `passed / total`, without continuity correction.

    The tasks are assumed to be independent. The interval lies between 0 and 1, and has a positive width even
    for the rates 0 and 1. The result is None if `total` is 0.

    >>> [round(end, 4) for end in wilson(81, 263)]
    [0.2553, 0.3662]
    """
    if total == 0:
        return None
    rate, shrink = passed / total, 1 + _Z**2 / total
    centre = (rate + _Z**2 / (2 * total)) / shrink
    half = _Z / shrink * sqrt(rate * (1 - rate) / total + _Z**2 / (4 * total**2))
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval(0.0 if passed == 0 else low, 1.0 if passed == total else high)


def paired_difference(both: int, only_a: int, only_b: int, neither: int) -> Interval | None:
    """Return the interval for rate B minus rate A on the same tasks, or None if there are no tasks.

    The arguments are how many tasks were solved by both, only by A, only by B, and by neither. This is
    Newcombe's square-and-add interval (1998, Statistics in Medicine 17:2635, method 10). It combines the two
    Wilson intervals with the correlation phi of the outcomes. A positive phi gets a continuity correction;
    phi is 0 if a margin is empty.
    """
    total = both + only_a + only_b + neither
    passed_a, passed_b = both + only_a, both + only_b
    score_a, score_b = wilson(passed_a, total), wilson(passed_b, total)
    if score_a is None or score_b is None:
        return None
    rate_a, rate_b = passed_a / total, passed_b / total
    margins = passed_a * (only_b + neither) * passed_b * (only_a + neither)
    phi: float = both * neither - only_a * only_b
    phi = max(phi - total / 2, 0.0) if phi > 0 else phi
    phi = phi / sqrt(margins) if margins else 0.0

    def half(from_a: float, from_b: float) -> float:
        return sqrt(max(0.0, from_a**2 - 2 * phi * from_a * from_b + from_b**2))

    difference = rate_b - rate_a
    low = difference - half(score_a.high - rate_a, rate_b - score_b.low)
    high = difference + half(rate_a - score_a.low, score_b.high - rate_b)
    return Interval(max(-1.0, low), min(1.0, high))


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the p-value of McNemar's exact test (1947) for equality of two rates on the same tasks.

    `only_a` and `only_b` are how many tasks were solved only by A and only by B. If the true rates are equal,
    each of these tasks is equally likely to be solved by A or by B. Therefore, p is twice the lower tail of
    the binomial distribution, capped at 1.

    >>> mcnemar(1, 7)
    0.0703125
    """
    total = only_a + only_b
    tail = term = 1
    for count in range(min(only_a, only_b)):
        term = term * (total - count) // (count + 1)  # the next binomial coefficient, much faster than `comb`
        tail += term
    p: float = 2 * tail / 2**total
    return min(1.0, p)


def bootstrap(
    values: Sequence[float], clusters: Sequence[Hashable], *, is_rate: bool = False
) -> Interval | None:
    """Return the percentile bootstrap interval of a mean, resampling whole clusters with replacement.

    `clusters[i]` is the cluster of `values[i]`. With one cluster for each value, this is the ordinary
    bootstrap. The mean of a resample is the sum of its values divided by their number, so larger clusters
    have more weight.

    The result is None if there are fewer than two clusters, or if the resampled means do not vary. However, a
    rate of 0 or 1 gets Wilson's interval, in which each cluster counts as one task. With fewer than about ten
    clusters, the interval is too narrow.

    Sources: Efron & Tibshirani 1993, §13.3 (percentiles); Field & Welsh 2007 (resampling clusters); Miller
    2024, arXiv:2411.00640 (why evaluations need clusters).
    """
    count = len(set(clusters))
    if is_rate and count > 1 and (not any(values) or min(values) == 1):
        return wilson(round(values[0]) * count, count)
    means = _resampled([Ratio(value) for value in values], clusters)
    return None if means is None else _varying(means)


def bootstrap_test(differences: Sequence[float], clusters: Sequence[Hashable]) -> BootstrapTest | None:
    """Return the percentile interval of a mean difference, and the p-value for a true mean of 0.

    If the difference is the same in all clusters, the interval is a point.

    To compute p, the resampled means <= 0 and those >= 0 are counted, with one added to each count. p is
    twice the smaller of the two shares, capped at 1 (Davison & Hinkley 1997, §4.4.1, inverted interval). It
    is never below 2 / 2^clusters, the minimum for a test that flips the signs of whole clusters. The result
    is None if there are fewer than two clusters.
    """
    means = _resampled([Ratio(difference) for difference in differences], clusters)
    if means is None:
        return None
    below, above = int((means <= _ROUNDING).sum()), int((means >= -_ROUNDING).sum())
    p = 2 * (1 + min(below, above)) / (RESAMPLES + 1)
    least = 0.5 ** (len(set(clusters)) - 1)
    return BootstrapTest(percentiles(means), min(1.0, max(p, least)))


def ratio_figure(ratios: Sequence[Ratio], clusters: Sequence[Hashable], *, is_rate: bool = False) -> Figure:
    """Return the sum of all `above` divided by the sum of all `below`, with a percentile interval.

    The interval is computed by resampling clusters. However, if each cluster has one dialogue, or if the rate
    is 0 or 1, a rate gets Wilson's interval, in which each cluster counts as one task.
    """
    above, below = fsum(each.above for each in ratios), fsum(each.below for each in ratios)
    if not below:
        return undefined("no dialogue contributes to this ratio")
    value, count = above / below, len(set(clusters))
    if count < 2:
        return Figure(value, None, "an interval needs more than one scenario")
    if is_rate and (count == len(ratios) == below or value in (0, 1)):
        return Figure(value, wilson(round(value * count), count))
    drawn = _resampled(ratios, clusters)
    interval = None if drawn is None else _varying(drawn[drawn == drawn])
    if interval is None:
        return Figure(value, None, "the values do not vary, so there is no interval")
    if count == 2:
        return Figure(value, None, "two scenarios are too few for an interval")
    return Figure(value, interval)


def correlation(pairs: Iterable[tuple[float, float]]) -> Figure:
    """Return Pearson's correlation coefficient r, with a percentile interval from resampled pairs."""
    import numpy as np

    found = np.array(list(pairs), dtype=float).reshape(-1, 2)
    count = len(found)
    if count < 3:
        return undefined(f"a correlation needs at least three dialogues with both numbers, not {count}")
    found = found - found.mean(axis=0)
    if (found**2).sum(axis=0).min() < 1e-18:
        return undefined("one of the two numbers does not vary")
    x, y = found.T
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def r_of(means: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        x, y, xx, yy, xy = means.T
        with np.errstate(divide="ignore", invalid="ignore"):
            found: npt.NDArray[np.float64] = (xy - x * y) / np.sqrt((xx - x * x) * (yy - y * y))
        return np.clip(found, -1.0, 1.0)

    r = float(r_of(columns.mean(axis=0)[None])[0])
    if count < 4 or abs(r) > 1 - 1e-12:
        return Figure(r, None, "there are too few dialogues for an interval")
    drawn = r_of(np.concatenate([np.einsum("ij,jk", times, columns) / count for times in resamples(count)]))
    return Figure(r, percentiles(drawn[np.isfinite(drawn)]))


def resamples(units: int, number: int = RESAMPLES) -> Iterator[npt.NDArray[np.uint8]]:
    """Resample the units 0 to `units` - 1 with replacement. Every call yields the same resamples.

    Yields:
        Arrays with one resample per row: entry i of a row is the number of times that unit i was drawn.
    """
    yield from (_kept if units * number <= _KEPT else _drawn)(units, number)


def percentiles(resampled: npt.NDArray[np.float64] | Sequence[float]) -> Interval:
    """Return the interval from the 2.5th to the 97.5th percentile of the values, by linear interpolation."""
    import numpy as np

    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(float(low), float(high))


def _varying(resampled: npt.NDArray[np.float64]) -> Interval | None:
    """Return the `percentiles`, or None if they differ only by rounding."""
    found = percentiles(resampled)
    return found if found.high - found.low >= _ROUNDING * max(1.0, abs(found.high)) else None


def _drawn(units: int, number: int) -> Iterator[npt.NDArray[np.uint8]]:
    import numpy as np

    random = np.random.PCG64(_SEED)
    rows = max(1, _BATCH // units)
    for start in range(0, number, rows):
        shape = (min(rows, number - start), units)
        drawn = random.random_raw(shape)
        drawn %= np.uint64(units)
        places = drawn.view(np.int64)
        places += units * np.arange(len(drawn))[:, None]
        yield np.bincount(places.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.uint8)


@lru_cache(maxsize=4)
def _kept(units: int, number: int) -> tuple[npt.NDArray[np.uint8], ...]:
    """Cache resamples of up to 3,355 clusters, because all statistics of a run have the same clusters."""
    return tuple(_drawn(units, number))


def _resampled(ratios: Sequence[Ratio], clusters: Sequence[Hashable]) -> npt.NDArray[np.float64] | None:
    """Return the ratios of the sums over resampled clusters, or None with fewer than two clusters."""
    import numpy as np

    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    count = len(names)
    if count < 2:
        return None
    places = np.fromiter((names[cluster] for cluster in clusters), np.intp, len(clusters))
    above, below = (np.bincount(places, column, count) for column in np.array(ratios, dtype=float).T)
    sums = np.concatenate([np.einsum("ij,j", times, above) for times in resamples(count)])
    if (below == below[0]).all():  # all resamples have the same size, too
        means: npt.NDArray[np.float64] = sums / (count * below[0])
        return means
    sizes = np.concatenate([np.einsum("ij,j", times, below) for times in resamples(count)])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums / sizes)


def pass_hat_k(attempts: int, successes: int, k: int) -> float:
    """Return pass^k for one task: the probability that k attempts all succeed, C(c, k) / C(n, k).

    This is the unbiased estimate from n = `attempts` independent attempts with c = `successes` (Yao et al.
    2024, arXiv:2406.12045, §2). The metric is the mean over all tasks. k must be between 1 and n.

    >>> pass_hat_k(4, 3, 2)
    0.5
    """
    return comb(successes, k) / comb(attempts, k)


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """Return pass@k for one task: the probability that at least one of k attempts succeeds.

    This is the unbiased estimate 1 - C(n-c, k) / C(n, k) of Chen et al. 2021 (arXiv:2107.03374, §2.1).
    The metric is the mean over all tasks. k must be between 1 and n.

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


def rounded(value: Any) -> Any:
    """Round all floats in a JSON value to six decimals, which makes files independent of rounding errors."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [rounded(item) for item in value]
    return value
