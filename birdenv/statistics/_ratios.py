"""Ratios of sums over dialogues with intervals.

A figure is the sum of some numbers over the sum of others: events over dialogues, words over messages,
success over selections. Dialogues about the same scenario resemble each other, so scenarios are the clusters.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import atanh, fsum, inf, sqrt, tanh
from typing import Any, Final, NamedTuple

from birdenv.statistics.intervals import Interval, Z, wilson_of_rate
from birdenv.statistics.statistic import Figure, undefined

_T = (12.706204736432095, 4.302652729911275)  # Student's, of 1 and 2 degrees of freedom
_LEAST_CLUSTERS: Final = 3  # of two, Student's t says next to nothing
_MOST: Final = 1e50
"""Sums and squares of smaller numbers are finite."""


class Ratio(NamedTuple):
    """What one dialogue, or one seat of it, gives to a figure: `above` / `below`."""

    above: float
    below: float = 1.0


def number(value: Any) -> float | None:
    """Return a number that can be summed up; None for anything else, and for one that is beyond all use."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _MOST else None


def ratio_figure(
    ratios: Sequence[Ratio], clusters: Sequence[Hashable], *, is_rate: bool = False, most: float = inf
) -> Figure:
    """Return the sum above over the sum below, with a 95 % interval over clusters.

    The standard error is of the linearised ratio, summed up by clusters (Cochran 1977, §6.3 and §9A), times
    Student's t of clusters less one; the interval ends at 0 where nothing that is counted can be less, and at
    `most`, which the figure cannot exceed. Of a rate the error gives the size of a simple sample that is as
    sure, from which Wilson's interval follows (Korn & Graubard 1998), which stays within 0 and 1.
    """
    above, below = fsum(each.above for each in ratios), fsum(each.below for each in ratios)
    if not below:
        return undefined("no dialogue has anything to count")
    value = above / below
    sums: dict[Hashable, float] = {}
    for each, cluster in zip(ratios, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + each.above - value * each.below
    count = len(sums)
    if count < 2:
        return Figure(value, None, "one scenario only: no interval")
    error = sqrt(fsum(each**2 for each in sums.values()) * count / (count - 1)) / below
    if is_rate:
        return Figure(value, _wilson(value, error, count))
    if error < 1e-12 * max(1.0, abs(value)):
        return Figure(value, None, "nothing varies: no interval")
    if count < _LEAST_CLUSTERS:
        return Figure(value, None, "two scenarios only: too few for an interval")
    half = error * student_t(count - 1)
    low, high = value - half, min(most, value + half)
    return Figure(value, Interval(max(0.0, low) if _are_counts(ratios) else low, high))


def _are_counts(ratios: Sequence[Ratio]) -> bool:
    """Whether the figure cannot be below 0."""
    return all(each.above >= 0 and each.below >= 0 for each in ratios)


def _wilson(rate: float, error: float, clusters: int) -> Interval:
    single = clusters / (clusters - 1)  # one dialogue for each scenario: as many as there are
    size = single * rate * (1 - rate) / error**2 if error > 1e-12 else clusters
    return wilson_of_rate(rate, size)


def student_t(freedom: int) -> float:
    """Return the 0.975 quantile of Student's t (Abramowitz & Stegun 26.7.5), right to 1 % from 3 degrees on.

    >>> [round(student_t(n), 2) for n in (1, 2, 5, 30)]
    [12.71, 4.3, 2.57, 2.04]
    """
    if freedom <= len(_T):
        return _T[freedom - 1]
    z, n = Z, float(freedom)
    terms = (
        (z**3 + z) / (4 * n),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3),
    )
    return z + sum(terms)


def correlation(pairs: Iterable[tuple[float, float]]) -> Figure:
    """Return Pearson's r with Fisher's interval."""
    found = list(pairs)
    count = len(found)
    if count < 3:
        return undefined(f"{count} dialogue(s) have both numbers; it needs three")
    mean_x, mean_y = (fsum(column) / count for column in zip(*found, strict=True))
    xx, yy = fsum((x - mean_x) ** 2 for x, _ in found), fsum((y - mean_y) ** 2 for _, y in found)
    if xx < 1e-18 or yy < 1e-18:
        return undefined("one of the two numbers does not vary")
    r = max(-1.0, min(1.0, fsum((x - mean_x) * (y - mean_y) for x, y in found) / sqrt(xx * yy)))
    if count < 4 or abs(r) > 1 - 1e-12:
        return Figure(r, None, "too few dialogues for an interval")
    half = Z / sqrt(count - 3)
    return Figure(r, Interval(tanh(atanh(r) - half), tanh(atanh(r) + half)))
