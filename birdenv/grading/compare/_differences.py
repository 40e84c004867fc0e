"""Explain why two results differ, and find the gold's columns in a prediction.

The explanation is one line that quotes the gold: never show it to an agent. The search for columns is
limited, and skips columns whose contents cannot match.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare._cells import CanonicalRow, canonical_cell, projected
from birdenv.grading.compare._tolerance import ABSOLUTE, RELATIVE, Agreement, compare_numbers, rows_agree
from birdenv.statistics import counted

MOST_COLUMNS: Final = 10
"""Maximum width of a gold that is searched. (The search of the official test suite hangs on 26 columns.)"""

_MOST_NODES: Final = 10_000  # maximum number of partial assignments to check
_NUMBERS: Final = (int, float, Decimal)
_MOST_CELLS: Final = 50_000_000  # maximum number of cells to check, as each check reads all rows


@dataclass(frozen=True, slots=True)
class ColumnSearch:
    """The result of searching a prediction for the gold's columns.

    Attributes:
        columns: for each gold column, the position of the matching column in the prediction; None if the
            columns cannot be matched, or the search was stopped.
        ended: whether the search was completed. If not, a limit stopped it.
    """

    columns: tuple[int, ...] | None
    ended: bool = True


class _CapReachedError(Exception):
    pass


def find_columns(gold: Sequence[Row], pred: Sequence[Row], most_nodes: int = _MOST_NODES) -> ColumnSearch:
    """Find a column of `pred` for each column of `gold`, so that the rows are equal as multisets.

    Both sides must have the same number of rows, which must not be 0. The rows must be in canonical form, or
    plain enough that `==` compares them like their canonical forms. Numbers agree within the tolerance. Whole
    rows are compared, so cells from different rows are never combined. `most_nodes` limits the search.
    """
    width = len(gold[0])
    if width > len(pred[0]):
        return ColumnSearch(None)
    if width > MOST_COLUMNS:
        return ColumnSearch(None, ended=False)
    search = _Search(gold, pred, min(most_nodes, _MOST_CELLS // (len(gold) * width) + width))
    try:
        return ColumnSearch(next(search.assignments(), None))
    except _CapReachedError:
        return ColumnSearch(None, ended=False)


class _Search:
    """A depth-first search that assigns one gold column at a time, as long as the rows can still agree."""

    def __init__(self, gold: Sequence[Row], pred: Sequence[Row], nodes: int) -> None:
        self._gold, self._pred = gold, pred
        self._nodes = nodes
        self._gold_columns = [_Column(gold, i) for i in range(len(gold[0]))]
        self._pred_columns = [_Column(pred, i) for i in range(len(pred[0]))]

    def assignments(self) -> Iterator[tuple[int, ...]]:
        """Yield all assignments of columns that reproduce the gold's rows, the most likely first."""
        is_hopeless = any(
            not any(ours.digest == other.digest or ours.may_be(other) for other in self._pred_columns)
            for ours in self._gold_columns
        )
        return iter(()) if is_hopeless else self._extended(())

    def _extended(self, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(self._gold_columns):
            if rows_agree(self._gold, list(projected(self._pred, chosen))):
                yield chosen
            return
        for place in self._places(len(chosen), chosen):
            self._nodes -= 1
            if self._nodes < 0:
                raise _CapReachedError
            longer = (*chosen, place)
            if self._may_agree(longer):
                yield from self._extended(longer)

    def _places(self, column: int, taken: tuple[int, ...]) -> Iterator[int]:
        """Yield columns of the prediction that may match a gold column.

        The same position comes first, and columns that match only within the tolerance come last.
        """
        ours = self._gold_columns[column]
        free = sorted(set(range(len(self._pred_columns))).difference(taken), key=lambda i: (i != column, i))
        yield from (i for i in free if self._pred_columns[i].digest == ours.digest)
        yield from (
            i
            for i in free
            if self._pred_columns[i].digest != ours.digest and ours.may_be(self._pred_columns[i])
        )

    def _may_agree(self, chosen: tuple[int, ...]) -> bool:
        """Return whether the rows may agree in the assigned columns, ignoring columns with a tolerance."""
        pairs = [
            (column, place)
            for column, place in enumerate(chosen)
            if self._gold_columns[column].digest == self._pred_columns[place].digest
        ]
        if not 1 < len(pairs) < len(self._gold_columns):
            return True
        columns, places = zip(*pairs, strict=True)
        return _digest(self._gold, columns) == _digest(self._pred, places)


class _Column:
    """Properties of a column, for comparing columns without storing their cells."""

    def __init__(self, rows: Sequence[Row], column: int) -> None:
        self._rows, self._column = rows, column
        self.digest = _digest(rows, [column])
        self.kinds = set(map(type, map(itemgetter(column), rows)))

    @property
    def _has_fractions(self) -> bool:
        return any(issubclass(kind, (float, Decimal)) for kind in self.kinds)

    @cached_property
    def _sums(self) -> tuple[float, float]:
        """Return the sum of the numbers, and the sum of their absolute values; infinity if too large."""
        cells = map(itemgetter(self._column), self._rows)
        numbers = [cell for cell in cells if isinstance(cell, _NUMBERS)]
        try:
            return math.fsum(numbers), math.fsum(abs(float(number)) for number in numbers)
        except (OverflowError, ValueError):
            return math.inf, math.inf

    def may_be(self, other: _Column) -> bool:
        """Return whether two columns may be equal within the tolerance, although their cells differ."""
        if not (self._has_fractions or other._has_fractions):
            return False
        if (
            _others(self.kinds) != _others(other.kinds)
            or not _numbers(self.kinds)
            or not _numbers(other.kinds)
        ):
            return False
        (total, size), (other_total, other_size) = self._sums, other._sums
        if not math.isfinite(size + other_size):
            return True
        allowed = ABSOLUTE * len(self._rows) + 2 * RELATIVE * max(size, other_size)
        return abs(total - other_total) <= allowed


def _numbers(kinds: set[type]) -> set[type]:
    return {kind for kind in kinds if issubclass(kind, _NUMBERS)}


def _others(kinds: set[type]) -> set[type]:
    return kinds - _numbers(kinds)


def _digest(rows: Sequence[Row], columns: Sequence[int]) -> int:
    """Return a digest of the multiset of cells in these columns."""
    return sum(map(hash, map(itemgetter(*columns), rows)))


_LONGEST_CELL: Final = 40
_LONGEST_ROW: Final = 120
_MOST_ORDERS: Final = 100  # maximum number of partial column orders to check
_MOST_LOOSENED: Final = 1_000  # maximum number of rows to check for values of another type
_TYPE_NAMES: Final = {int: "number", float: "number", Decimal: "number", str: "text", bytes: "bytes"}
_NEVER_LOOSENED: Final = frozenset({type(None), bytes})
_Rows = Sequence[CanonicalRow]


def emptiness(gold: QueryResult, pred: QueryResult) -> tuple[str, ...]:
    """Return the flags that apply to empty results.

    `both_empty` means that neither result has rows. `gold_empty` means that the gold has no rows, or only
    NULLs.
    """
    flags = []
    if not gold.rows and not pred.rows:
        flags.append("both_empty")
    if all(cell is None for row in gold.rows for cell in row):
        flags.append("gold_empty")
    return tuple(flags)


def shape_fault(gold: QueryResult, pred: QueryResult) -> str:
    """Return the reason why two results cannot agree, regardless of their values; empty if they can agree.

    Results cannot agree if their column counts differ, or if either result is truncated.
    """
    if gold.truncated:
        return f"the gold's result was cut at the row limit ({len(gold.rows)} rows)"
    if len(gold.columns) != len(pred.columns):
        return f"{counted(len(gold.columns), 'column')} expected, {len(pred.columns)} returned"
    if pred.truncated and len(pred.rows) > len(gold.rows):
        return f"{counted(len(gold.rows), 'row')} expected, more than {len(pred.rows)} returned"
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
    """Return a one-line explanation of a difference, and the flags that describe it.

    The possible flags are `dup_only`, `float_only` and `colorder_only` (see `RowsComparison`).

    Args:
        gold: the gold rows, in canonical form or plain enough that `==` compares them like canonical rows.
        pred: the rows of the prediction, in the same form.
        missing: the canonical gold rows that the prediction lacks (`multiset_difference`).
        extra: the canonical rows of the prediction that the gold lacks (`multiset_difference`).
        agreement: the result of `compare_numbers` for `missing` and `extra`; None if it has not been
            computed.
    """
    counts = f"{counted(len(gold), 'row')} expected, {len(pred)} returned"
    if _are_all_in(missing, pred) and _are_all_in(extra, gold):
        return f"duplicate rows differ: {counts}", ("dup_only",)
    if len(gold) != len(pred):
        return counts, ()
    if (agreement or compare_numbers(missing, extra)) is Agreement.BUT_NUMBERS:
        return f"numbers differ: expected {show(missing[0])}, returned {show(extra[0])}", ("float_only",)
    if len(gold[0]) > 1 and _may_be_reordered(missing, extra) and _has_other_column_order(gold, pred):
        return "the rows are the same, but the columns are in a different order", ("colorder_only",)
    return _type_difference(missing, extra) or (
        f"first differing row: expected {show(missing[0])}, returned {show(extra[0])}"
    ), ()


def show(row: CanonicalRow) -> str:
    """Return a row as one line of text, in which long cells and long rows are shortened."""
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


def _are_all_in(rows: _Rows, others: Sequence[Row]) -> bool:
    return not rows or (rows[0] in others and set(others).issuperset(rows))


def _may_be_reordered(missing: _Rows, extra: _Rows) -> bool:
    """Return whether the rows may have the same cells in a different order. This is a quick check."""
    return sum(map(hash, chain.from_iterable(missing))) == sum(map(hash, chain.from_iterable(extra)))


def _has_other_column_order(gold: Sequence[Row], pred: Sequence[Row]) -> bool:
    """Return whether reordering the columns reproduces the gold's rows; False if the search would be slow."""
    return find_columns(gold, pred, _MOST_ORDERS).columns is not None


def _as_text(row: CanonicalRow) -> CanonicalRow:
    """Convert text that represents a number into that number, and dates into ISO text."""
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
    """Return an explanation if the rows differ only in that numbers or dates are text on one side."""
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
    """Return whether some column has cells of convertible types. This is a quick check."""
    for ours, others in zip(zip(*missing, strict=True), zip(*extra, strict=True), strict=False):
        kinds = {*map(type, ours), *map(type, others)}
        if len(kinds) > 1 and len(set(map(_type_name_of, kinds - _NEVER_LOOSENED))) > 1:
            return True
    return False


def _type_name(cell: Any) -> str:
    return _type_name_of(type(cell))


def _type_name_of(kind: type) -> str:
    return _TYPE_NAMES.get(kind, kind.__name__)
