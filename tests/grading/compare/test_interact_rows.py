"""The strict c-Interact comparison, on the published acceptance cases that need no PostgreSQL."""

import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from birdenv.databases import QueryResult
from birdenv.grading.compare import Conditions, compare_strict

DAY = date(2024, 1, 1)
EAST = timezone(timedelta(hours=2))


def result(*rows: Any) -> QueryResult:
    tuples = [row if isinstance(row, tuple) else (row,) for row in rows]
    return QueryResult(tuple("abcdef"[: len(tuples[0]) if tuples else 1]), tuples)


ORDER = Conditions(order=True)

CASES: dict[str, tuple[list[Any], list[Any], Conditions, bool]] = {
    "other order, no order flag": ([1, 2], [2, 1], Conditions(), True),
    "other order, order flag": ([1, 2], [2, 1], ORDER, False),
    "same order, order flag": ([2, 1], [2, 1], ORDER, True),
    "rows doubled by UNION ALL": ([1, 2], [1, 2, 1, 2], Conditions(), False),
    "20,000 duplicates against the set": ([1], [1] * 20_000, Conditions(), False),
    "4 decimals": ([Decimal("1.2349")], [Decimal("1.2312")], Conditions(decimal=4), False),
    "default is 2 decimals": ([1.2349], [1.2312], Conditions(), True),
    "0 decimals": ([1.4], [1.2], Conditions(decimal=0), True),
    "1.005 and 1.01, numeric": ([Decimal("1.005")], [Decimal("1.01")], Conditions(), True),
    "1.005 and 1.01, float": ([1.005], [1.01], Conditions(), True),
    "2.675 float and 2.68 numeric": ([2.675], [Decimal("2.68")], Conditions(), True),
    "half up also below zero": ([-1.005], [-1.01], Conditions(), True),
    "-0.001 and 0": ([-0.001], [0], Conditions(), True),
    "1 and 1.0": ([1], [Decimal("1.0")], Conditions(), True),
    "a whole number beyond float, and infinity": ([10**400], [math.inf], Conditions(), False),
    "infinity, numeric": ([Decimal("Infinity")], [10**400], Conditions(), False),
    "true and 1": ([True], [1], Conditions(), False),
    "true and true": ([True], [True], Conditions(), True),
    "text and number": (["1"], [1], Conditions(), False),
    "text and numeric": (["1.50"], [Decimal("1.5")], Conditions(), False),
    "timestamps of one day": ([datetime(2024, 1, 1, 1)], [datetime(2024, 1, 1, 9)], Conditions(), False),
    "date and timestamp of one day": ([DAY], [datetime(2024, 1, 1, 9)], Conditions(), True),
    "date and timestamp of another day": ([DAY], [datetime(2024, 1, 2)], Conditions(), False),
    "one moment in two zones": (
        [datetime(2024, 1, 1, 12, tzinfo=EAST)],
        [datetime(2024, 1, 1, 10)],
        Conditions(),
        True,
    ),
    "NaN": ([math.nan], [Decimal("NaN")], Conditions(), True),
    "infinity": ([math.inf], [Decimal("Infinity")], Conditions(), True),
    "1e40": ([Decimal("1E+40")], [10**40], Conditions(), True),
    "digits beyond 28": ([Decimal("1" * 40 + ".004")], [Decimal("1" * 40)], Conditions(), True),
    "tiny numeric": ([Decimal("1E-999999")], [0], Conditions(), True),
    "numeric[]": ([[Decimal("1.001")]], [[1.0]], Conditions(), True),
    "date[]": ([[DAY]], [[DAY]], Conditions(), True),
    "date[] and timestamp[] of one day": ([[DAY]], [[datetime(2024, 1, 1, 5)]], Conditions(), True),
    "order inside an array": ([[1, 2]], [[2, 1]], Conditions(), False),
    "JSON within 2 decimals": ([{"a": 1.239}], [{"a": 1.241}], Conditions(), True),
    "JSON at 3 decimals": ([{"a": 1.239}], [{"a": 1.241}], Conditions(decimal=3), False),
    "JSON text and value": (['{"a": 1}'], [{"a": 1}], Conditions(), False),
    "other column order": ([(1, "a")], [("a", 1)], Conditions(), False),
    "intervals of one length": ([timedelta(days=1)], [timedelta(hours=24)], Conditions(), True),
    "NULL": ([None], [None], Conditions(), True),
    "bytes": ([b"a"], [memoryview(b"a")], Conditions(), True),
    "bytes that cannot be hashed": ([b"a"], [bytearray(b"a")], Conditions(), True),
    "a row too few": ([1, 2], [1], Conditions(), False),
    "a column too many": ([1], [(1, 2)], Conditions(), False),
}


@pytest.mark.parametrize(("gold", "pred", "conditions", "equal"), CASES.values(), ids=CASES.keys())
def test_acceptance_cases(gold: list[Any], pred: list[Any], conditions: Conditions, equal: bool) -> None:
    comparison = compare_strict(result(*gold), result(*pred), conditions)
    assert comparison.equal is equal
    assert comparison.equal == (not comparison.reason)


def test_column_names_do_not_matter() -> None:
    gold, pred = QueryResult(("total",), [(1,)]), QueryResult(("count(*)",), [(1,)])
    assert compare_strict(gold, pred, Conditions()).equal


def test_two_empty_results_prove_nothing() -> None:
    comparison = compare_strict(result(), result(), Conditions())
    assert not comparison.equal
    assert "both_empty" in comparison.flags


def test_another_order_is_named() -> None:
    comparison = compare_strict(result(1, 2), result(2, 1), ORDER)
    assert comparison.reason == "the rows are the same, but in a different order"
    assert comparison.flags == ("order_only",)
