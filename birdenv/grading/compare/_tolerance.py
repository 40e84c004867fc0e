"""Compare rows as multisets, with a tolerance for numbers that are not whole.

The tolerance is |a - b| <= max(1e-6, 1e-9 * max(|a|, |b|)). Two whole numbers must be equal. Equal rows are
paired first, and the remaining rows are compared number by number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import chain, groupby, zip_longest
from operator import itemgetter
from typing import Any, Final, TypeAlias

from birdenv.databases import Row
from birdenv.grading.compare._cells import (
    NAN,
    PLAIN_TYPES,
    CanonicalRow,
    canonical_rows,
    cell_types,
    projected,
)

ABSOLUTE: Final = 1e-6
RELATIVE: Final = 1e-9
_MOST_MATCHED: Final = 200  # maximum number of rows in a group that is searched for a matching
_FEW: Final = 64  # maximum number of rows that are grouped at once

_Numbers: TypeAlias = tuple[Any, ...]
_PLACE: Final = ("number", "any")  # replaces a number with tolerance in the key of a group


class Agreement(Enum):
    """How far rows agree: completely within the tolerance, in all cells except numbers, or not at all."""

    FULL = "the same within the tolerance"
    BUT_NUMBERS = "the same but for numbers"
    NONE = "different"


def numbers_match(a: Any, b: Any) -> bool:
    """Return whether two finite numbers in canonical form are equal within the tolerance."""
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
    """Compare canonical rows as multisets: numbers within the tolerance, all other cells exactly.

    Rows are grouped by the positions of their numbers and by all other cells. Each group is compared in
    sorted order. If that fails and the group has at most 200 rows, the function searches for a one-to-one
    matching of its rows.
    """
    if len(gold) != len(pred):
        return Agreement.NONE
    if not gold:
        return Agreement.FULL
    if len(gold) == 1:
        cells = enumerate(zip(gold[0], pred[0], strict=True))
        return _compare_pair(
            gold[0], pred[0], [i for i, (a, b) in cells if not (isinstance(a, int) and isinstance(b, int))]
        )
    inexact = sorted(_inexact_columns(gold) | _inexact_columns(pred))
    if not _same_elsewhere(gold, pred, inexact):
        return Agreement.NONE
    if len(gold) <= _FEW:
        return _compare_run(gold, pred, inexact, look=True)
    found, none = Agreement.FULL, list[CanonicalRow]()
    for gold_run, pred_run in zip_longest(_runs(gold, inexact), _runs(pred, inexact), fillvalue=none):
        if len(gold_run) != len(pred_run):
            return Agreement.NONE
        if len(gold_run) == 1:
            of_run = _compare_pair(gold_run[0], pred_run[0], inexact)
        else:
            of_run = _compare_run(gold_run, pred_run, inexact, look=found is Agreement.FULL)
        if of_run is not Agreement.FULL:
            found = of_run
        if found is Agreement.NONE:
            break
    return found


def _compare_pair(gold: CanonicalRow, pred: CanonicalRow, inexact: list[int]) -> Agreement:
    found = Agreement.FULL
    for i, (a, b) in enumerate(zip(gold, pred, strict=True)):
        if a == b:
            continue
        if not (i in inexact and _is_number(a) and _is_number(b)):
            return Agreement.NONE
        if not numbers_match(a, b):
            found = Agreement.BUT_NUMBERS
    return found


def _compare_run(
    gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow], inexact: list[int], *, look: bool
) -> Agreement:
    """Compare rows that may belong to several groups. Without `look`, numbers count as different."""
    gold_groups, pred_groups = _group(gold, inexact), _group(pred, inexact)
    if {key: len(rows) for key, rows in gold_groups.items()} != {
        key: len(rows) for key, rows in pred_groups.items()
    }:
        return Agreement.NONE
    agree = look and all(_pair_up(rows, pred_groups[key]) for key, rows in gold_groups.items())
    return Agreement.FULL if agree else Agreement.BUT_NUMBERS


def _is_number(cell: Hashable) -> bool:
    if isinstance(cell, Decimal):
        return cell.is_finite()
    return isinstance(cell, int) or (isinstance(cell, float) and math.isfinite(cell))


def _inexact_columns(rows: Sequence[CanonicalRow]) -> set[int]:
    """Return the columns that contain a number that is not whole (canonical whole numbers are `int`)."""
    found = set()
    for i in range(len(rows[0])):
        kinds = set(map(type, map(itemgetter(i), rows)))
        if any(issubclass(kind, (float, Decimal)) for kind in kinds):
            cells = map(itemgetter(i), rows)
            if any(not isinstance(cell, int) and _is_number(cell) for cell in cells):
                found.add(i)
    return found


def _same_elsewhere(gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow], inexact: list[int]) -> bool:
    """Return whether all other columns may have the same values. This is a quick check before grouping."""
    return all(
        sum(map(hash, map(itemgetter(i), gold))) == sum(map(hash, map(itemgetter(i), pred)))
        for i in range(len(gold[0]))
        if i not in inexact
    )


def _runs(rows: Sequence[CanonicalRow], inexact: list[int]) -> Iterator[list[CanonicalRow]]:
    """Split the rows into runs. A run contains all rows of one group, and few others.

    The runs of two inputs have the groups in the same order. Grouping all rows at once would take more memory
    than the rows themselves.
    """
    exact = [i for i in range(len(rows[0])) if i not in inexact]
    digests = [
        hash((key, *(_PLACE if _is_number(cell) else cell for cell in cells)))
        for key, cells in zip(projected(rows, exact), projected(rows, inexact), strict=True)
    ]
    order = sorted(range(len(rows)), key=digests.__getitem__)
    return ([rows[i] for i in run] for _, run in groupby(order, key=digests.__getitem__))


def _group(rows: Iterable[CanonicalRow], inexact: list[int]) -> dict[CanonicalRow, list[_Numbers]]:
    """Return the numbers in the inexact columns of each row, grouped by the values of all other cells."""
    groups: dict[CanonicalRow, list[_Numbers]] = {}
    for row in rows:
        key = list(row)
        numbers = []
        for i in inexact:
            if _is_number(row[i]):
                key[i] = _PLACE
                numbers.append(row[i])
        groups.setdefault(tuple(key), []).append(tuple(numbers))
    return groups


def _pair_up(gold: list[_Numbers], pred: list[_Numbers]) -> bool:
    if len(gold) == 1:
        return _all_match(gold[0], pred[0])
    pairs = zip(sorted(gold), sorted(pred), strict=True)
    if all(_all_match(a, b) for a, b in pairs):
        return True
    return len(gold) <= _MOST_MATCHED and _has_matching(gold, pred)


def _all_match(a: _Numbers, b: _Numbers) -> bool:
    return all(map(numbers_match, a, b))


def _has_matching(gold: list[_Numbers], pred: list[_Numbers]) -> bool:
    """Return whether the rows can be matched one to one (bipartite matching by augmenting paths)."""
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


def unmatched(
    gold: Sequence[Row], pred: Sequence[Row], plain: bool | None = None
) -> tuple[list[CanonicalRow], list[CanonicalRow]]:
    """Return the rows of each side that have no equal partner on the other side, in canonical form.

    Plain rows that are equal in Python are paired first, because this comparison requires no canonical forms.
    `plain` is the result of `are_plain` for both sides; None if it has not been computed.
    """
    if plain is None:
        plain = are_plain(gold) and are_plain(pred)
    if not plain:
        return multiset_difference(canonical_rows(gold), canonical_rows(pred))
    gold, pred = multiset_difference(gold, pred)
    missing, extra = canonical_rows(gold), canonical_rows(pred)
    return multiset_difference(missing, extra) if has_nan(missing) and has_nan(extra) else (missing, extra)


def rows_agree(gold: Sequence[Row], pred: Sequence[Row]) -> bool:
    """Return whether two lists of rows are equal as multisets, with numbers within the tolerance."""
    missing, extra = unmatched(gold, pred)
    return compare_numbers(missing, extra) is Agreement.FULL


def multiset_difference(
    gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow]
) -> tuple[list[CanonicalRow], list[CanonicalRow]]:
    """Return the rows of each side that have no equal partner on the other side, in their original order."""
    if len(gold) == 1 and len(pred) == 1:
        return ([], []) if gold[0] == pred[0] else (list(gold), list(pred))
    open_rows = Counter(gold)
    extra = []
    for row in pred:
        if left := open_rows.get(row):
            open_rows[row] = left - 1
        else:
            extra.append(row)
    if not extra and len(gold) == len(pred):
        return [], []
    return list(open_rows.elements()), extra


def has_nan(rows: Sequence[CanonicalRow]) -> bool:
    """Return whether any cell is NaN, which is not equal to itself in Python."""
    return NAN in chain.from_iterable(rows)


def are_plain(rows: Sequence[Row]) -> bool:
    """Return whether `==` compares these rows in the same way as their canonical forms, except for NaN."""
    return cell_types(rows) <= PLAIN_TYPES
