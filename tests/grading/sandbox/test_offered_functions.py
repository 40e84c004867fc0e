"""The helpers that test cases find in scope: what they take away, and what they leave alone."""

from __future__ import annotations

import math
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from birdenv.grading.sandbox._offered_functions import preprocess_results, remove_comments, remove_round

COMMENTS = {
    "a line": ("SELECT 1 -- one\nFROM t", "SELECT 1  \nFROM t"),
    "the last line": ("SELECT 1 -- one", "SELECT 1"),
    "a block": ("SELECT /* a\nb */ 1", "SELECT   1"),
    "between words": ("SELECT/**/1", "SELECT 1"),
    "never closed": ("SELECT 1 /* a", "SELECT 1"),
    "blank lines": ("SELECT 1\n\n  \n FROM t", "SELECT 1\nFROM t"),
    "in a literal": ("SELECT '/*x*/', '--y', 'it''s -- z'", "SELECT '/*x*/', '--y', 'it''s -- z'"),
    "in a name": ('SELECT "a -- b", `c /* d`, [e -- f]', 'SELECT "a -- b", `c /* d`, [e -- f]'),
    "in dollars": ("AS $f$ -- kept\n\n\nx $f$ -- gone", "AS $f$ -- kept\n\n\nx $f$"),
    "blank lines in a literal": ("SELECT '\n\n\n'", "SELECT '\n\n\n'"),
    "minus minus in a sum": ("SELECT 1 - -1", "SELECT 1 - -1"),
    "nothing else": ("-- a", ""),
}

ROUNDS = {
    "plain": ("SELECT ROUND(a, 2)", "SELECT (a)"),
    "precedence is kept": ("SELECT ROUND(a + b, 2) * 100", "SELECT (a + b) * 100"),
    "without decimals": ("SELECT round(a)", "SELECT (a)"),
    "any case, and space": ("SELECT Round  ( a , 2 )", "SELECT ( a )"),
    "nested": ("SELECT round(round(a, 3) + f(b, c), round(d, 1))", "SELECT ((a) + f(b, c))"),
    "another name": ("SELECT background(a, b), round_up(a, 1)", "SELECT background(a, b), round_up(a, 1)"),
    "in a literal": ("SELECT 'ROUND(x, 1)', round('a,(', 1)", "SELECT 'ROUND(x, 1)', ('a,(')"),
    "a column": ("SELECT round, a FROM t", "SELECT round, a FROM t"),
    "not closed": ("SELECT round(a, 2", "SELECT round(a, 2"),
    "closed too often": ("SELECT round(a, 2))", "SELECT round(a, 2))"),
    "a third argument": ("SELECT round(a, 2, 3)", "SELECT (a)"),
}

CELLS = {
    "a float, half up": (1.005, 1.01),
    "a float": (2.344, 2.34),
    "minus nothing": (-0.001, 0.0),
    "an infinite float": (math.inf, math.inf),
    "a Decimal": (Decimal("1.005"), Decimal("1.01")),
    "a large Decimal": (Decimal("1e40"), Decimal("1e40")),
    "many digits": (Decimal("9" * 40 + ".999"), Decimal("1" + "0" * 40)),
    "a date": (date(2024, 1, 2), "2024-01-02"),
    "a timestamp": (datetime(2024, 1, 2, 23, 59, tzinfo=UTC), "2024-01-02"),
    "an array": ([1.005, Decimal("2.005"), date(2024, 1, 2)], '[1.01, 2.01, "2024-01-02"]'),
    "an object": ({"b": 1, "a": [None]}, '{"a": [null], "b": 1}'),
    "text": ("1.005", "1.005"),
    "a large integer": (10**40, 10**40),
    "bytes": (b"\0", b"\0"),
    "NULL": (None, None),
    "true": (True, True),
}


@pytest.mark.parametrize(("sql", "expected"), COMMENTS.values(), ids=COMMENTS.keys())
def test_remove_comments(sql: str, expected: str) -> None:
    assert remove_comments(sql) == expected
    assert remove_comments([sql, sql]) == [expected, expected]


@pytest.mark.parametrize(("sql", "expected"), ROUNDS.values(), ids=ROUNDS.keys())
def test_remove_round(sql: str, expected: str) -> None:
    assert remove_round(sql) == expected
    assert remove_round([sql]) == [expected]


@pytest.mark.parametrize(("cell", "expected"), CELLS.values(), ids=CELLS.keys())
def test_preprocess_results(cell: Any, expected: Any) -> None:
    ((found,),) = preprocess_results([(cell,)])
    assert found == expected
    assert type(found) is type(expected)


def test_every_nan_is_the_same() -> None:
    rows = [(float("nan"),), (Decimal("NaN"),), (-float("nan"),)]
    assert len(set(preprocess_results(rows))) == 1


def test_rows_of_any_kind_become_tuples_at_the_decimals_asked_for() -> None:
    assert preprocess_results([[1.2345, "a"]], 3) == [(1.235, "a")]
    assert preprocess_results([[1.2345]], -1) == [(1.23,)]
    assert preprocess_results([]) == []
    with pytest.raises(TypeError):
        preprocess_results(None)  # type: ignore[arg-type]


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "piece", ["/*", "'", '"', "`", "[", "$a$", "$a", "--", "round(", "\n ", "round(a,", ")"]
)
def test_long_text_of_any_kind_takes_no_long_time(piece: str) -> None:
    began = time.monotonic()
    for text in (piece * 20_000, f"{piece} " * 20_000):
        remove_comments(text)
        remove_round(text)
    assert time.monotonic() - began < 20, "a second would do; a quadratic one takes minutes"
