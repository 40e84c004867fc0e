"""Do two results agree? The default rule (multiset) and BIRD's official one (set).

The line of reason in a `Comparison` quotes the gold: it is for graders and reports, never for an agent.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare._canonical import canonical_rows
from birdenv.grading.compare._explain import emptiness, explain, shape_fault, show
from birdenv.grading.compare._row_pairs import are_plain, has_nan, unmatched
from birdenv.grading.compare._tolerance import Agreement, compare_numbers


@dataclass(frozen=True, slots=True)
class RowsComparison:
    """Whether two results agree; if not, `reason` says why in one line.

    `flags`: `both_empty`, `gold_empty` (no row, or nothing but NULLs), `dup_only` (the same rows, repeated
    differently), `colorder_only`, `order_only` (comparisons with order), `float_only` (the rows agree but for
    numbers that are not whole: within the tolerance if `equal`, beyond it if not), `extra_columns`
    (`compare_superset`), `columns_unsearched` (a cap ended the search for columns).

    `expected`, `returned`: the first row of each side without a partner on the other, as text, where known.
    """

    equal: bool
    reason: str
    flags: tuple[str, ...] = ()
    expected: str = ""
    returned: str = ""


def compare_multiset(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """The default EX: equal as multisets of rows with positional columns, in any row order.

    Cells are canonical (`_canonical.py`): NULL equals NULL, 1 equals 1.0, numbers that are not whole agree
    within `max(1e-6, 1e-9 * max(|a|, |b|))`, text is exact and never a number. Column names do not matter.

    A prediction that was cut never agrees: its rows are more than it shows.
    """
    flags = emptiness(gold, pred)
    fault = shape_fault(gold, pred)
    if fault:
        return RowsComparison(False, fault, flags, *_first_rows(gold, pred))
    plain = are_plain(gold.rows) and are_plain(pred.rows)
    missing, extra = unmatched(gold.rows, pred.rows, plain)
    if not missing and not extra:
        return RowsComparison(True, "", flags)
    agreement = compare_numbers(missing, extra)
    if agreement is Agreement.FULL:
        return RowsComparison(True, "", (*flags, "float_only"))
    gold_rows, pred_rows = gold.rows, pred.rows
    if not plain or has_nan(missing) or has_nan(extra):
        gold_rows, pred_rows = canonical_rows(gold_rows), canonical_rows(pred_rows)
    reason, why = explain(gold_rows, pred_rows, missing, extra, agreement)
    return RowsComparison(False, reason, flags + why, _first(missing), _first(extra))


def compare_bird(gold: QueryResult, pred: QueryResult) -> RowsComparison:
    """BIRD's official EX (mini_dev evaluation_ex.py): Python equality of the two sets of row tuples.

    So duplicates and row order do not matter, floats are exact, and two empty results agree whatever their
    columns. Ours: cells that cannot be hashed (arrays, JSON) are compared as JSON text with sorted keys,
    where the official script fails; a result that was cut never agrees.
    """
    flags = emptiness(gold, pred)
    if gold.truncated or pred.truncated:
        return RowsComparison(False, shape_fault(gold, pred), flags)
    expected = _row_set(gold.rows)
    extra = next((row for row in hashable_rows(pred.rows) if row not in expected), None)
    returned = _row_set(pred.rows)
    if extra is None and len(returned) == len(expected):
        return RowsComparison(True, "", flags)
    missing = next((row for row in hashable_rows(gold.rows) if row not in returned), None)
    rows = ("" if missing is None else show(missing), "" if extra is None else show(extra))
    reason = shape_fault(gold, pred)
    if not reason and len(expected) != len(returned):
        reason = f"{len(expected)} distinct rows expected, {len(returned)} returned"
    return RowsComparison(
        False, reason or "first differing row: expected {}, returned {}".format(*rows), flags, *rows
    )


def _row_set(rows: Sequence[Row]) -> set[tuple[Hashable, ...]]:
    """The distinct rows as the set rule sees them."""
    try:
        return set(rows)
    except TypeError:
        return set(map(_hashable_row, rows))


def hashable_rows(rows: Iterable[Row]) -> Iterable[tuple[Hashable, ...]]:
    """The rows one by one, cells that cannot be hashed as JSON text."""
    return map(_hashable_row, rows)


def _first(rows: Sequence[Row]) -> str:
    return show(rows[0]) if rows else ""


def _first_rows(gold: QueryResult, pred: QueryResult) -> tuple[str, str]:
    """The first rows that cannot have a partner, of results that `shape_fault` objects to."""
    if len(gold.columns) != len(pred.columns):
        return _first(gold.rows), _first(pred.rows)
    if not gold.truncated and len(pred.rows) > len(gold.rows):
        _, extra = unmatched(gold.rows, pred.rows)
        return "", _first(extra)
    return "", ""


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
