"""Soft-F1: the published code's numbers, its traps included."""

from typing import Any

import pytest

from birdenv.databases import QueryResult, Row
from birdenv.grading.compare import soft_f1


def result(rows: list[Any]) -> QueryResult:
    return QueryResult(("c",), rows)


VECTORS: dict[str, tuple[list[Row], list[Row], float]] = {
    "a cell is looked for, not counted": ([(1, 2, 3)], [(1, 1, 1)], 0.75),
    "two rows swapped": ([(1,), (2,)], [(2,), (1,)], 0.0),
    "mini-dev's README, cells missing": (
        [("Apple", 325), ("Orange",), ("Banana", 119)],
        [(325, "Apple"), (191, "Orange"), ("Banana",)],
        0.769,
    ),
    "mini-dev's README, NULLs": (
        [("Apple", 325), ("Orange", None), ("Banana", 119)],
        [(325, "Apple"), (191, "Orange"), ("Banana", None)],
        0.667,
    ),
    "both empty": ([], [], 1.0),
    "gold empty": ([], [(1,)], 0.0),
    "prediction empty": ([(1,)], [], 0.0),
    "repeated rows are dropped": ([(1,), (1,), (2,)], [(1,), (2,), (2,)], 1.0),
    "a row too many": ([(1,)], [(1,), (2,)], 2 / 3),
    "floats are exact": ([(0.1 + 0.2,)], [(0.3,)], 0.0),
    "int and float": ([(1,)], [(1.0,)], 1.0),
}


@pytest.mark.parametrize(("gold", "pred", "expected"), VECTORS.values(), ids=VECTORS.keys())
def test_named_vectors(gold: list[Row], pred: list[Row], expected: float) -> None:
    assert soft_f1(result(gold), result(pred)) == pytest.approx(expected, abs=5e-4)


def test_a_result_that_was_cut_scores_nothing() -> None:
    assert soft_f1(result([(1,)]), QueryResult(("c",), [(1,)], truncated=True)) == 0.0
