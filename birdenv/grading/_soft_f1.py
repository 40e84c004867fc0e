"""Soft-F1, as BIRD mini-dev's `evaluation_f1.py` computes it since its correction of 2024."""

from __future__ import annotations

from collections.abc import Hashable

from birdenv.databases import QueryResult
from birdenv.grading._compare import hashable_rows

__all__ = ["soft_f1"]


def soft_f1(gold: QueryResult, pred: QueryResult) -> float:
    """How much of the gold's cells a prediction returns, from 0 to 1; the metric is the mean times 100.

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
