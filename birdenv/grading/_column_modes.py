"""Comparisons that look past the order of columns, or past columns too many: for diagnosis, not for EX."""

from __future__ import annotations

from birdenv.databases import QueryResult
from birdenv.grading._cells import canonical_rows
from birdenv.grading._column_order import find_columns
from birdenv.grading._compare import Comparison, compare_multiset

__all__ = ["compare_colperm", "compare_superset"]


def compare_colperm(gold: QueryResult, pred: QueryResult) -> Comparison:
    """As `compare_multiset`, for some order of the prediction's columns, the same in every row.

    Flags: `colorder_only` where another order than the prediction's own was needed; `columns_unsearched`
    where a cap (10 columns, 10,000 partial orders) ended the search, so that the columns count as they stand.
    """
    comparison = compare_multiset(gold, pred)
    if comparison.equal or len(gold.columns) != len(pred.columns):
        return comparison
    return _searched(gold, pred, comparison, "colorder_only")


def compare_superset(gold: QueryResult, pred: QueryResult) -> Comparison:
    """As `compare_multiset`, with the gold's columns found among the prediction's, each in one of its own.

    The rows are whole rows: cells of two rows never make up one. Two empty results do not agree, because any
    columns would do. Flags: `extra_columns` or `colorder_only` where more than `compare_multiset` was needed;
    `columns_unsearched` as in `compare_colperm`.
    """
    comparison = compare_multiset(gold, pred)
    if not gold.rows or not pred.rows:
        reason = comparison.reason or "both results are empty"
        return Comparison(False, reason, comparison.flags, comparison.expected, comparison.returned)
    if comparison.equal or len(gold.columns) > len(pred.columns):
        return comparison
    wider = len(pred.columns) > len(gold.columns)
    return _searched(gold, pred, comparison, "extra_columns" if wider else "colorder_only")


def _searched(gold: QueryResult, pred: QueryResult, comparison: Comparison, flag: str) -> Comparison:
    """The comparison, or an equal one with this flag if the gold's columns are found in the prediction."""
    if gold.truncated or pred.truncated or not gold.rows or len(gold.rows) != len(pred.rows):
        return comparison
    search = find_columns(canonical_rows(gold.rows), canonical_rows(pred.rows))
    kept = tuple(name for name in comparison.flags if name in ("gold_empty", "both_empty"))
    if search.columns is not None:
        return Comparison(True, "", (*kept, flag))
    flags = comparison.flags if search.ended else (*comparison.flags, "columns_unsearched")
    return Comparison(False, comparison.reason, flags, comparison.expected, comparison.returned)
