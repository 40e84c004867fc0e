"""All statistics: rates, means over clusters, paired differences, and one resampler for everything else.

Intervals are 95 %, tests two-sided. A rate of independent tasks has Wilson's interval (`wilson`), the
difference of two on the same tasks Newcombe's (`paired_difference`) and McNemar's test (`mcnemar`). All
else is resampled: whole clusters with replacement, because tasks on one database (or repeats of one task, or
dialogues about one scenario) resemble each other (`bootstrap`, `bootstrap_test`, `ratio_figure`,
`correlation`; `resamples` and `percentiles` for other figures).

Everything is a pure function of its arguments. The random numbers are the raw 64-bit words of PCG64 from a
fixed seed, a stream that numpy promises never to change (NEP 19), unlike that of `Generator`. Only functions
that resample import numpy: games carry their measures, and are loaded where nothing is measured.
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
"""Of everything but ratings, whose figures cost more."""

_Z: Final = 1.959963984540054  # the normal quantile of 0.975
_SEED: Final = 0
_ROUNDING: Final = 1e-12  # means nearer to 0 than this differ from it by rounding only
_BATCH: Final = 2**20  # random numbers made at a time
_KEPT: Final = 2**25  # of them at most are kept, a byte each
_MOST: Final = 1e50  # sums and squares of smaller numbers are finite
_DIGITS: Final = 6


class Interval(NamedTuple):
    low: float
    high: float


class Figure(NamedTuple):
    """A statistic of some data.

    Attributes:
        value: the number; None where the statistic is not defined.
        interval: its 95 % interval; None where nothing varies.
        why: why there is no number, or why the number has no interval; a sentence without its full stop.
    """

    value: float | None
    interval: Interval | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the statistic as a JSON object, with `why` only if something is not defined."""
        found: dict[str, Any] = {"value": rounded(self.value), "interval_95": rounded(self.interval)}
        return found | ({"why": self.why} if self.why else {})

    def text(self, digits: int = 3) -> str:
        """Return the statistic in words: `0.743 [0.610, 0.852]`, or `not defined: ...`."""
        if self.value is None:
            return f"not defined: {self.why}"
        shown = f"{self.value:.{digits}f}"
        if self.interval is not None:
            shown += f" [{self.interval.low:.{digits}f}, {self.interval.high:.{digits}f}]"
        return f"{shown} ({self.why})" if self.why else shown


class BootstrapTest(NamedTuple):
    """The interval of a mean, and the p value of its being 0."""

    interval: Interval
    p: float


class Ratio(NamedTuple):
    """The contribution of a dialogue, or of one seat, to a figure: `above` / `below`."""

    above: float
    below: float = 1.0


def undefined(why: str) -> Figure:
    """Return a statistic that has no number."""
    return Figure(None, None, why)


def number(value: Any) -> float | None:
    """Return a number that can be summed up; None for anything else, and for one that is beyond all use."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _MOST else None


def wilson(passed: int, total: int) -> Interval | None:
    """Return the score interval of a rate (Wilson 1927), without continuity correction; None if `total` is 0.

    The tasks count as independent. Stays within 0 and 1, and is no single point at 0 of n or n of n.

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
    """Return the interval of rate B minus rate A on the same tasks; None without tasks.

    Newcombe's square-and-add interval (1998, Statistics in Medicine 17:2635, method 10): the two Wilson
    intervals, less what the correlation of the two outcomes takes away (phi, with a continuity correction
    where it is positive, and 0 where a margin is empty).
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
    """Return the p value of two rates on the same tasks being equal: McNemar's test (1947), exact.

    `only_a` and `only_b` count the tasks that one of the two solved; the others say nothing. Under equality
    each falls to either side like a coin, so p is twice the lower binomial tail, at most 1.

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


def bootstrap(values: Sequence[float], clusters: Sequence[Hashable]) -> Interval | None:
    """Return the percentile interval of the mean of `values`, whole clusters resampled with replacement.

    `clusters[i]` is the cluster of `values[i]`; with a cluster for each value this is the plain bootstrap.
    The mean of a resample is the sum of its values over their number, so clusters of different sizes weigh
    what they hold.

    None with fewer than two clusters: nothing there varies. With few clusters (below about ten) the interval
    is too narrow, and where all values are equal it is a point.

    Sources: Efron & Tibshirani 1993, §13.3 (percentiles); Field & Welsh 2007 (resampling clusters); Miller
    2024, arXiv:2411.00640 (why evaluations need clusters).
    """
    if len(values) > 1 and min(values) == max(values) and len(set(clusters)) > 1:
        return Interval(float(values[0]), float(values[0]))
    means = _resampled([Ratio(value) for value in values], clusters)
    return None if means is None else percentiles(means)


def bootstrap_test(differences: Sequence[float], clusters: Sequence[Hashable]) -> BootstrapTest | None:
    """Return the interval of the mean difference, as `bootstrap`, and whether it could be 0; None as there.

    p is twice the smaller share of resampled means that are <= 0 or >= 0, each counted with one more
    (Davison & Hinkley 1997, §4.4.1, inverted interval), at most 1. It is never below 2 / 2^clusters, the
    least that a test that flips the signs of whole clusters can give: three databases prove nothing.
    """
    means = _resampled([Ratio(difference) for difference in differences], clusters)
    if means is None:
        return None
    below, above = int((means <= _ROUNDING).sum()), int((means >= -_ROUNDING).sum())
    p = 2 * (1 + min(below, above)) / (RESAMPLES + 1)
    least = 0.5 ** (len(set(clusters)) - 1)
    return BootstrapTest(percentiles(means), min(1.0, max(p, least)))


def ratio_figure(ratios: Sequence[Ratio], clusters: Sequence[Hashable], *, is_rate: bool = False) -> Figure:
    """Return the sum above over the sum below, with the percentile interval of resampled clusters.

    A rate of one dialogue for each cluster has Wilson's interval, as has a rate that no cluster moves from 0
    or 1, with a task for each cluster.
    """
    above, below = fsum(each.above for each in ratios), fsum(each.below for each in ratios)
    if not below:
        return undefined("no dialogue has anything to count")
    value, count = above / below, len(set(clusters))
    if count < 2:
        return Figure(value, None, "one scenario only: no interval")
    if is_rate and (count == len(ratios) == below or value in (0, 1)):
        return Figure(value, wilson(round(value * count), count))
    drawn = _resampled(ratios, clusters)
    interval = None if drawn is None else percentiles(drawn[drawn == drawn])
    if interval is None or interval.high - interval.low < _ROUNDING * max(1.0, abs(value)):
        return Figure(value, None, "nothing varies: no interval")
    if count == 2:
        return Figure(value, None, "two scenarios only: too few for an interval")
    return Figure(value, interval)


def correlation(pairs: Iterable[tuple[float, float]]) -> Figure:
    """Return Pearson's r with the percentile interval of resampled pairs."""
    import numpy as np

    found = np.array(list(pairs), dtype=float).reshape(-1, 2)
    count = len(found)
    if count < 3:
        return undefined(f"{count} dialogue(s) have both numbers; it needs three")
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
        return Figure(r, None, "too few dialogues for an interval")
    drawn = r_of(np.concatenate([np.einsum("ij,jk", times, columns) / count for times in resamples(count)]))
    return Figure(r, percentiles(drawn[np.isfinite(drawn)]))


def resamples(units: int, number: int = RESAMPLES) -> Iterator[npt.NDArray[np.uint8]]:
    """Draw resamples of some units with replacement, the same ones every time.

    Yields:
        Batches of resamples, one a row: how often it has each unit.
    """
    yield from (_kept if units * number <= _KEPT else _drawn)(units, number)


def percentiles(resampled: npt.NDArray[np.float64] | Sequence[float]) -> Interval:
    """Return the 2.5 and 97.5 percentiles of a resampled figure (linear interpolation)."""
    import numpy as np

    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(float(low), float(high))


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
    """Keep those of up to 3,355 clusters: the figures of one run all have the same clusters."""
    return tuple(_drawn(units, number))


def _resampled(ratios: Sequence[Ratio], clusters: Sequence[Hashable]) -> npt.NDArray[np.float64] | None:
    """Return the ratios of sums of resampled clusters; None with fewer than two clusters."""
    import numpy as np

    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    count = len(names)
    if count < 2:
        return None
    places = np.fromiter((names[cluster] for cluster in clusters), np.intp, len(clusters))
    above, below = (np.bincount(places, column, count) for column in np.array(ratios, dtype=float).T)
    sums = np.concatenate([np.einsum("ij,j", times, above) for times in resamples(count)])
    if (below == below[0]).all():  # then all resamples are of one size, too
        means: npt.NDArray[np.float64] = sums / (count * below[0])
        return means
    sizes = np.concatenate([np.einsum("ij,j", times, below) for times in resamples(count)])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums / sizes)


def pass_hat_k(attempts: int, successes: int, k: int) -> float:
    """Return pass^k of one task: the probability that k attempts all succeed, C(c, k) / C(n, k).

    The unbiased estimate from `attempts` = n independent attempts with `successes` = c (Yao et al. 2024,
    arXiv:2406.12045, §2); average it over the tasks. Needs 1 <= k <= n.

    >>> pass_hat_k(4, 3, 2)
    0.5
    """
    return comb(successes, k) / comb(attempts, k)


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """Return pass@k of one task: the probability that at least one of k attempts succeeds.

    The unbiased estimate 1 - C(n-c, k) / C(n, k) of Chen et al. 2021 (arXiv:2107.03374, §2.1); average it
    over the tasks. Needs 1 <= k <= n.

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


def rounded(value: Any) -> Any:
    """Return numbers for files: six digits, so that the last bits of a sum do not show."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [rounded(item) for item in value]
    return value
