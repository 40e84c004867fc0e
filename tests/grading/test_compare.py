"""The multiset rule (default EX) and BIRD's set rule: known pairs, reasons, properties, speed."""

import math
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.databases import QueryResult, Row
from birdenv.grading import compare_bird, compare_multiset

DAY = date(2024, 1, 1)
BIG = 2**53


def result(*rows: Any, width: int | None = None, truncated: bool = False) -> QueryResult:
    """Rows as tuples; a bare value is a row of one column."""
    tuples = [row if isinstance(row, tuple) else (row,) for row in rows]
    columns = width if width is not None else len(tuples[0]) if tuples else 1
    return QueryResult(tuple(f"c{i}" for i in range(columns)), tuples, truncated)


# The pairs on which published comparators disagree: gold, prediction, multiset, bird, and why ours differ.
PAIRS: dict[str, tuple[list[Any], list[Any], bool, bool, str]] = {
    "1 a row too often": ([1, 2], [1, 1, 2], False, True, "duplicates count in a multiset"),
    "2 another row twice": ([1, 1, 2], [1, 2, 2], False, True, "duplicates count in a multiset"),
    "3 columns swapped": ([("a", 1), ("b", 2)], [(1, "a"), (2, "b")], False, False, "columns are positional"),
    "4 ORDER BY ignored": ([1, 2], [2, 1], True, True, "row order is ignored"),
    "5 no ORDER BY": ([1, 2], [2, 1], True, True, "row order is ignored"),
    "6 NULL and a value": ([None, 1], [1, None], True, True, "NULL equals NULL"),
    "7 NULL and 0": ([None], [0], False, False, "NULL equals nothing else"),
    "8 NULL and empty text": ([None], [""], False, False, "NULL equals nothing else"),
    "9 int and float": ([1], [1.0], True, True, "numbers meet by value"),
    "10 last bit of a float": ([0.1 + 0.2], [0.3], True, False, "tolerance; the set rule is exact"),
    "11 rounded to 2 places": ([3.14159], [3.14], False, False, "beyond the tolerance"),
    "12 rounding edge": ([0.12345649], [0.12345651], True, False, "a tolerance has no rounding edge"),
    "13 numeric and float": ([Decimal("0.1")], [0.1], True, False, "tolerance; Python says different"),
    "15 number and text": (["5"], [5], False, False, "text is never a number"),
    "16 date and text": ([DAY], ["2024-01-01"], False, False, "text is never a date"),
    "17 date and midnight": ([DAY], [datetime(2024, 1, 1)], False, False, "exact by type"),
    "18 two hours": ([datetime(2024, 1, 1, 1)], [datetime(2024, 1, 1, 9, 30)], False, False, "exact"),
    "19 both empty": ([], [], True, True, "agree, and flagged"),
    "20 empty and NULL": ([], [None], False, False, "one row is not none"),
    "21 a column too many": (["a"], [("a", 1)], False, False, "same columns"),
    "22 a column too few": ([("a", 1)], ["a"], False, False, "same columns"),
    "23 cells of two rows mixed": ([("a", 1), ("b", 2)], [("a", 2), ("b", 1)], False, False, "whole rows"),
    "24 trailing space": (["x "], ["x"], False, False, "text is exact"),
    "25 case": (["Yes"], ["yes"], False, False, "text is exact"),
    "26 true and 1": ([True], [1], True, True, "numbers meet by value"),
    "27 NaN": ([math.nan], [float("nan")], True, False, "NaN is NaN; Python says different"),
    "28 array": ([[1, 2]], [[1, 2]], True, True, "JSON text, where the official script fails"),
    "29 JSON": ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], True, True, "keys sorted"),
    "30 mixed types": ([None, 1, "a"], ["a", None, 1], True, True, "nothing is sorted"),
    "31 cells of a row swapped": ([(1, 2), (3, 4)], [(2, 1), (3, 4)], False, False, "positional"),
    "32 value among others": ([7], [("x", 7)], False, False, "same columns"),
    "33 percent and ratio": ([50], [0.5], False, False, "another number"),
    "34 above 2^53": ([BIG + 1], [float(BIG)], False, False, "whole numbers are exact"),
    "35 minus zero": ([-0.0], [0.0], True, True, "numbers meet by value"),
    "36 ties": ([("a", 1), ("b", 1)], [("b", 1), ("a", 1)], True, True, "row order is ignored"),
}


@pytest.mark.parametrize(("gold", "pred", "multiset", "bird", "why"), PAIRS.values(), ids=PAIRS.keys())
def test_pairs_on_which_comparators_disagree(
    gold: list[Any], pred: list[Any], multiset: bool, bird: bool, why: str
) -> None:
    assert compare_multiset(result(*gold), result(*pred)).equal is multiset, why
    assert compare_bird(result(*gold), result(*pred)).equal is bird, why


REASONS: dict[str, tuple[list[Any], list[Any], str, tuple[str, ...]]] = {
    "columns": ([("a", 1)], ["a"], "2 columns expected, 1 returned", ()),
    "rows": ([1, 2, 3], [1, 2, 3, 4, 5], "3 rows expected, 5 returned", ()),
    "one row": ([1], [], "1 row expected, 0 returned", ()),
    "duplicates": ([1, 2], [1, 1, 2], "duplicate rows differ: 2 rows expected, 3 returned", ("dup_only",)),
    "column order": ([("a", 1)], [(1, "a")], "same rows, columns in another order", ("colorder_only",)),
    "numbers": (
        [("a", 3.14159)],
        [("a", 3.14)],
        "numbers differ: expected ('a', 3.14159), returned ('a', 3.14)",
        ("float_only",),
    ),
    "types": (["5"], [5], "types differ: column 1: text expected, number returned", ()),
    "first row": ([1, 2, "x"], [1, "y", 3], "first differing row: expected (2), returned ('y')", ()),
    "gold empty": ([None], [3], "first differing row: expected (NULL), returned (3)", ("gold_empty",)),
}


@pytest.mark.parametrize(("gold", "pred", "reason", "flags"), REASONS.values(), ids=REASONS.keys())
def test_every_mismatch_says_why(
    gold: list[Any], pred: list[Any], reason: str, flags: tuple[str, ...]
) -> None:
    comparison = compare_multiset(result(*gold), result(*pred))
    assert (comparison.equal, comparison.reason, comparison.flags) == (False, reason, flags)


def test_reasons_stay_on_one_short_line() -> None:
    long = "line\n" * 10_000
    comparison = compare_multiset(result((long, 1)), result((long + "x", 2)))
    assert "\n" not in comparison.reason
    assert len(comparison.reason) < 400


def test_two_empty_results_agree_and_are_flagged() -> None:
    comparison = compare_multiset(result(), result())
    assert comparison.equal
    assert comparison.flags == ("both_empty", "gold_empty")


def test_a_result_cut_at_the_row_limit_never_agrees() -> None:
    cut = result(1, truncated=True)
    for compare in (compare_multiset, compare_bird):
        assert not compare(result(1), cut).equal
        assert "cut at the row limit" in compare(cut, result(1)).reason


def test_column_names_do_not_matter() -> None:
    assert compare_multiset(QueryResult(("a",), [(1,)]), QueryResult(("b",), [(1,)])).equal


def test_empty_results_of_two_widths() -> None:
    """The official rule sees two empty sets; the default rule sees the columns."""
    assert compare_bird(result(width=1), result(width=2)).equal
    assert not compare_multiset(result(width=1), result(width=2)).equal


TOLERANCE = {
    "below one: absolute": (0.0, 9e-7, True),
    "below one: beyond": (0.0, 1.1e-6, False),
    "large: relative": (1e12 + 0.5, 1e12 + 500.25, True),
    "large: beyond": (1e12 + 0.5, 1e12 + 2000.25, False),
    "whole and almost whole": (3, 2.9999999999, True),
    "two whole numbers": (10**15, 10**15 + 1, False),
    "whole beyond float": (10**400, 0.5, False),
    "infinity and a number": (math.inf, 1e300, False),
    "infinity": (math.inf, math.inf, True),
}


@pytest.mark.parametrize(("gold", "pred", "equal"), TOLERANCE.values(), ids=TOLERANCE.keys())
def test_tolerance(gold: float, pred: float, equal: bool) -> None:
    assert compare_multiset(result(gold), result(pred)).equal is equal


def test_numbers_in_several_columns_are_matched_where_sorting_pairs_them_wrongly() -> None:
    gold = result((0.1, 5.5), (0.1 + 1e-9, 1.5))
    pred = result((0.1 + 3e-9, 5.5), (0.1 + 2e-9, 1.5))
    assert compare_multiset(gold, pred).equal


def test_the_other_cells_hold_the_numbers_apart() -> None:
    gold, pred = result(("a", 0.1), ("b", 0.2)), result(("a", 0.2), ("b", 0.1))
    assert not compare_multiset(gold, pred).equal


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, width=16),
    st.sampled_from(["", "a", "b", "1"]),
    st.binary(max_size=1),
)
tables = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), max_size=8))
with_nan = st.lists(st.tuples(st.one_of(cells, st.just(math.nan), st.lists(cells, max_size=2))), max_size=8)


@given(tables | with_nan, st.randoms(use_true_random=False))
def test_multiset_equality_does_not_see_the_order_of_rows(rows: list[Row], random: Any) -> None:
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert compare_multiset(result(*rows), result(*shuffled)).equal


@given(tables, st.data())
def test_multiset_equality_sees_a_row_taken_away(rows: list[Row], data: st.DataObject) -> None:
    if rows:
        left_out = data.draw(st.integers(0, len(rows) - 1))
        rest = rows[:left_out] + rows[left_out + 1 :]
        assert not compare_multiset(result(*rows), result(*rest, width=len(rows[0]))).equal


@given(tables, tables)
def test_multiset_is_symmetric_and_implied_by_counters(gold: list[Row], pred: list[Row]) -> None:
    left, right = result(*gold), result(*pred)
    there, back = compare_multiset(left, right), compare_multiset(right, left)
    assert there.equal == back.equal
    assert there.equal == (not there.reason)
    if Counter(gold) == Counter(pred) and len(left.columns) == len(right.columns):
        assert there.equal


@given(tables, tables)
def test_bird_is_equality_of_python_sets(gold: list[Row], pred: list[Row]) -> None:
    assert compare_bird(result(*gold), result(*pred)).equal == (set(gold) == set(pred))
