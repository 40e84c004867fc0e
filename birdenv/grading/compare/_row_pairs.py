"""Which rows of two results have no partner in the other one, as multisets.

Rows that are equal are taken away first; what is left is compared number by number (`_tolerance`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from birdenv.databases import Row
from birdenv.grading.compare._canonical import NAN, PLAIN_TYPES, CanonicalRow, canonical_rows, cell_types
from birdenv.grading.compare._tolerance import Agreement, compare_numbers


def unmatched(
    gold: Sequence[Row], pred: Sequence[Row], plain: bool | None = None
) -> tuple[list[CanonicalRow], list[CanonicalRow]]:
    """The canonical rows of each side without an equal partner on the other.

    Rows of plain cells that Python calls equal are taken away first, without the cost of canonical forms.
    `plain`: whether both sides `are_plain`, if the caller knows.
    """
    if plain is None:
        plain = are_plain(gold) and are_plain(pred)
    if not plain:
        return multiset_difference(canonical_rows(gold), canonical_rows(pred))
    gold, pred = multiset_difference(gold, pred)
    missing, extra = canonical_rows(gold), canonical_rows(pred)
    return multiset_difference(missing, extra) if has_nan(missing) and has_nan(extra) else (missing, extra)


def rows_agree(gold: Sequence[Row], pred: Sequence[Row]) -> bool:
    """Whether they are the same multiset of rows, numbers within the tolerance."""
    missing, extra = unmatched(gold, pred)
    return compare_numbers(missing, extra) is Agreement.FULL


def multiset_difference(
    gold: Sequence[CanonicalRow], pred: Sequence[CanonicalRow]
) -> tuple[list[CanonicalRow], list[CanonicalRow]]:
    """The rows of each side that have no equal partner on the other, in their order."""
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
    """Whether a cell is NaN, which Python calls equal to nothing."""
    return NAN in chain.from_iterable(rows)


def are_plain(rows: Sequence[Row]) -> bool:
    """Whether Python's equality of these rows is the canonical one, NaN left aside."""
    return cell_types(rows) <= PLAIN_TYPES
