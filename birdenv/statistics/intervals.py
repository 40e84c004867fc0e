"""Intervals and tests for the figures of runs. All intervals are 95 %, all tests two-sided.

Rates: `wilson`, and for the difference of two rates on the same tasks `paired_difference` with `mcnemar`.
Means: `bootstrap` and `bootstrap_test`, which resample whole clusters, because tasks on one database (or
repeats of one task) resemble each other. Over several attempts at a task: `pass_hat_k` and `pass_at_k`.

Everything is a pure function of its arguments. The bootstrap's random numbers are the raw 64-bit words of
PCG64 from a fixed seed, a stream that numpy promises never to change (NEP 19), unlike that of `Generator`.
Only functions that resample import numpy: games carry their measures, and are loaded where nothing is
measured.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from math import comb, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RESAMPLES = 10_000
"""Of the bootstrap; ratings have numbers of their own (`ratings/_bradley_terry`, `ratings/_agreement`)."""

Z = 1.959963984540054
"""The normal quantile of 0.975."""

_SEED = 0
_ROUNDING = 1e-12  # means nearer to 0 than this differ from it by rounding only
_BATCH = 2**20  # random numbers made at a time
_KEPT = 2**23  # of them at most are kept, a byte each


class Interval(NamedTuple):
    low: float
    high: float


class BootstrapTest(NamedTuple):
    """The interval of a mean, and the p value of its being 0."""

    interval: Interval
    p: float


def wilson(passed: int, total: int) -> Interval | None:
    """The score interval of a rate (Wilson 1927), without continuity correction; None if `total` is 0.

    The tasks count as independent. Stays within 0 and 1, and is no single point at 0 of n or n of n.

    >>> [round(end, 4) for end in wilson(81, 263)]
    [0.2553, 0.3662]
    """
    if total == 0:
        return None
    low, high = wilson_of_rate(passed / total, total)
    return Interval(0.0 if passed == 0 else low, 1.0 if passed == total else high)


def wilson_of_rate(rate: float, size: float) -> Interval:
    """The score interval of a rate in a sample of a size that need not be whole (Korn & Graubard 1998)."""
    shrink = 1 + Z**2 / size
    centre = (rate + Z**2 / (2 * size)) / shrink
    half = Z / shrink * sqrt(rate * (1 - rate) / size + Z**2 / (4 * size**2))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def bootstrap(values: Sequence[float], clusters: Sequence[Hashable]) -> Interval | None:
    """The percentile interval of the mean of `values`, whole clusters resampled with replacement.

    `clusters[i]` is the cluster of `values[i]`; with a cluster for each value this is the plain bootstrap.
    The mean of a resample is the sum of its values over their number, so clusters of different sizes weigh
    what they hold. `RESAMPLES` resamples, ends at their 2.5 and 97.5 percentiles (linear interpolation).

    None with fewer than two clusters (so also with fewer than two values): nothing there varies. With few
    clusters (below about ten) the interval is too narrow, and where all values are equal it is a point.

    Sources: Efron & Tibshirani 1993, §13.3 (percentiles); Field & Welsh 2007 (resampling clusters); Miller
    2024, arXiv:2411.00640 (why evaluations need clusters).
    """
    if len(values) > 1 and min(values) == max(values) and len(set(clusters)) > 1:
        return Interval(float(values[0]), float(values[0]))
    means = _resampled_means(values, clusters)
    return None if means is None else _percentiles(means)


def bootstrap_test(differences: Sequence[float], clusters: Sequence[Hashable]) -> BootstrapTest | None:
    """The interval of the mean difference, as `bootstrap`, and whether it could be 0; None as there.

    p is twice the smaller share of resampled means that are <= 0 or >= 0, each counted with one more
    (Davison & Hinkley 1997, §4.4.1, inverted interval), at most 1. It is never below 2 / 2^clusters, the
    least that a test that flips the signs of whole clusters can give: three databases prove nothing.
    """
    means = _resampled_means(differences, clusters)
    if means is None:
        return None
    below, above = int((means <= _ROUNDING).sum()), int((means >= -_ROUNDING).sum())
    p = 2 * (1 + min(below, above)) / (RESAMPLES + 1)
    least = 0.5 ** (len(set(clusters)) - 1)
    return BootstrapTest(_percentiles(means), min(1.0, max(p, least)))


def mcnemar(only_a: int, only_b: int) -> float:
    """The p value of two rates on the same tasks being equal: McNemar's test (1947) in its exact form.

    `only_a` and `only_b` count the tasks that one of the two solved; the others say nothing. Under equality
    each falls to either side like a coin, so p is twice the lower binomial tail, at most 1, and 1 if there is
    none. It is exact for every count: there is no threshold above which an approximation takes over.

    >>> mcnemar(1, 7)
    0.0703125
    """
    total = only_a + only_b
    tail = term = 1
    for count in range(min(only_a, only_b)):
        term = term * (total - count) // (count + 1)
        tail += term
    p: float = 2 * tail / 2**total
    return min(1.0, p)


def paired_difference(both: int, only_a: int, only_b: int, neither: int) -> Interval | None:
    """The interval of rate B minus rate A on the same tasks; None without tasks.

    Newcombe's square-and-add interval (1998, Statistics in Medicine 17:2635, method 10): the two Wilson
    intervals, less what the correlation of the two outcomes takes away.
    """
    total = both + only_a + only_b + neither
    passed_a, passed_b = both + only_a, both + only_b
    score_a, score_b = wilson(passed_a, total), wilson(passed_b, total)
    if score_a is None or score_b is None:
        return None
    rate_a, rate_b = passed_a / total, passed_b / total
    correlation = _correlation(both, only_a, only_b, neither)

    def half(from_a: float, from_b: float) -> float:
        return sqrt(max(0.0, from_a**2 - 2 * correlation * from_a * from_b + from_b**2))

    difference = rate_b - rate_a
    low = difference - half(score_a.high - rate_a, rate_b - score_b.low)
    high = difference + half(rate_a - score_a.low, score_b.high - rate_b)
    return Interval(max(-1.0, low), min(1.0, high))


def pass_hat_k(attempts: int, successes: int, k: int) -> float:
    """pass^k of one task: the probability that k attempts all succeed, C(c, k) / C(n, k).

    The unbiased estimate from `attempts` = n independent attempts with `successes` = c (Yao et al. 2024,
    arXiv:2406.12045, §2); average it over the tasks. Needs 1 <= k <= n.

    >>> pass_hat_k(4, 3, 2)
    0.5
    """
    return comb(successes, k) / comb(attempts, k)


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """pass@k of one task: the probability that at least one of k attempts succeeds, 1 - C(n-c, k) / C(n, k).

    The unbiased estimate of Chen et al. 2021 (arXiv:2107.03374, §2.1); average it over the tasks. Needs
    1 <= k <= n.

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


def _correlation(both: int, only_a: int, only_b: int, neither: int) -> float:
    """Newcombe's phi: with a continuity correction where it is positive, 0 where a margin is empty."""
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if margins == 0:
        return 0.0
    numerator: float = both * neither - only_a * only_b
    if numerator > 0:
        numerator = max(numerator - (both + only_a + only_b + neither) / 2, 0.0)
    return numerator / sqrt(margins)


def _resampled_means(values: Sequence[float], clusters: Sequence[Hashable]) -> npt.NDArray[np.float64] | None:
    import numpy as np

    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    count = len(names)
    if count < 2:
        return None
    sums, sizes = np.zeros(count), np.zeros(count)
    for value, cluster in zip(values, clusters, strict=True):
        sums[names[cluster]] += value
        sizes[names[cluster]] += 1
    batches = _kept_batches(count) if count * RESAMPLES <= _KEPT else resamples(count)
    if (sizes == sizes[0]).all():  # then all resamples are of one size, too
        size = count * sizes[0]
        return np.concatenate([np.einsum("ij,j", times, sums) / size for times in batches])
    return np.concatenate(
        [np.einsum("ij,j", times, sums) / np.einsum("ij,j", times, sizes) for times in batches]
    )


def resamples(units: int, number: int = RESAMPLES) -> Iterator[npt.NDArray[np.uint8]]:
    """Draw resamples of some units with replacement, the same ones every time.

    Yields:
        Batches of resamples, one a row: how often it has each unit.
    """
    import numpy as np

    random = np.random.PCG64(_SEED)
    rows = max(1, _BATCH // units)
    for start in range(0, number, rows):
        shape = (min(rows, number - start), units)
        drawn = (random.random_raw(shape) % np.uint64(units)).astype(np.int64)
        places = drawn + units * np.arange(len(drawn))[:, None]
        yield np.bincount(places.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.uint8)


@lru_cache(maxsize=4)
def _kept_batches(count: int) -> tuple[npt.NDArray[np.uint8], ...]:
    """Keep those of up to 800 clusters: the figures of one run all have the same clusters."""
    return tuple(resamples(count))


def _percentiles(means: npt.NDArray[np.float64]) -> Interval:
    import numpy as np

    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high))
