"""A prediction is fetched in one pass: the verdicts are those of comparing whole results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples
from written_databases import write_database

from birdenv.databases import Limits, QueryResult, SqliteSource
from birdenv.grading import ExGrader
from birdenv.grading._ex import agree_as_multisets, agree_as_sets
from birdenv.grading._statements import GoldRows, RowCollector, rows_needed
from birdenv.grading.compare import compare_bird, compare_multiset

VALUES = "SELECT 1 AS a, 'x' AS b WHERE 0"


def values(rows: list[tuple[Any, ...]]) -> str:
    """SQL that returns these rows, in two columns."""
    if not rows:
        return VALUES
    return "VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


def literal(cell: Any) -> str:
    return "NULL" if cell is None else repr(cell)


cells = st.sampled_from([None, 0, 1, 1.0, 2.5, 2.5000001, "x", "y"])
few_rows = st.lists(st.tuples(cells, cells), max_size=6)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> SqliteSource:
    root = tmp_path_factory.mktemp("one pass")
    write_database(root, "empty", "CREATE TABLE t (a)")
    return SqliteSource(root)


def times(sql: str, count: int) -> str:
    """The rows of a query, so many times over."""
    return (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}), r AS ({sql})"
        " SELECT r.* FROM n, r"
    )


@settings(max_examples=examples(150))
@given(golds=st.lists(few_rows, min_size=1, max_size=2), rows=few_rows, often=st.sampled_from([1, 1, 2, 400]))
def test_verdicts_are_those_of_whole_results(
    empty: SqliteSource, golds: list[list[Any]], rows: list[Any], often: int
) -> None:
    """Also where the prediction has far more rows than are kept of it."""
    prediction = times(values(rows), often)
    with empty.open("empty") as database:
        *expected, whole = [database.query(sql) for sql in (*map(values, golds), prediction)]
    assert isinstance(whole, QueryResult) and all(isinstance(gold, QueryResult) for gold in expected)
    verdict = ExGrader(empty).grade("empty", [values(gold) for gold in golds], prediction)
    assert verdict.ex_bird == any(compare_bird(gold, whole).equal for gold in expected)
    comparisons = [compare_multiset(gold, whole) for gold in expected]
    assert verdict.ex == any(comparison.equal for comparison in comparisons)
    assert verdict.status == ("passed" if verdict.ex else "wrong_result")
    shown = next((c for c in comparisons if c.equal), comparisons[0])
    if verdict.rows_pred is not None:
        assert verdict.rows_pred == len(whole.rows)
        assert (verdict.reason, verdict.flags) == (shown.reason, shown.flags)
        assert (verdict.expected, verdict.returned) == (shown.expected, shown.returned)


@settings(max_examples=examples(200))
@given(st.data())
def test_known_rows_serve_golds_of_any_size(data: st.DataObject) -> None:
    """Replaying gives what a scan would give, however the rows come in batches."""
    few = st.integers(0, 4).map(lambda n: (n,))
    rows = data.draw(st.lists(few, max_size=40))
    gold = GoldRows("", QueryResult(("a",), data.draw(st.lists(few, max_size=12))))
    most = data.draw(st.integers(len(gold.rows) + 1, 20))
    replayed = RowCollector([gold], most).replay(QueryResult(("a",), rows))
    fresh = scanned(RowCollector([gold], most), rows, data.draw(st.integers(1, 50)))
    assert replayed.truncated == fresh.truncated
    assert fresh.truncated or replayed == fresh


def scanned(collector: RowCollector, rows: list[Any], batch: int) -> QueryResult:
    collector.begin(("a",))
    for start in range(0, len(rows), batch):
        if not collector.see(rows[start : start + batch]):
            return collector.fetched(QueryResult(("a",), ()), is_whole=False)
    return collector.fetched(QueryResult(("a",), ()), is_whole=True)


def test_fetching_stops_behind_the_rows_that_are_kept_at_one_that_no_gold_has() -> None:
    gold = GoldRows("", QueryResult(("a",), [(1,), (2,)]))
    rows = [(1,), (2,)] * 50_000
    repeated, foreign = (
        scanned(RowCollector([gold], rows_needed([gold])), all_rows, 1024)
        for all_rows in (rows, [*rows, (3,)])
    )
    assert (len(repeated.rows), repeated.truncated) == (100_000, False)
    assert (len(foreign.rows), foreign.truncated) == (1001, True)


def test_a_statement_runs_once_and_stops_at_the_row_that_decides(root: Path) -> None:
    """A foreign row comes behind many of the gold's, and endless ones behind it."""
    names = "CASE WHEN i = 4000 THEN 'foreign' ELSE 'pen' END"
    endless = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {names} FROM n"
    grader = ExGrader(SqliteSource(root), Limits(seconds=5.0))
    verdict = grader.grade("shop", ["SELECT name FROM item"], endless)
    assert (verdict.status, verdict.ex_bird, verdict.rows_pred) == ("wrong_result", False, None)
    assert verdict.pred_result is not None
    assert len(verdict.pred_result.rows) == 1001


LISTS = GoldRows("", QueryResult(("a",), [([1, 2],), ([3],), ({"b": 1},)]))
TEXTS = GoldRows("", QueryResult(("a",), [("x",), ("y",)]))
WIDE = GoldRows("", QueryResult(("a", "b"), [(1, 2)]))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("gold", "rows"),
    [
        (LISTS, [("x",), ("y",)] * 2000),
        (WIDE, [("x",), ("y",)] * 2000),
        (LISTS, [([3],), ([1, 2],), ({"b": 1},)] * 2000),
        (LISTS, [([3],), ([1, 2],)] * 2000),
        (LISTS, [("[3]",), ("[1, 2]",), ('{"b": 1}',)] * 2000),
        (LISTS, [([3],)] * 1500 + [("[1, 2]",), ({"b": 1},)] * 1500),
        (TEXTS, [("x",), ("y",)] * 2000),
    ],
)
def test_many_rows_are_compared_as_whole_results_are(gold: GoldRows, rows: list[Any]) -> None:
    """Also with cells that cannot be hashed, and with a gold that another gold outlives."""
    whole = QueryResult(("a",), rows)
    for golds in ([gold], [gold, TEXTS], [TEXTS, gold]):
        fetched = scanned(RowCollector(golds, rows_needed(golds)), rows, 1000)
        assert agree_as_sets(gold, fetched) == compare_bird(gold.result, whole).equal
        if not fetched.truncated:
            assert len(fetched.rows) == len(rows)
            assert agree_as_multisets(gold, fetched) == compare_multiset(gold.result, whole)
