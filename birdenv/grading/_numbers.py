"""Rows that agree but for numbers that are not whole: which agree within the tolerance?

The tolerance is |a - b| <= max(1e-6, 1e-9 * max(|a|, |b|)); two whole numbers must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Final, TypeAlias

from birdenv.grading._cells import CanonicalRow

__all__ = ["Agreement", "compare_numbers", "numbers_match"]

ABSOLUTE: Final = 1e-6
RELATIVE: Final = 1e-9
_MOST_MATCHED: Final = 200  # rows in one group up to which a matching is searched

_Numbers: TypeAlias = tuple[Any, ...]
_PLACE: Final = ("number", "any")  # stands in a group's key where a number is compared with tolerance


class Agreement(Enum):
    """How far two lists of rows agree."""

    FULL = "the same within the tolerance"
    BUT_NUMBERS = "the same but for numbers"
    NONE = "different"


def numbers_match(a: Any, b: Any) -> bool:
    """Whether two finite canonical numbers are the same within the tolerance."""
    if a == b:
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    try:
        return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except OverflowError:  # a whole number beyond the range of float
        left, right = Fraction(a), Fraction(b)
        return abs(left - right) <= Fraction(RELATIVE) * max(abs(left), abs(right))


def compare_numbers(gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow]) -> Agreement:
    """Pair up two lists of canonical rows, numbers within the tolerance and all else exactly.

    Rows are grouped by their other cells and by where their numbers stand. A group is compared in sorted
    order; if that fails, groups of up to 200 rows are searched for any one-to-one matching.
    """
    if len(gold) != len(pred):
        return Agreement.NONE
    columns = _inexact_columns(gold) | _inexact_columns(pred)
    gold_groups, pred_groups = _group(gold, columns), _group(pred, columns)
    if {key: len(rows) for key, rows in gold_groups.items()} != {
        key: len(rows) for key, rows in pred_groups.items()
    }:
        return Agreement.NONE
    agree = all(_pair_up(rows, pred_groups[key]) for key, rows in gold_groups.items())
    return Agreement.FULL if agree else Agreement.BUT_NUMBERS


def _is_number(cell: Hashable) -> bool:
    return isinstance(cell, (int, Decimal)) or (isinstance(cell, float) and math.isfinite(cell))


def _inexact_columns(rows: Iterable[CanonicalRow]) -> frozenset[int]:
    """Columns that hold a number that is not whole (canonical whole numbers are `int`)."""
    return frozenset(
        column
        for row in rows
        for column, cell in enumerate(row)
        if not isinstance(cell, int) and _is_number(cell)
    )


def _group(rows: Iterable[CanonicalRow], columns: frozenset[int]) -> dict[CanonicalRow, list[_Numbers]]:
    groups: dict[CanonicalRow, list[_Numbers]] = {}
    for row in rows:
        places = [i for i in columns if _is_number(row[i])]
        key = list(row)
        for i in places:
            key[i] = _PLACE
        groups.setdefault(tuple(key), []).append(tuple(row[i] for i in places))
    return groups


def _pair_up(gold: list[_Numbers], pred: list[_Numbers]) -> bool:
    pairs = zip(sorted(gold), sorted(pred), strict=True)
    if all(_all_match(a, b) for a, b in pairs):
        return True
    return len(gold) <= _MOST_MATCHED and _has_matching(gold, pred)


def _all_match(a: _Numbers, b: _Numbers) -> bool:
    return all(map(numbers_match, a, b))


def _has_matching(gold: list[_Numbers], pred: list[_Numbers]) -> bool:
    """Whether every gold row can have a pred row of its own (bipartite matching by augmenting paths)."""
    choices = [[j for j, other in enumerate(pred) if _all_match(row, other)] for row in gold]
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for j in choices[row]:
            if j not in tried:
                tried.add(j)
                if j not in owner or place(owner[j], tried):
                    owner[j] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(gold)))
