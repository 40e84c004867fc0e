"""EX of what was fetched of a prediction, by both rules, at once where that can be seen at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from birdenv.grading._fetched_rows import FetchedRows, GoldRows
from birdenv.grading.compare._canonical import canonical_row, canonical_rows
from birdenv.grading.compare._explain import show
from birdenv.grading.compare._multiset import RowsComparison, compare_multiset, hashable_rows
from birdenv.grading.compare._row_pairs import are_plain, multiset_difference


def is_same(gold: GoldRows, pred: FetchedRows) -> bool:
    """Whether both have the same rows in the same order, as Python and canonical forms alike see them."""
    return (
        pred.total == len(gold.rows)
        and pred.rows == gold.rows
        and len(pred.columns) == len(gold.result.columns)
        and gold.is_plain
        and are_plain(pred.rows)
    )


def agree_as_multisets(gold: GoldRows, pred: FetchedRows) -> RowsComparison:
    """`compare_multiset` of the two."""
    if is_same(gold, pred):
        flags = ("both_empty", "gold_empty") if not gold.rows else ("gold_empty",) if gold.is_empty else ()
        return RowsComparison(True, "", flags)
    if pred.more and pred.total is not None and len(gold.result.columns) == len(pred.columns):
        return _with_repeated_rows(gold, pred, pred.total)
    return compare_multiset(gold.result, pred.result)


def agree_as_sets(gold: GoldRows, pred: FetchedRows) -> bool:
    """Whether `compare_bird` calls the two equal."""
    if pred.total == len(gold.rows) and pred.rows == gold.rows:
        return True  # as they are
    if pred.total is None or not (gold.has_all(pred.rows) and gold.has_all(pred.more)):
        return False
    try:
        returned = set[tuple[Hashable, ...]](pred.rows)
    except TypeError:
        returned = set(hashable_rows(pred.rows))
    return len(returned.union(pred.more)) == len(gold.row_set)


def _with_repeated_rows(gold: GoldRows, pred: FetchedRows, total: int) -> RowsComparison:
    """`compare_multiset` of a prediction with more rows than the gold, some of them only counted."""
    expected, kept = canonical_rows(gold.rows), canonical_rows(pred.rows)
    returned = Counter(kept)
    for row, count in pred.more.items():
        returned[canonical_row(row)] += count
    flags = ("gold_empty",) if gold.is_empty else ()
    _, extra = multiset_difference(expected, kept)
    missing = next(iter((Counter(expected) - returned).elements()), None)
    counts = f"{len(expected)} row{'s' * (len(expected) != 1)} expected, {total} returned"
    rows = ("" if missing is None else show(missing), show(extra[0]))
    if gold.canonical_set == returned.keys():
        return RowsComparison(False, f"duplicate rows differ: {counts}", (*flags, "dup_only"), *rows)
    return RowsComparison(False, counts, flags, *rows)
