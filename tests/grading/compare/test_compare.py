"""The multiset rule (default EX) and BIRD's set rule: reasons, flags, tolerance, properties, memory."""

import math
import tracemalloc
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare import compare_bird, compare_multiset


def result(*rows: Any, width: int | None = None, truncated: bool = False) -> QueryResult:
    """Rows as tuples; a bare value is a row of one column."""
    tuples = [row if isinstance(row, tuple) else (row,) for row in rows]
    columns = width if width is not None else len(tuples[0]) if tuples else 1
    return QueryResult(tuple(f"c{i}" for i in range(columns)), tuples, truncated)


REASONS: dict[str, tuple[list[Any], list[Any], str, tuple[str, ...]]] = {
    "columns": ([("a", 1)], ["a"], "2 columns expected, 1 returned", ()),
    "rows": ([1, 2, 3], [1, 2, 3, 4, 5], "3 rows expected, 5 returned", ()),
    "one row": ([1], [], "1 row expected, 0 returned", ()),
    "duplicates": ([1, 2], [1, 1, 2], "duplicate rows differ: 2 rows expected, 3 returned", ("dup_only",)),
    "column order": (
        [("a", 1)],
        [(1, "a")],
        "the rows are the same, but the columns are in a different order",
        ("colorder_only",),
    ),
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
    assert comparison.expected or comparison.returned


def test_a_mismatch_shows_the_first_row_of_each_side_without_a_partner() -> None:
    comparison = compare_multiset(result(1, 2, 3), result(1, 4, 3))
    assert (comparison.expected, comparison.returned) == ("(2)", "(4)")
    comparison = compare_multiset(result(1, 2), result(1, 2, 2))
    assert (comparison.expected, comparison.returned) == ("", "(2)")
    comparison = compare_bird(result(1, 2), result(1, 3))
    assert (comparison.expected, comparison.returned) == ("(2)", "(3)")
    assert compare_multiset(result(1), result(1)).expected == ""


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


def test_a_prediction_that_was_not_fetched_to_its_end_never_agrees() -> None:
    comparison = compare_multiset(result(1, 2), result(1, 2, 3, truncated=True))
    assert not comparison.equal
    assert comparison.reason == "2 rows expected, more than 3 returned"
    assert comparison.returned == "(3)"


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


MANY = 30_000


def _many(change: Any = lambda row: row) -> QueryResult:
    rows = [change((i, f"name {i % 500}", i * 0.37, None if i % 7 == 0 else i % 100)) for i in range(MANY)]
    return QueryResult(("a", "b", "c", "d"), rows)


CHANGES: dict[str, tuple[Any, bool]] = {
    "nothing": (lambda row: row, True),
    "last bit of every float": (lambda row: (*row[:2], row[2] * (1 + 1e-15) + 1e-13, row[3]), True),
    "every float": (lambda row: (*row[:2], row[2] + 0.01, row[3]), False),
    "every whole number": (lambda row: (row[0] + MANY, *row[1:]), False),
    "the order of columns": (lambda row: row[::-1], False),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("change", "equal"),
    [
        pytest.param(*value, id=name, marks=pytest.mark.slow if number % 2 else ())
        for number, (name, value) in enumerate(CHANGES.items())
    ],
)
def test_a_comparison_takes_at_most_64_mb_beside_two_results_of_100_000_rows(
    change: Any, equal: bool
) -> None:
    gold, pred = _many(), _many(change)
    tracemalloc.start()
    try:
        comparison = compare_multiset(gold, pred)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert comparison.equal is equal
    assert peak < 64 * 2**20 * MANY / 100_000
