"""Metrics beside EX: soft-F1, and comparisons that look past the order of columns or columns too many.

`soft_f1` is what BIRD mini-dev's `evaluation_f1.py` computes since its correction of 2024. The comparisons
(`colperm`, `superset`) are for diagnosis, not for EX. `MODES` and `METRICS` are their names.
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
    """Compare as `compare_multiset` does, with the prediction's columns in any order.

    Flags: `colorder_only` where another order than the prediction's own was needed; `columns_unsearched`
    where a cap (10 columns, 10,000 partial orders) ended the search, so that the columns count as they stand.
    """
    comparison = compare_multiset(gold, pred)
    if comparison.equal or len(gold.columns) != len(pred.columns):
        return comparison
    return _searched(gold, pred, comparison, "colorder_only")


def compare_superset(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """Compare as `compare_multiset` does, if the prediction may have further columns, in any order.

    The rows are whole rows: cells of two rows never make up one. Two empty results do not agree, because any
    columns would do. Flags: `extra_columns` or `colorder_only` where more than `compare_multiset` was needed;
    `columns_unsearched` as in `compare_colperm`.
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
    """Return the comparison, or an equal one with this flag if the gold's columns are found in the
    prediction.
    """
    if gold.truncated or pred.truncated or not gold.rows or len(gold.rows) != len(pred.rows):
        return comparison
    search = find_columns(canonical_rows(gold.rows), canonical_rows(pred.rows))
    kept = tuple(name for name in comparison.flags if name in ("gold_empty", "both_empty"))
    if search.columns is not None:
        return RowsComparison(True, "", (*kept, flag))
    flags = comparison.flags if search.ended else (*comparison.flags, "columns_unsearched")
    return RowsComparison(False, comparison.reason, flags, comparison.expected, comparison.returned)


def soft_f1(gold: QueryResult, pred: QueryResult) -> float:
    """Return how much of the gold's cells a prediction returns, from 0 to 1; the metric is the mean times
    100.

    Repeated rows are dropped, the first of each stays. Then row i stands against row i, and each cell is
    looked for anywhere in the other row: cells found, cells of the prediction not found and cells of the gold
    not found, all as parts of the gold's width, are summed over the rows into true positives, false positives
    and false negatives. A row that has no other counts 1. Two empty results give 1.

    Its traps are kept, because published numbers have them:

    * the order of rows matters, whether or not the gold has an ORDER BY: two rows swapped give 0;
    * a cell is looked for, not counted: (1, 1, 1) for a gold of (1, 2, 3) gives 0.75, not 0.33;
    * rows weigh the same however many cells they have, so that the worked example of mini-dev's README,
      0.80 there, is 0.769 with missing cells and 0.667 with NULL in their places;
    * values are Python's: floats are exact, 1 equals 1.0.

    Ours: cells that cannot be hashed (arrays, JSON) are compared as JSON text, where the script fails; a
    result that was cut gives 0.
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
"""How two results are compared. `multiset` is the default EX, `bird` the official set rule."""

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

Metric: TypeAlias = Literal["ordered", "colperm", "superset", "soft_f1"]
"""What a grader works out beside `ex` and `ex_bird`, if asked to."""

METRICS: Final[tuple[Metric, ...]] = get_args(Metric)


def compare(mode: Mode, gold: QueryResult, pred: QueryResult, gold_sql: str, dialect: str) -> RowsComparison:
    """Compare by one of the modes. The gold's SQL (in `sqlite` or `postgres`) tells `ordered` its order."""
    match mode:
        case "multiset":
            return compare_multiset(gold, pred)
        case "bird":
            return compare_bird(gold, pred)
        case "ordered":
            return compare_ordered(gold, pred, gold_sql, dialect)
        case "colperm":
            return compare_colperm(gold, pred)
        case "superset":
            return compare_superset(gold, pred)


def metric_scores(
    metrics: Iterable[Metric], golds: Sequence[tuple[str, QueryResult]], pred: QueryResult, dialect: str
) -> dict[str, float]:
    """Return each metric's score, from 0 to 1: the best over the golds, which are given with their SQL."""
    return {
        metric: max((_score(metric, sql, gold, pred, dialect) for sql, gold in golds), default=0.0)
        for metric in metrics
    }


def needs_all_rows(metrics: Iterable[Metric]) -> bool:
    """Return whether a metric needs all rows of a prediction, also those beyond the gold's number."""
    return "soft_f1" in metrics


def _score(metric: Metric, sql: str, gold: QueryResult, pred: QueryResult, dialect: str) -> float:
    if metric == "soft_f1":
        return soft_f1(gold, pred)
    return float(compare(metric, gold, pred, sql, dialect).equal)
