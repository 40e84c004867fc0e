"""Which cells are the same: canonical forms, by value and by type."""

import math
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest

from birdenv.grading.compare import canonical_cell

EAST = timezone(timedelta(hours=2))

SAME = {
    "NULL is NULL": (None, None),
    "whole numbers of every type": (1, 1.0),
    "a boolean is a number": (True, 1),
    "a numeric is a number": (Decimal("1.00"), 1),
    "exact halves": (Decimal("0.5"), 0.5),
    "minus zero": (-0.0, 0),
    "minus zero as numeric": (Decimal("-0.00"), 0.0),
    "NaN is NaN": (math.nan, float("nan")),
    "NaN of every type": (Decimal("NaN"), math.nan),
    "infinity of every type": (Decimal("-Infinity"), -math.inf),
    "bytes of every type": (memoryview(b"ab"), bytearray(b"ab")),
    "one moment in two zones": (
        datetime(2024, 1, 1, 12, tzinfo=EAST),
        datetime(2024, 1, 1, 10, tzinfo=timezone.utc),  # noqa: UP017
    ),
    "JSON keys in another order": ({"a": 1, "b": [None]}, {"b": [None], "a": 1.0}),
    "numbers in arrays": ([1, 2.0], [1.0, 2]),
    "a huge numeric": (Decimal("1E+40"), 10**40),
    "a numeric too huge to write out": (Decimal("1E+999999"), Decimal("10E+999998")),
}

DIFFERENT = {
    "NULL and 0": (None, 0),
    "NULL and empty text": (None, ""),
    "number and text": (5, "5"),
    "text and bytes": ("a", b"a"),
    "case of text": ("Yes", "yes"),
    "trailing space": ("x ", "x"),
    "above 2^53": (2**53 + 1, float(2**53)),
    "infinities of two signs": (math.inf, -math.inf),
    "NaN and text": (math.nan, "nan"),
    "date and midnight": (date(2024, 1, 1), datetime(2024, 1, 1)),
    "date and its text": (date(2024, 1, 1), "2024-01-01"),
    "two times of day": (time(1), time(2)),
    "with and without time zone": (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=EAST)),
    "array and its text": ([1], "[1]"),
    "array in another order": ([1, 2], [2, 1]),
    "JSON true and 1": ({"a": True}, {"a": 1}),
    "JSON null and absent": ({"a": None}, {}),
    "array and object": ([], {}),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_the_same(pair: tuple[object, object]) -> None:
    left, right = map(canonical_cell, pair)
    assert left == right
    assert hash(left) == hash(right)


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_different(pair: tuple[object, object]) -> None:
    left, right = map(canonical_cell, pair)
    assert left != right
