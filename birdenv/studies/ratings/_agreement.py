"""Compute inter-rater agreement and mean answers.

A rated unit is a dialogue, or one seat in a dialogue.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from birdenv.statistics import Figure, Interval, bootstrap, percentiles, resamples, undefined
from birdenv.studies.ratings._judgements import Rating

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
LEVELS: Final[tuple[Level, ...]] = ("nominal", "ordinal", "interval")

FEWEST: Final = 5
"""The minimum number of dialogues or raters for an interval; resamples of fewer show only the extremes."""
_RESAMPLES: Final = 500
_POINT: Final = 1e-9  # narrower intervals count as points
_LONGEST_NAME: Final = 40
"""Longer answers are free text, not names of categories."""
_Counts: TypeAlias = npt.NDArray[np.int64]
_Resampled: TypeAlias = Sequence[float] | npt.NDArray[np.float64]


def krippendorff_alpha(ratings: Sequence[Rating], level: Level = "ordinal") -> Figure:
    """Return Krippendorff's alpha for the answers to one question (Krippendorff 2004, §11.3).

    The number of ratings may vary between units; units with a single rating are ignored. Answers in words
    always count as nominal. The confidence interval is a bootstrap over units. The package `krippendorff`
    computes alpha; if it is not installed, the result has no value.
    """
    counts, values = _counts(ratings)
    counts = counts[counts.sum(axis=1) > 1]
    why = _no_agreement(ratings, counts)
    if why:
        return undefined(why)
    try:
        from krippendorff import alpha
    except ImportError:
        return undefined(
            "the package krippendorff is not installed: pip install 'birdenv[ratings]' (in a clone: "
            "-e '.[ratings]')"
        )
    in_words = any(isinstance(value, str) for value in values)
    domain = np.arange(len(values)) if in_words else np.array(values)

    def alpha_of(counts: _Counts) -> float:
        used = counts.any(axis=0)
        at = "nominal" if in_words else level
        return float(alpha(value_counts=counts[:, used], value_domain=domain[used], level_of_measurement=at))

    drawn = (counts.repeat(times, axis=0) for times in _resamples(len(counts)))
    resampled = [alpha_of(each) for each in drawn if _varies(each)]
    return _of_dialogues(alpha_of(counts), resampled, len(counts))


def _resamples(units: int) -> npt.NDArray[np.int64]:
    """Return how often each resample (row) contains each unit (column)."""
    return np.concatenate(list(resamples(units, _RESAMPLES))).astype(np.int64)


def _of_dialogues(value: float, resampled: _Resampled, number: int) -> Figure:
    """Return a statistic with its interval. `resampled` contains only defined values of the statistic."""
    if number >= FEWEST and len(resampled) < 0.95 * _RESAMPLES:
        return Figure(value, None, "too few dialogues have different answers: no interval")
    return with_interval(value, resampled, number, "dialogues")


def with_interval(value: float, resampled: _Resampled, number: int, what: str) -> Figure:
    """Return a statistic with a percentile interval, or with the reason why there is no interval.

    Args:
        value: the value of the statistic for all data.
        resampled: the values of the statistic for the resamples.
        number: the number of units that were resampled.
        what: a plural noun for the units, such as "dialogues", for messages.
    """
    if number < FEWEST:
        return Figure(value, None, _too_few(number, what))
    return _with_ends(value, percentiles(resampled), what)


def _too_few(number: int, what: str) -> str:
    named = what.removesuffix("s") if number == 1 else what
    return f"only {number} {named}: an interval needs at least {FEWEST}"


def _with_ends(value: float, interval: Interval | None, what: str) -> Figure:
    """Return a statistic with its interval, or with a reason if the interval has no width."""
    if interval is None or interval.high - interval.low < _POINT:
        return Figure(value, None, f"all resamples of {what} are equal: no interval")
    return Figure(value, interval)


def fleiss_kappa(ratings: Sequence[Rating]) -> Figure:
    """Return Fleiss' kappa for the answers to one question (Fleiss 1971, Psychological Bulletin 76:378).

    All answers count as nominal. The confidence interval is a bootstrap over units. Kappa is undefined if the
    the number of ratings varies between units.
    """
    counts, _ = _counts(ratings)
    numbers = counts.sum(axis=1)
    why = _no_agreement(ratings, counts[numbers > 1])
    if not why and numbers.min() != numbers.max():
        several = f"{numbers.min()} to {numbers.max()}"
        why = f"all dialogues must have the same number of ratings, not {several}; use alpha instead"
    if why:
        return undefined(why)
    raters = int(numbers[0])
    agreeing = ((counts * counts).sum(axis=1) - raters) / (raters * (raters - 1))
    once = np.ones((1, len(counts)), np.int64)
    resampled = _kappa(counts, agreeing, _resamples(len(counts)))
    [value] = _kappa(counts, agreeing, once)
    return _of_dialogues(float(value), resampled[np.isfinite(resampled)], len(counts))


def _kappa(counts: _Counts, agreeing: npt.NDArray[np.float64], times: _Counts) -> npt.NDArray[np.float64]:
    """Return kappa for each resample (a row of `times`: the counts of units); NaN if all answers agree."""
    answered = times @ counts
    by_chance = np.square(answered / answered.sum(axis=1, keepdims=True)).sum(axis=1)
    observed = times @ agreeing / times.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((observed - by_chance) / (1 - by_chance))


def _counts(ratings: Sequence[Rating]) -> tuple[_Counts, list[float | str]]:
    """Return a matrix of how often each unit (row) has each value (column), and the list of values."""
    values: list[float | str] = sorted(
        {each.value for each in ratings}, key=lambda v: (isinstance(v, str), v)
    )
    columns = {value: column for column, value in enumerate(values)}
    rows = {unit: row for row, unit in enumerate(dict.fromkeys(each.unit for each in ratings))}
    counts = np.zeros((len(rows), len(columns)), np.int64)
    for each in ratings:
        counts[rows[each.unit], columns[each.value]] += 1
    return counts, values


def _varies(counts: _Counts) -> bool:
    return int(counts.any(axis=0).sum()) > 1


def _no_agreement(ratings: Sequence[Rating], pairable: _Counts) -> str:
    """Return the reason why agreement is not defined, or an empty string if it is.

    `pairable` contains the counts of units with at least two ratings.
    """
    raters = len({each.rater for each in ratings})
    if any(isinstance(each.value, str) and len(each.value) > _LONGEST_NAME for each in ratings):
        return "answers in free text have no categories"
    if not ratings:
        return "there are no ratings"
    if raters < 2:
        return "there is only one rater"
    if not len(pairable):
        return f"no two of the {raters} raters rated the same dialogue"
    if len(pairable) == 1:
        return "only one dialogue has several ratings, so agreement by chance cannot be estimated"
    if not _varies(pairable):
        return "all ratings that can be compared are equal, so agreement beyond chance is undefined"
    return ""


def mean_answer(ratings: Sequence[Rating], cluster: Literal["dialogue", "rater"] = "dialogue") -> Figure:
    """Return the mean of numeric answers, with a bootstrap interval over the units named by `cluster`."""
    values = [each.value for each in ratings if isinstance(each.value, float)]
    if len(values) < len(ratings):
        return undefined("answers in words have no mean")
    if not values:
        return undefined("there are no ratings")
    clusters = [each.dialogue if cluster == "dialogue" else each.rater for each in ratings]
    mean = fsum(values) / len(values)
    if len(set(values)) == 1:
        return Figure(mean, None, "all answers are equal: no interval")
    number = len(set(clusters))
    if number < FEWEST:
        return Figure(mean, None, _too_few(number, f"{cluster}s"))
    return _with_ends(mean, bootstrap(values, clusters), f"{cluster}s")


def answers(ratings: Sequence[Rating]) -> dict[float | str, int]:
    """Return how many ratings have each answer, sorted by answer."""
    counts = Counter(each.value for each in ratings)
    return dict(sorted(counts.items(), key=lambda item: (isinstance(item[0], str), item[0])))


def by_question(ratings: Sequence[Rating]) -> dict[str, list[Rating]]:
    """Group ratings by question, in the order in which the questions first occur."""
    found: dict[str, list[Rating]] = defaultdict(list)
    for each in ratings:
        found[each.question].append(each)
    return dict(found)
