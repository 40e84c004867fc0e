"""Why two results differ, in one line for graders (it quotes the gold: never show it to an agent)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from birdenv.databases import QueryResult
from birdenv.grading._cells import CanonicalRow, canonical_cell
from birdenv.grading._numbers import Agreement, compare_numbers

__all__ = ["cancel", "emptiness", "explain", "shape_fault", "show"]

_LONGEST_CELL: Final = 40
_LONGEST_ROW: Final = 120
_MOST_COLUMNS: Final = 10  # wider results are not searched for another column order
_MOST_ORDERS: Final = 100  # partial column orders looked at

_Rows = Sequence[CanonicalRow]


def cancel(gold: _Rows, pred: _Rows) -> tuple[list[CanonicalRow], list[CanonicalRow]]:
    """The rows of each side that have no partner on the other, as multisets, in order of first appearance."""
    gold_counts, pred_counts = Counter(gold), Counter(pred)
    if dict.__eq__(gold_counts, pred_counts):
        return [], []
    return list((gold_counts - pred_counts).elements()), list((pred_counts - gold_counts).elements())


def emptiness(gold: QueryResult, pred: QueryResult) -> tuple[str, ...]:
    """`both_empty`: neither has a row. `gold_empty`: the gold has no row, or nothing but NULLs."""
    flags = []
    if not gold.rows and not pred.rows:
        flags.append("both_empty")
    if all(cell is None for row in gold.rows for cell in row):
        flags.append("gold_empty")
    return tuple(flags)


def shape_fault(gold: QueryResult, pred: QueryResult) -> str:
    """Why rows need not be compared at all; empty if they must be."""
    for side, result in (("gold", gold), ("prediction", pred)):
        if result.truncated:
            return f"the {side}'s result was cut at the row limit ({len(result.rows)} rows)"
    if len(gold.columns) != len(pred.columns):
        return f"{_count(len(gold.columns), 'column')} expected, {len(pred.columns)} returned"
    return ""


def explain(gold: _Rows, pred: _Rows, missing: _Rows, extra: _Rows) -> tuple[str, tuple[str, ...]]:
    """One line and flags (`dup_only`, `float_only`, `colorder_only`) for canonical rows that differ.

    `missing` and `extra` are what `cancel` leaves of `gold` and `pred`.
    """
    counts = f"{_count(len(gold), 'row')} expected, {len(pred)} returned"
    if set(missing) <= set(pred) and set(extra) <= set(gold):
        return f"duplicate rows differ: {counts}", ("dup_only",)
    if len(gold) != len(pred):
        return counts, ()
    if compare_numbers(missing, extra) is Agreement.BUT_NUMBERS:
        return f"numbers differ: expected {show(missing[0])}, returned {show(extra[0])}", ("float_only",)
    if _has_other_column_order(gold, pred):
        return "same rows, columns in another order", ("colorder_only",)
    if Counter(map(_as_text, missing)) == Counter(map(_as_text, extra)):
        return f"types differ: {_type_difference(missing, extra)}", ()
    return f"first differing row: expected {show(missing[0])}, returned {show(extra[0])}", ()


def show(row: CanonicalRow) -> str:
    """A row on one line, long cells and long rows cut."""
    text = "(" + ", ".join(map(_show_cell, row)) + ")"
    return text if len(text) <= _LONGEST_ROW else text[:_LONGEST_ROW] + "…"


def _show_cell(cell: Hashable) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, Decimal):
        return str(cell)
    if isinstance(cell, (str, bytes)) and len(cell) > _LONGEST_CELL:
        return repr(cell[:_LONGEST_CELL]) + "…"
    return repr(cell)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _has_other_column_order(gold: _Rows, pred: _Rows) -> bool:
    """Whether some order of pred's columns gives gold's rows; False where the search would be long."""
    gold_columns, pred_columns = list(zip(*gold, strict=True)), list(zip(*pred, strict=True))
    width = len(gold_columns)
    if not 2 <= width <= _MOST_COLUMNS:
        return False
    gold_values, pred_values = [Counter(c) for c in gold_columns], [Counter(c) for c in pred_columns]
    looked_at = 0

    def extend(order: tuple[int, ...]) -> bool:
        nonlocal looked_at
        place = len(order)
        if place == width:
            return True
        for column in range(width):
            if column in order or not dict.__eq__(pred_values[column], gold_values[place]):
                continue
            looked_at += 1
            if looked_at > _MOST_ORDERS:
                return False
            longer = (*order, column)
            rows = Counter(zip(*(pred_columns[i] for i in longer), strict=True))
            if dict.__eq__(rows, Counter(zip(*gold_columns[: place + 1], strict=True))) and extend(longer):
                return True
        return False

    return extend(())


def _as_text(row: CanonicalRow) -> CanonicalRow:
    """The row with text that reads as a number taken as that number, and dates as their ISO text."""
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
    for row in missing:
        other = next(candidate for candidate in extra if _as_text(candidate) == _as_text(row))
        for number, (a, b) in enumerate(zip(row, other, strict=True), 1):
            if a != b:
                return f"column {number}: {_type_name(a)} expected, {_type_name(b)} returned"
    return f"expected {show(missing[0])}, returned {show(extra[0])}"


def _type_name(cell: Any) -> str:
    names = {int: "number", float: "number", Decimal: "number", str: "text", bytes: "bytes"}
    return names.get(type(cell), type(cell).__name__)
