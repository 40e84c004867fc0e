"""Compare rows by the strict rules of c-Interact and a-Interact, under the conditions of the task.

This is BIRD-Interact's default test with its known faults corrected. Rows are compared as multisets, or in
order if the task requires it. Numbers of all types are rounded as Decimals to the number of decimals that the
task specifies. A boolean is not a number. Timestamps are compared exactly. Values in arrays and JSON are
compared by the same rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from birdenv.databases import QueryResult
from birdenv.grading.compare._cells import (
    NAN,
    CanonicalRow,
    canonical_cell,
    cell_types,
    in_utc,
)
from birdenv.grading.compare._differences import emptiness, explain, shape_fault
from birdenv.grading.compare._rows import RowsComparison
from birdenv.grading.compare._tolerance import multiset_difference

_DEFAULT_DECIMALS: Final = 2
_LARGEST_EXPONENT: Final = 999_999
_SEEN_BY_TYPE: Final = (date, list, tuple, dict)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The rules of a task for comparing rows (the field `conditions` of a BIRD-Interact record).

    Attributes:
        decimal: the number of decimals that numbers are rounded to; a negative value means 2.
        distinct: False to remove the DISTINCT of the outermost SELECT from both queries.
        order: whether the order of rows matters.
    """

    decimal: int = -1
    distinct: bool | None = None
    order: bool = False


def compare_strict(gold: QueryResult, pred: QueryResult, conditions: Conditions) -> RowsComparison:
    """Compare a prediction's rows with the gold's under the task's conditions.

    Columns are compared by position; their names do not matter. Timestamps are compared exactly, in UTC; a
    timestamp without a time zone is assumed to be in UTC. If a column contains a plain date on either side,
    only the days are compared. Two empty results do not agree (flag `both_empty`), because an empty result
    does not show that the prediction is right.
    """
    flags = emptiness(gold, pred)
    fault = shape_fault(gold, pred)
    if fault:
        return RowsComparison(False, fault, flags)
    if not gold.rows and not pred.rows:
        return RowsComparison(False, "both results are empty", flags)
    places = conditions.decimal if conditions.decimal >= 0 else _DEFAULT_DECIMALS
    days = _columns_by_day(gold) | _columns_by_day(pred)
    expected, returned = _strict_rows(gold, places, days), _strict_rows(pred, places, days)
    missing, extra = multiset_difference(expected, returned)
    if missing or extra:
        reason, why = explain(expected, returned, missing, extra)
        return RowsComparison(False, reason, flags + why)
    if conditions.order and expected != returned:
        return RowsComparison(
            False, "the rows are the same, but in a different order", (*flags, "order_only")
        )
    return RowsComparison(True, "", flags)


def _strict_rows(result: QueryResult, places: int, days: frozenset[int]) -> list[CanonicalRow]:
    by_day = [column in days for column in range(len(result.columns))]
    return [
        tuple(_strict_cell(cell, places, day) for cell, day in zip(row, by_day, strict=True))
        for row in result.rows
    ]


def _strict_cell(cell: Any, places: int, by_day: bool) -> Hashable:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return ("boolean", cell)
    if isinstance(cell, int):
        return int(cell)
    if isinstance(cell, float):
        return _rounded(Decimal(repr(float(cell))), places)
    if isinstance(cell, Decimal):
        return _rounded(cell, places)
    if isinstance(cell, datetime):
        return _moment(cell).date() if by_day else _moment(cell)
    if isinstance(cell, (list, tuple)):
        return ("array", tuple(_strict_cell(item, places, by_day) for item in cell))
    if isinstance(cell, dict):
        items = sorted(cell.items(), key=lambda item: str(item[0]))
        return ("object", tuple((str(key), _strict_cell(value, places, by_day)) for key, value in items))
    return canonical_cell(cell)


def _moment(cell: datetime) -> datetime:
    return cell.replace(tzinfo=UTC) if cell.utcoffset() is None else in_utc(cell)


def _rounded(number: Decimal, places: int) -> Hashable:
    """Round half up (away from zero) to `places` decimals. Numbers of any size keep their other digits."""
    if number.is_nan():
        return NAN
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or -exponent <= places:
        return number
    context = Context(
        prec=len(digits) + places + 1, Emin=-_LARGEST_EXPONENT, Emax=_LARGEST_EXPONENT, rounding=ROUND_HALF_UP
    )
    return number.quantize(Decimal((0, (1,), -places)), context=context)


def _columns_by_day(result: QueryResult) -> frozenset[int]:
    """Return the columns that contain a plain date, even inside arrays and JSON."""
    if not any(issubclass(kind, _SEEN_BY_TYPE) for kind in cell_types(result.rows)):
        return frozenset()
    columns = zip(*result.rows, strict=True)
    return frozenset(column for column, cells in enumerate(columns) if _has_date(cells))


def _has_date(cells: Iterable[Any] | Sequence[Any]) -> bool:
    for cell in cells:
        if isinstance(cell, dict):
            if _has_date(cell.values()):
                return True
        elif isinstance(cell, (list, tuple)):
            if _has_date(cell):
                return True
        elif isinstance(cell, date) and not isinstance(cell, datetime):
            return True
    return False
