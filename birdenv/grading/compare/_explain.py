"""Why two results differ, in one line for graders (it quotes the gold: never show it to an agent)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date, time
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, Final

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare._cells import CanonicalRow, canonical_cell
from birdenv.grading.compare._column_search import find_columns
from birdenv.grading.compare._tolerance import Agreement, compare_numbers

_LONGEST_CELL: Final = 40
_LONGEST_ROW: Final = 120
_MOST_ORDERS: Final = 100  # partial column orders looked at
_MOST_LOOSENED: Final = 1_000  # rows that are looked at for values of another type
_TYPE_NAMES: Final = {int: "number", float: "number", Decimal: "number", str: "text", bytes: "bytes"}
_NEVER_LOOSENED: Final = frozenset({type(None), bytes})
_SHOWN_AS_THEY_ARE: Final = frozenset({int, float})

_Rows = Sequence[CanonicalRow]


def emptiness(gold: QueryResult, pred: QueryResult) -> tuple[str, ...]:
    """Return the flags `both_empty` (neither has rows) and `gold_empty` (no row, or nothing but NULLs)."""
    flags = []
    if not gold.rows and not pred.rows:
        flags.append("both_empty")
    if all(cell is None for row in gold.rows for cell in row):
        flags.append("gold_empty")
    return tuple(flags)


def shape_fault(gold: QueryResult, pred: QueryResult) -> str:
    """Return why rows need not be compared at all; empty if they must be."""
    if gold.truncated:
        return f"the gold's result was cut at the row limit ({len(gold.rows)} rows)"
    if len(gold.columns) != len(pred.columns):
        return f"{_count(len(gold.columns), 'column')} expected, {len(pred.columns)} returned"
    if pred.truncated and len(pred.rows) > len(gold.rows):
        return f"{_count(len(gold.rows), 'row')} expected, more than {len(pred.rows)} returned"
    if pred.truncated:
        return f"the prediction's result was cut at the row limit ({len(pred.rows)} rows)"
    return ""


def explain(
    gold: Sequence[Row],
    pred: Sequence[Row],
    missing: _Rows,
    extra: _Rows,
    agreement: Agreement | None = None,
) -> tuple[str, tuple[str, ...]]:
    """Return one line and flags (`dup_only`, `float_only`, `colorder_only`) for rows that differ.

    `missing` and `extra` are the canonical rows that `multiset_difference` leaves of `gold` and `pred`; those
    may be any rows that Python finds equal where their canonical forms are. `agreement`: of missing and
    extra, if the caller knows it.
    """
    counts = f"{_count(len(gold), 'row')} expected, {len(pred)} returned"
    if _are_all_in(missing, pred) and _are_all_in(extra, gold):
        return f"duplicate rows differ: {counts}", ("dup_only",)
    if len(gold) != len(pred):
        return counts, ()
    if (agreement or compare_numbers(missing, extra)) is Agreement.BUT_NUMBERS:
        return f"numbers differ: expected {show(missing[0])}, returned {show(extra[0])}", ("float_only",)
    if len(gold[0]) > 1 and _may_be_reordered(missing, extra) and _has_other_column_order(gold, pred):
        return "same rows, columns in another order", ("colorder_only",)
    return _type_difference(missing, extra) or (
        f"first differing row: expected {show(missing[0])}, returned {show(extra[0])}"
    ), ()


def show(row: CanonicalRow) -> str:
    """Return a row on one line, long cells and long rows cut."""
    text = "(" + ", ".join(map(_show_cell, row)) + ")"
    return text if len(text) <= _LONGEST_ROW else text[:_LONGEST_ROW] + "…"


def _show_cell(cell: Hashable) -> str:
    if type(cell) in _SHOWN_AS_THEY_ARE:
        return repr(cell)
    if cell is None:
        return "NULL"
    if isinstance(cell, Decimal):
        return str(cell)
    if isinstance(cell, (str, bytes)) and len(cell) > _LONGEST_CELL:
        return repr(cell[:_LONGEST_CELL]) + "…"
    return repr(cell)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are_all_in(rows: _Rows, others: Sequence[Row]) -> bool:
    return not rows or (rows[0] in others and set(others).issuperset(rows))


def _may_be_reordered(missing: _Rows, extra: _Rows) -> bool:
    """Look quickly, before a search, whether the cells could be the same in some order."""
    return sum(map(hash, chain.from_iterable(missing))) == sum(map(hash, chain.from_iterable(extra)))


def _has_other_column_order(gold: Sequence[Row], pred: Sequence[Row]) -> bool:
    """Return whether some order of pred's columns gives gold's rows; False where the search would be long."""
    return find_columns(gold, pred, _MOST_ORDERS).columns is not None


def _as_text(row: CanonicalRow) -> CanonicalRow:
    """Return the row with text that reads as a number taken as that number, and dates as their ISO text."""
    return tuple(map(_loosened, row))


def _loosened(cell: Hashable) -> Hashable:
    if isinstance(cell, (date, time)):
        return str(cell)
    if isinstance(cell, str):
        try:
            return canonical_cell(Decimal(cell))
        except (InvalidOperation, ValueError):
            return cell
    return cell


def _type_difference(missing: _Rows, extra: _Rows) -> str:
    """Return one line if the rows are the same but for text that reads as a number or a date; else empty."""
    if len(missing) > _MOST_LOOSENED or not _may_differ_in_type(missing, extra):
        return ""
    partners = dict(zip(map(_as_text, extra), extra, strict=True))
    if Counter(map(_as_text, missing)) != Counter(map(_as_text, extra)):
        return ""
    for number, (a, b) in enumerate(zip(missing[0], partners[_as_text(missing[0])], strict=True), 1):
        if _type_name(a) != _type_name(b):
            return f"types differ: column {number}: {_type_name(a)} expected, {_type_name(b)} returned"
    return ""


def _may_differ_in_type(missing: _Rows, extra: _Rows) -> bool:
    """Look quickly whether some column has cells of two types that can be normalised into each other."""
    for ours, others in zip(zip(*missing, strict=True), zip(*extra, strict=True), strict=False):
        kinds = {*map(type, ours), *map(type, others)}
        if len(kinds) > 1 and len(set(map(_type_name_of, kinds - _NEVER_LOOSENED))) > 1:
            return True
    return False


def _type_name(cell: Any) -> str:
    return _type_name_of(type(cell))


def _type_name_of(kind: type) -> str:
    return _TYPE_NAMES.get(kind, kind.__name__)
