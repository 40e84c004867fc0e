"""The published comparison of rows (BIRD-Interact §4.2), on Python values of every kind."""

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from birdenv.databases import QueryResult
from birdenv.grading.interact._reference import compare_reference

DAY = date(2024, 1, 1)

# gold, prediction, equal as sets
CELLS: dict[str, tuple[Any, Any, bool]] = {
    "numeric, half up": (Decimal("1.005"), Decimal("1.01"), True),
    "numeric, 2 decimals": (Decimal("1.2349"), Decimal("1.2312"), True),
    "float, to even digits": (1.005, 1.0, True),
    "float 1.005 and 1.01": (1.005, 1.01, False),
    "float 2.675": (2.675, 2.67, True),
    "float and numeric disagree": (2.675, Decimal("2.675"), False),
    "-0.001 and 0": (-0.001, 0.0, True),
    "1, 1.0 and 1.00": (1, Decimal("1.00"), True),
    "true and 1": (True, 1, True),
    "text and number": ("1", 1, False),
    "NULL": (None, None, True),
    "timestamps of one day": (datetime(2024, 1, 1, 1), datetime(2024, 1, 1, 9), True),
    "with a zone": (datetime(2024, 1, 1, 1, tzinfo=UTC), DAY, True),
    "date and timestamp": (DAY, datetime(2024, 1, 1, 9), True),
    "a date and its text": (DAY, "2024-01-01", True),
    "times": (time(1), time(2), False),
    "intervals": (timedelta(days=1), timedelta(hours=24), True),
    "bytes": (b"a", b"a", True),
    "NaN, float": (math.nan, math.nan, False),
    "NaN, numeric": (Decimal("NaN"), Decimal("NaN"), False),
    "1e40": (Decimal("1E+40"), Decimal("1E+40"), False),
    "infinite numeric": (Decimal("Infinity"), Decimal("Infinity"), False),
    "infinite float": (math.inf, math.inf, True),
    "array of integers": ([1, 2], [1, 2], True),
    "order inside an array": ([1, 2], [2, 1], False),
    "array of floats": ([1.239], [1.241], True),
    "array of numerics": ([Decimal(1)], [Decimal(1)], False),
    "array of dates": ([DAY], [DAY], False),
    "JSON": ({"a": 1.239, "b": [1]}, {"b": [1], "a": 1.241}, True),
    "JSON text and value": ('{"b": 1}', {"a": 1}, False),
    "a record of dates": ((DAY, 1), (DAY, 1), True),
}


def compared(gold: list[Any], pred: list[Any], *, order: bool = False, sql: str = "SELECT") -> Any:
    results = [
        QueryResult(("a",) * width(rows), [r if isinstance(r, tuple) else (r,) for r in rows])
        for rows in (gold, pred)
    ]
    return compare_reference(*results, order=order, gold_sql=sql, pred_sql=sql)


def width(rows: list[Any]) -> int:
    return len(rows[0]) if rows and isinstance(rows[0], tuple) else 1


@pytest.mark.parametrize(("gold", "pred", "equal"), CELLS.values(), ids=CELLS.keys())
@pytest.mark.parametrize("order", [False, True])
def test_cells(gold: Any, pred: Any, equal: bool, order: bool) -> None:
    comparison = compared([(gold,)], [(pred,)], order=order)
    assert comparison.equal is equal
    assert bool(comparison.reason) is not equal


@pytest.mark.parametrize(
    ("gold", "pred", "order", "equal"),
    [
        ([1, 2], [2, 1], False, True),
        ([1, 2], [2, 1], True, False),
        ([1], [1, 1], False, True),
        ([1], [1, 1], True, False),
        ([(1, 2)], [(2, 1)], False, False),
        ([1], [2], False, False),
        ([1], [(1, 1)], False, False),
        ([], [], False, False),
        ([1], [], False, False),
        ([], [1], True, False),
    ],
)
def test_rows(gold: list[Any], pred: list[Any], order: bool, equal: bool) -> None:
    comparison = compared(gold, pred, order=order)
    assert comparison.equal is equal
    assert bool(comparison.reason) is not equal


def test_flags() -> None:
    assert compared([], []).flags == ("both_empty", "gold_empty")
    assert compared([Decimal("1E+40")], [1]).flags == ("breaks",)


def test_what_begins_with_select_is_cut() -> None:
    rows = list(range(10_001))
    assert compared(rows, rows[:-1]).equal
    assert compared(rows, rows[:-1], sql="  with x").equal
    assert not compared(rows, rows[:-1], sql="(SELECT 1)").equal
