"""Compute metrics other than EX: soft-F1, and comparisons that ignore the order of columns or extra columns.

`soft_f1` is the metric in BIRD mini-dev's `evaluation_f1.py`, as corrected in 2024. The comparisons `colperm`
and `superset` are for diagnosis. `MODES` and `METRICS` list the names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Literal, TypeAlias, get_args

from birdenv.databases import QueryResult
from birdenv.grading.compare._cells import canonical_rows
from birdenv.grading.compare._differences import find_columns
from birdenv.grading.compare._rows import (
    RowsComparison,
    compare_bird,
    compare_multiset,
    compare_ordered,
    hashable_rows,
)


def compare_colperm(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """Compare two results as `compare_multiset` does, but allow the prediction's columns in any order.

    The flag `colorder_only` means that the columns had to be reordered. The flag `columns_unsearched` means
    that a limit (10 columns, or 10,000 partial orders) stopped the search for an order; the original order is
    then used.
    """
    comparison = compare_multiset(gold, pred)
    if comparison.equal or len(gold.columns) != len(pred.columns):
        return comparison
    return _searched(gold, pred, comparison, "colorder_only")


def compare_superset(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """Compare two results as `compare_multiset` does, but allow columns in any order, and extra columns.

    Whole rows are compared; cells from different rows are never combined. Two empty results do not agree,
    because any columns would match. The flag `extra_columns` or `colorder_only` means that the results do not
    agree by `compare_multiset`. The flag `columns_unsearched` has the same meaning as in `compare_colperm`.
    """
    comparison = compare_multiset(gold, pred)
    if not gold.rows or not pred.rows:
        reason = comparison.reason or "both results are empty"
        return RowsComparison(False, reason, comparison.flags, comparison.expected, comparison.returned)
    if comparison.equal or len(gold.columns) > len(pred.columns):
        return comparison
    wider = len(pred.columns) > len(gold.columns)
    return _searched(gold, pred, comparison, "extra_columns" if wider else "colorder_only")


def _searched(gold: QueryResult, pred: QueryResult, comparison: RowsComparison, flag: str) -> RowsComparison:
    """Return the comparison or, if the prediction has the gold's columns, a successful one with `flag`."""
    if gold.truncated or pred.truncated or not gold.rows or len(gold.rows) != len(pred.rows):
        return comparison
    search = find_columns(canonical_rows(gold.rows), canonical_rows(pred.rows))
    kept = tuple(name for name in comparison.flags if name in ("gold_empty", "both_empty"))
    if search.columns is not None:
        return RowsComparison(True, "", (*kept, flag))
    flags = comparison.flags if search.ended else (*comparison.flags, "columns_unsearched")
    return RowsComparison(False, comparison.reason, flags, comparison.expected, comparison.returned)


def soft_f1(gold: QueryResult, pred: QueryResult) -> float:
    """Return the soft-F1 of a prediction, from 0 to 1. The metric is the mean over all pairs, times 100.

    Only the first of several equal rows is kept. Then row i of the prediction is compared with row i of the
    gold: each cell may match any cell in the other row. Cells that match are true positives, cells in
    the prediction that do not match are false positives, and cells in the gold that do not match are false
    negatives. Each counts as a fraction of the gold's width, and the fractions are summed over all rows. A
    row without a counterpart counts as one false positive or false negative. Two empty results score 1.

    To keep scores comparable, this function reproduces the quirks of the published metric:

    * The order of rows matters, even if the gold has no ORDER BY: two swapped rows score 0.
    * Cells are matched, not counted: (1, 1, 1) for a gold of (1, 2, 3) scores 0.75, not 0.33.
    * All rows have the same weight, regardless of their number of cells. The example in mini-dev's README
      (0.80 there) therefore scores 0.769 with missing cells, and 0.667 with NULLs in their place.
    * Values are compared as in Python: floats exactly, and 1 equals 1.0.

    The script fails for cells that cannot be hashed (arrays, JSON); this function compares such cells as JSON
    text. A truncated result scores 0.
    """
    if gold.truncated or pred.truncated:
        return 0.0
    expected = list(dict.fromkeys(hashable_rows(gold.rows)))
    returned = list(dict.fromkeys(hashable_rows(pred.rows)))
    if not expected and not returned:
        return 1.0
    both = min(len(expected), len(returned))
    true_positive = 0.0
    false_positive, false_negative = float(len(returned) - both), float(len(expected) - both)
    for gold_row, pred_row in zip(expected, returned, strict=False):
        found = _found(pred_row, gold_row)
        true_positive += found / len(gold_row)
        false_positive += (len(pred_row) - found) / len(gold_row)
        false_negative += (len(gold_row) - _found(gold_row, pred_row)) / len(gold_row)
    if not true_positive:
        return 0.0
    precision = true_positive / (true_positive + false_positive)
    recall = true_positive / (true_positive + false_negative)
    return 2 * precision * recall / (precision + recall)


def _found(cells: tuple[Hashable, ...], others: tuple[Hashable, ...]) -> int:
    return sum(cell in others for cell in cells)


Mode: TypeAlias = Literal["multiset", "bird", "ordered", "colperm", "superset"]
"""The ways to compare two results. `multiset` is the default EX, and `bird` the official set rule."""

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

_COMPARISONS: Final = {
    "multiset": compare_multiset,
    "bird": compare_bird,
    "colperm": compare_colperm,
    "superset": compare_superset,
}

Metric: TypeAlias = Literal["ordered", "colperm", "superset", "soft_f1"]
"""The metrics that a grader can compute in addition to `ex` and `ex_bird`."""

METRICS: Final[tuple[Metric, ...]] = get_args(Metric)


def compare(mode: Mode, gold: QueryResult, pred: QueryResult, gold_sql: str, dialect: str) -> RowsComparison:
    """Compare two results in one of the comparison modes.

    Only the mode `ordered` uses `gold_sql` and `dialect` (`sqlite` or `postgres`).
    """
    if mode == "ordered":
        return compare_ordered(gold, pred, gold_sql, dialect)
    return _COMPARISONS[mode](gold, pred)


def metric_scores(
    metrics: Iterable[Metric], golds: Sequence[tuple[str, QueryResult]], pred: QueryResult, dialect: str
) -> dict[str, float]:
    """Return the score for each metric, from 0 to 1.

    `golds` are pairs of SQL and result. If there are several golds, each score is the maximum over all golds.
    """
    return {
        metric: max((_score(metric, sql, gold, pred, dialect) for sql, gold in golds), default=0.0)
        for metric in metrics
    }


def needs_all_rows(metrics: Iterable[Metric]) -> bool:
    """Return whether any metric needs all rows of a prediction, even if there are more than in the gold."""
    return "soft_f1" in metrics


def _score(metric: Metric, sql: str, gold: QueryResult, pred: QueryResult, dialect: str) -> float:
    if metric == "soft_f1":
        return soft_f1(gold, pred)
    return float(compare(metric, gold, pred, sql, dialect).equal)
