"""Do two results agree? The default rule (multiset) and BIRD's official one (set).

The line of reason in a `Comparison` quotes the gold: it is for graders and reports, never for an agent.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.databases import QueryResult, Row
from birdenv.grading._cells import PLAIN_TYPES, CanonicalRow, canonical_row, cell_types
from birdenv.grading._differences import cancel, emptiness, explain, shape_fault, show
from birdenv.grading._numbers import Agreement, compare_numbers

__all__ = ["Comparison", "compare_bird", "compare_multiset"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two results agree; if not, `reason` says why in one line.

    `flags`: `both_empty`, `gold_empty` (no row, or nothing but NULLs), `dup_only` (the same rows, repeated
    differently), `colorder_only`, `order_only` (strict comparison with order), `float_only` (the rows agree
    but for numbers that are not whole: within the tolerance if `equal`, beyond it if not).
    """

    equal: bool
    reason: str
    flags: tuple[str, ...] = ()


def compare_multiset(gold: QueryResult, pred: QueryResult) -> Comparison:
    """The default EX: equal as multisets of rows with positional columns, in any row order.

    Cells are canonical (`_cells.py`): NULL equals NULL, 1 equals 1.0, numbers that are not whole agree within
    max(1e-6, 1e-9 * max(|a|, |b|)), text is exact and never a number. Column names do not matter.
    """
    flags = emptiness(gold, pred)
    fault = shape_fault(gold, pred)
    if fault:
        return Comparison(False, fault, flags)
    missing, extra = _unmatched(gold.rows, pred.rows)
    if not missing and not extra:
        return Comparison(True, "", flags)
    if compare_numbers(missing, extra) is Agreement.FULL:
        return Comparison(True, "", (*flags, "float_only"))
    gold_rows, pred_rows = list(map(canonical_row, gold.rows)), list(map(canonical_row, pred.rows))
    reason, why = explain(gold_rows, pred_rows, missing, extra)
    return Comparison(False, reason, flags + why)


def compare_bird(gold: QueryResult, pred: QueryResult) -> Comparison:
    """BIRD's official EX (mini_dev evaluation_ex.py): Python equality of the two sets of row tuples.

    So duplicates and row order do not matter, floats are exact, and two empty results agree whatever their
    columns. Ours: cells that cannot be hashed (arrays, JSON) are compared as JSON text with sorted keys,
    where the official script fails; a result cut at the row limit never agrees.
    """
    flags = emptiness(gold, pred)
    if gold.truncated or pred.truncated:
        return Comparison(False, shape_fault(gold, pred), flags)
    expected, returned = _row_set(gold.rows), _row_set(pred.rows)
    if expected == returned:
        return Comparison(True, "", flags)
    fault = shape_fault(gold, pred)
    if fault:
        return Comparison(False, fault, flags)
    if len(expected) != len(returned):
        return Comparison(False, f"{len(expected)} distinct rows expected, {len(returned)} returned", flags)
    missing = next(row for row in map(_hashable_row, gold.rows) if row not in returned)
    extra = next(row for row in map(_hashable_row, pred.rows) if row not in expected)
    return Comparison(False, f"first differing row: expected {show(missing)}, returned {show(extra)}", flags)


def _unmatched(gold: Sequence[Row], pred: Sequence[Row]) -> tuple[list[CanonicalRow], list[CanonicalRow]]:
    """The canonical rows of each side without a partner on the other.

    Rows of plain cells that Python calls equal are taken away first, without the cost of canonical forms.
    """
    if cell_types(gold) <= PLAIN_TYPES and cell_types(pred) <= PLAIN_TYPES:
        gold, pred = cancel(gold, pred)
        if not gold and not pred:
            return [], []
    return cancel(list(map(canonical_row, gold)), list(map(canonical_row, pred)))


def _row_set(rows: Iterable[Row]) -> set[tuple[Hashable, ...]]:
    try:
        return set(rows)
    except TypeError:
        return set(map(_hashable_row, rows))


def _hashable_row(row: Row) -> tuple[Hashable, ...]:
    try:
        hash(row)
    except TypeError:
        return tuple(map(_json_if_unhashable, row))
    return row


def _json_if_unhashable(cell: Any) -> Hashable:
    try:
        hash(cell)
    except TypeError:
        return json.dumps(cell, sort_keys=True, default=str)
    return cell  # type: ignore[no-any-return]
