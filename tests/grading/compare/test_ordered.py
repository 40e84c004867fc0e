"""Row order counts where the gold's outermost query has ORDER BY; tied rows may permute."""

from __future__ import annotations

from typing import Any

import pytest

from birdenv.databases import QueryResult
from birdenv.grading.compare import compare_ordered

ORDERED, TIED = [("a", 1), ("b", 1), ("c", 2)], [("b", 1), ("a", 1), ("c", 2)]
SWAPPED = [("c", 2), ("a", 1), ("b", 1)]


def result(rows: list[Any], columns: str = "name n") -> QueryResult:
    return QueryResult(tuple(columns.split()), rows)


@pytest.mark.parametrize(
    ("sql", "pred", "equal", "flags"),
    [
        ("SELECT name, n FROM t", SWAPPED, True, ()),
        ("SELECT name, n FROM t ORDER BY n", ORDERED, True, ()),
        ("SELECT name, n FROM t ORDER BY n", TIED, True, ()),
        ("SELECT name, n FROM t ORDER BY n", SWAPPED, False, ("order_only",)),
        ("SELECT name, n FROM t ORDER BY n DESC, name", TIED, False, ("order_only",)),
        ("SELECT name, n FROM t ORDER BY 2", TIED, True, ()),
        ("SELECT name, n FROM t ORDER BY 2", SWAPPED, False, ("order_only",)),
        ("SELECT name, n FROM t ORDER BY 2, 1", TIED, False, ("order_only",)),
        ("SELECT T1.name, T1.n FROM t AS T1 ORDER BY T1.N", SWAPPED, False, ("order_only",)),
        ("SELECT T1.name, n FROM t AS T1 ORDER BY T1.n", SWAPPED, False, ("order_only",)),
        ("SELECT name, count(*) FROM t GROUP BY 1 ORDER BY COUNT(*)", SWAPPED, False, ("order_only",)),
        ("SELECT name, count(*) AS n FROM t GROUP BY 1 ORDER BY n", SWAPPED, False, ("order_only",)),
        ("SELECT * FROM t ORDER BY n LIMIT 3", SWAPPED, False, ("order_only",)),
        ("(SELECT name, n FROM t ORDER BY n)", SWAPPED, False, ("order_only",)),
        ("SELECT name, n FROM t UNION SELECT name, n FROM u ORDER BY n", SWAPPED, False, ("order_only",)),
        ("WITH a AS (SELECT 1) SELECT name, n FROM t ORDER BY n", SWAPPED, False, ("order_only",)),
        # No sort of the outermost query.
        ("SELECT name, n FROM (SELECT * FROM t ORDER BY n)", SWAPPED, True, ()),
        ("SELECT name, rank() OVER (ORDER BY n) FROM t", SWAPPED, True, ()),
        ("WITH a AS (SELECT * FROM t ORDER BY n) SELECT * FROM a", SWAPPED, True, ()),
        ("SELECT name, 'ORDER BY n' AS n FROM t", SWAPPED, True, ()),
        # A key that is not in the output: ties cannot be told.
        ("SELECT name, n FROM t ORDER BY day", SWAPPED, True, ("order_unchecked",)),
        ("SELECT name, n FROM t ORDER BY n, day", TIED, True, ("order_unchecked",)),
        ("SELECT name, n FROM t ORDER BY n, day", ORDERED, True, ()),
        ("SELECT name, n FROM t ORDER BY n + 1", SWAPPED, True, ("order_unchecked",)),
        ("SELECT T1.name, T1.n FROM t AS T1, u AS T2 ORDER BY T2.n", SWAPPED, True, ("order_unchecked",)),
        ("SELECT name, n FROM t ORDER BY name COLLATE NOCASE", SWAPPED, True, ("order_unchecked",)),
        ("SELECT name, n FROM t ORDER BY 7", SWAPPED, True, ("order_unchecked",)),
        # Keys in parentheses or beside a star.
        ("SELECT name, n FROM t ORDER BY ((n))", SWAPPED, False, ("order_only",)),
        ("SELECT name, (n) FROM t ORDER BY T.n", SWAPPED, False, ("order_only",)),
        ("SELECT name, * FROM t ORDER BY t.name", SWAPPED, False, ("order_only",)),
        ("SELECT name, * FROM t ORDER BY n", SWAPPED, False, ("order_only",)),
        ("VALUES ('a', 1), ('b', 1), ('c', 2)", SWAPPED, True, ()),
        # What sqlglot cannot parse.
        ("SELECT name, n FROM t WHERE )( ORDER BY 2 DESC LIMIT 3", SWAPPED, True, ("order_unchecked",)),
        ("SELECT name, n FROM t WHERE )( GROUP BY n", SWAPPED, True, ("order_unchecked",)),
        ("SELECT 'open ORDER BY n", SWAPPED, True, ("order_unchecked",)),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_order(sql: str, pred: list[Any], equal: bool, flags: tuple[str, ...], dialect: str) -> None:
    comparison = compare_ordered(result(ORDERED), result(pred), sql, dialect)
    assert (comparison.equal, comparison.flags) == (equal, flags)
    assert bool(comparison.reason) is not equal


def test_the_multiset_comes_first() -> None:
    comparison = compare_ordered(
        result(ORDERED), result(ORDERED[:2]), "SELECT name, n FROM t ORDER BY n", "sqlite"
    )
    assert not comparison.equal
    assert "order_only" not in comparison.flags


def test_numbers_that_agree_within_the_tolerance_are_tied() -> None:
    gold = result([("a", 0.1 + 0.2), ("b", 0.3)])
    pred = result([("b", 0.1 + 0.2), ("a", 0.3)])
    assert compare_ordered(gold, pred, "SELECT name, n FROM t ORDER BY n", "sqlite").equal


def test_two_columns_of_one_name_are_no_key() -> None:
    gold, pred = result([(1, 2), (2, 1)], "n n"), result([(2, 1), (1, 2)], "n n")
    assert "order_unchecked" in compare_ordered(gold, pred, "SELECT * FROM t, u ORDER BY n", "sqlite").flags


@pytest.mark.parametrize("texts", [("pen", "Pen", "PEN"), ("a", "a ", "a  ")])
def test_texts_that_a_collation_may_tie(texts: tuple[str, ...]) -> None:
    gold, sql = result([*zip(texts, range(3), strict=True), ("z", 3)]), "SELECT name, n FROM t ORDER BY name"
    for order, flag in (((0, 2, 1, 3), "order_unchecked"), ((0, 3, 1, 2), "order_only")):
        comparison = compare_ordered(gold, result([gold.rows[i] for i in order]), sql, "sqlite")
        assert comparison.flags == (flag,)


def test_two_columns_of_one_name_are_a_key_if_the_first_comes_before_the_star() -> None:
    gold, pred = result([(1, 1), (2, 2)], "n n"), result([(2, 2), (1, 1)], "n n")
    assert "order_only" in compare_ordered(gold, pred, "SELECT n, * FROM t ORDER BY n", "sqlite").flags


def test_many_rows_take_little_time() -> None:
    rows = [(i, -i) for i in range(30_000)]
    pred = [*rows[1:2], *rows[:1], *rows[2:]]
    assert not compare_ordered(result(rows), result(pred), "SELECT name, n FROM t ORDER BY 1", "sqlite").equal
