"""Looking past the order of columns, or past columns too many: whole rows, flags, caps."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare import compare_colperm, compare_multiset, compare_superset


def result(*rows: Row) -> QueryResult:
    return QueryResult(tuple(f"c{i}" for i in range(len(rows[0]))), list(rows))


def test_the_flags_say_what_was_needed() -> None:
    gold = result(("a", 1), ("b", 2))
    assert compare_colperm(gold, gold).flags == ()
    assert compare_colperm(gold, result((2, "b"), (1, "a"))).flags == ("colorder_only",)
    assert compare_superset(gold, result((2, "b"), (1, "a"))).flags == ("colorder_only",)
    assert compare_superset(gold, result((2, "x", "b"), (1, "y", "a"))).flags == ("extra_columns",)


def test_a_column_is_used_once() -> None:
    assert not compare_superset(result((1, 1)), result((1, 2))).equal
    assert not compare_colperm(result((1, 1)), result((1, 2))).equal


def test_numbers_in_other_columns_agree_within_the_tolerance() -> None:
    gold = result((0.1 + 0.2, "a"), (0.7, "b"))
    assert compare_colperm(gold, result(("a", 0.3), ("b", 0.7))).equal
    assert not compare_colperm(gold, result(("a", 0.31), ("b", 0.7))).equal
    assert not compare_colperm(gold, result(("a", 0.7), ("b", 0.3))).equal


def test_columns_of_the_same_values_are_told_apart_by_their_rows() -> None:
    gold = result((1, 2, "a"), (2, 3, "b"), (3, 1, "c"))
    assert compare_colperm(gold, result((2, 1, "a"), (3, 2, "b"), (1, 3, "c"))).equal
    assert not compare_colperm(gold, result((3, 1, "a"), (1, 2, "b"), (2, 3, "c"), (9, 9, "d"))).equal


def test_the_caps_end_a_search_and_say_so() -> None:
    """Eight columns alike, in any of 8! orders, and a ninth that goes with none of them."""
    gold, pred = result((*[0] * 8, 0), (*[1] * 8, 1)), result((*[0] * 8, 1), (*[1] * 8, 0))
    for compare in (compare_colperm, compare_superset):
        comparison = compare(gold, pred)
        assert (comparison.equal, comparison.flags) == (False, ("columns_unsearched",))
        assert comparison.reason


def test_golds_of_more_than_ten_columns_are_not_searched() -> None:
    wide = result(tuple(range(11)))
    comparison = compare_colperm(wide, result(tuple(reversed(range(11)))))
    assert (comparison.equal, comparison.flags) == (False, ("columns_unsearched",))
    assert compare_colperm(wide, wide).equal


def test_a_prediction_that_was_cut_agrees_with_nothing() -> None:
    cut = QueryResult(("a",), [(1,)], truncated=True)
    assert not compare_colperm(result((1,)), cut).equal
    assert not compare_superset(result((1,)), cut).equal


cells = st.one_of(st.none(), st.integers(-2, 2), st.floats(-1, 1, width=16), st.sampled_from(["", "a", "1"]))
tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6)
)


@given(tables, st.randoms(use_true_random=False), st.integers(0, 2))
def test_any_order_of_columns_and_rows_is_found_among_others(rows: list[Row], random: Any, more: int) -> None:
    order = list(range(len(rows[0])))
    random.shuffle(order)
    moved = [tuple(row[i] for i in order) for row in rows]
    random.shuffle(moved)
    assert compare_colperm(result(*rows), result(*moved)).equal
    wider = [(*row, *[random.choice([None, 1, "a"]) for _ in range(more)]) for row in moved]
    assert compare_superset(result(*rows), result(*wider)).equal


@given(tables, tables)
def test_each_mode_is_more_lenient_than_the_one_before(gold: list[Row], pred: list[Row]) -> None:
    left, right = result(*gold), result(*pred)
    verdicts = [
        compare(left, right).equal for compare in (compare_multiset, compare_colperm, compare_superset)
    ]
    assert verdicts == sorted(verdicts)
