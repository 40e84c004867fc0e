"""The pairs on which published comparators disagree: our verdict in every mode, and why.

The table is specs/evaluation.md §2.3, measured on nine published comparators, with its numbers. Each line:
gold, prediction, verdicts by multiset, bird, ordered, colperm and superset (Y right, . wrong), Soft-F1, and
the reason.
"""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from birdenv.databases import QueryResult
from birdenv.grading import METRICS
from birdenv.grading.compare import MODES, compare, soft_f1

DAY = date(2024, 1, 1)
BIG = 2**53

PAIRS: dict[str, tuple[list[Any], list[Any], str, float, str]] = {
    "1 a row too often": ([1, 2], [1, 1, 2], ".Y...", 1, "repeated rows count, but not in a set"),
    "2 another row twice": ([1, 1, 2], [1, 2, 2], ".Y...", 1, "repeated rows count, but not in a set"),
    "3 columns swapped": ([("a", 1), ("b", 2)], [(1, "a"), (2, "b")], "...YY", 1, "columns are positional"),
    "4 ORDER BY ignored": ([1, 2], [2, 1], "YY.YY", 0, "only `ordered` looks at the order"),
    "5 no ORDER BY": ([1, 2], [2, 1], "YYYYY", 0, "without ORDER BY no order is asked for"),
    "6 NULL and a value": ([None, 1], [1, None], "YYYYY", 0, "NULL equals NULL; nothing is sorted"),
    "7 NULL and 0": ([None], [0], ".....", 0, "NULL equals nothing else"),
    "8 NULL and empty text": ([None], [""], ".....", 0, "NULL equals nothing else"),
    "9 int and float": ([1], [1.0], "YYYYY", 1, "numbers meet by value"),
    "10 last bit of a float": ([0.1 + 0.2], [0.3], "Y.YYY", 0, "a tolerance; the official rule is exact"),
    "11 rounded to 2 places": ([3.14159], [3.14], ".....", 0, "beyond the tolerance"),
    "12 rounding edge": ([0.12345649], [0.12345651], "Y.YYY", 0, "a tolerance has no rounding edge"),
    "13 numeric and float": ([Decimal("0.1")], [0.1], "Y.YYY", 0, "a tolerance; Python says different"),
    "15 number and text": (["5"], [5], ".....", 0, "text is never a number"),
    "16 date and text": ([DAY], ["2024-01-01"], ".....", 0, "text is never a date"),
    "17 date and midnight": ([DAY], [datetime(2024, 1, 1)], ".....", 0, "dates are exact by type"),
    "18 two hours": ([datetime(2024, 1, 1, 1)], [datetime(2024, 1, 1, 9, 30)], ".....", 0, "dates are exact"),
    "19 both empty": ([], [], "YYYY.", 1, "right, and flagged; any columns would be a superset"),
    "20 empty and NULL": ([], [None], ".....", 0, "one row is not none"),
    "21 a column too many": (["a"], [("a", 1)], "....Y", 2 / 3, "only a superset may have more columns"),
    "22 a column too few": ([("a", 1)], ["a"], ".....", 2 / 3, "a column is missing"),
    "23 cells of two rows mixed": (
        [("a", 1), ("b", 2)],
        [("a", 2), ("b", 1)],
        ".....",
        0.5,
        "rows are whole: columns are never matched one by one",
    ),
    "24 trailing space": (["x "], ["x"], ".....", 0, "text is exact"),
    "25 case": (["Yes"], ["yes"], ".....", 0, "text is exact"),
    "26 true and 1": ([True], [1], "YYYYY", 1, "numbers meet by value"),
    "27 NaN": ([math.nan], [float("nan")], "Y.YYY", 0, "NaN is NaN; Python says different"),
    "28 array": ([[1, 2]], [[1, 2]], "YYYYY", 1, "compared as JSON, where the official script fails"),
    "29 JSON": ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], "YYYYY", 1, "compared with sorted keys"),
    "30 mixed types": ([None, 1, "a"], ["a", None, 1], "YYYYY", 0, "nothing is sorted"),
    "31 cells of a row swapped": ([(1, 2), (3, 4)], [(2, 1), (3, 4)], ".....", 1, "one order for all rows"),
    "32 value among others": ([7], [("x", 7)], "....Y", 2 / 3, "only a superset may have more columns"),
    "33 percent and ratio": ([50], [0.5], ".....", 0, "another number"),
    "34 above 2^53": ([BIG + 1], [float(BIG)], ".....", 0, "whole numbers are exact"),
    "35 minus zero": ([-0.0], [0.0], "YYYYY", 1, "numbers meet by value"),
    "36 ties": ([("a", 1), ("b", 1)], [("b", 1), ("a", 1)], "YYYYY", 0.5, "tied rows may change places"),
}
ORDER_BY = {"4 ORDER BY ignored": "SELECT x FROM t ORDER BY 1", "36 ties": "SELECT x, y FROM t ORDER BY 2"}


def result(rows: list[Any]) -> QueryResult:
    """Rows as tuples; a bare value is a row of one column."""
    tuples = [row if isinstance(row, tuple) else (row,) for row in rows]
    return QueryResult(tuple(f"c{i}" for i in range(len(tuples[0]) if tuples else 1)), tuples)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_pairs_on_which_comparators_disagree(name: str, dialect: str) -> None:
    gold, pred, verdicts, f1, why = PAIRS[name]
    sql = ORDER_BY.get(name, "SELECT x FROM t")
    found = {mode: compare(mode, result(gold), result(pred), sql, dialect) for mode in MODES}
    assert "".join("Y" if comparison.equal else "." for comparison in found.values()) == verdicts, why
    assert all(comparison.equal != bool(comparison.reason) for comparison in found.values())
    assert soft_f1(result(gold), result(pred)) == pytest.approx(f1)


def test_every_mode_but_the_two_that_are_always_reported_can_be_asked_for() -> None:
    assert set(METRICS) == {*MODES, "soft_f1"} - {"multiset", "bird"}
