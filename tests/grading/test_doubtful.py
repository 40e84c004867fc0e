"""`fail_doubtful`: what passes by rows that are spelled out, or by tests that look elsewhere, fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from birdenv.databases import DatabaseSource
from birdenv.grading import FAILED_AS_DOUBTFUL, ExGrader, InteractGrader, reads_no_table
from birdenv.grading.interact import STRICT_RULES, GradingJob

CAREFUL = replace(STRICT_RULES, fail_doubtful=True)
COUNT = "SELECT count(*) FROM item"
HEAD = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n    "
ASKS = "rows, err, _ = execute_queries({!r}, db_name, conn)\n    assert not err and rows == {!r}, rows"


def asks(sql: str, rows: list[Any]) -> tuple[str, ...]:
    """One test case: what a query returns."""
    return (HEAD + ASKS.format(sql, rows),)


HAS_INDEX = asks("SELECT count(*) FROM sqlite_master WHERE name = 'item_name'", [(1,)])
PEN_COSTS_MORE = asks("SELECT price FROM item WHERE id = 1", [(3.0,)])
HAS_TOTALS = asks("SELECT total FROM totals WHERE name = 'ink'", [(4.25,)])
TOTALS = "SELECT name, sum(price) AS total FROM item GROUP BY name"
TRIGGER = "CREATE TRIGGER dearer AFTER INSERT ON sale {} BEGIN UPDATE item SET price = 3 WHERE id = {}; END"
SELLS_PEN = (
    HEAD
    + "execute_queries(\"INSERT INTO sale VALUES (1, '2024-02-01')\", db_name, conn)\n    "
    + ASKS.format("SELECT price FROM item WHERE id = 1", [(3.0,)]),
)

# gold, tests, an honest submission, one that fakes it
FAKES = {
    "a partial index of no row": (
        "CREATE INDEX item_name ON item (name)",
        HAS_INDEX,
        "CREATE INDEX IF NOT EXISTS item_name ON item(name)",
        "CREATE INDEX item_name ON item (name) WHERE 0",
    ),
    "a trigger for one row": (
        TRIGGER.format("", "new.item_id"),
        SELLS_PEN,
        TRIGGER.format("", "new.item_id") + ";",
        TRIGGER.format("WHEN new.item_id = 1", "1"),
    ),
    "a view in the table's place": (
        f"CREATE TABLE totals AS {TOTALS}",
        HAS_TOTALS,
        f"CREATE TABLE totals AS {TOTALS} ORDER BY name",
        f"CREATE VIEW totals AS {TOTALS}",
    ),
    "damage where no test looks": (
        "UPDATE item SET price = 3 WHERE id = 1",
        PEN_COSTS_MORE,
        "UPDATE item SET price = price * 2 WHERE id = 1",
        "UPDATE item SET price = 3 WHERE id = 1; DELETE FROM sale",
    ),
}


@pytest.mark.parametrize(("gold", "tests", "honest", "fake"), FAKES.values(), ids=FAKES.keys())
def test_management_that_fakes_what_the_tests_look_at(
    source: DatabaseSource, gold: str, tests: tuple[str, ...], honest: str, fake: str
) -> None:
    grader = InteractGrader(source)
    job = GradingJob("shop", "Management", (gold,), tests=tests, keeps_state=True)
    careful = replace(job, rules=CAREFUL)
    assert grader.grade(job, fake).passed
    failed = grader.grade(careful, fake)
    assert (failed.passed, failed.status, failed.left) == (False, "wrong_result", None)
    assert FAILED_AS_DOUBTFUL in failed.flags
    assert "the state differs from the gold's: " in failed.reason
    assert grader.grade(careful, honest).passed


def test_a_state_that_is_judged_by_itself_is_judged_as_before(source: DatabaseSource) -> None:
    job = GradingJob("shop", "Management", ("DELETE FROM sale",), by_state=True, rules=CAREFUL)
    assert InteractGrader(source).grade(job, "DELETE FROM sale WHERE 1").passed
    other = InteractGrader(source).grade(job, "SELECT 1")
    assert (other.status, FAILED_AS_DOUBTFUL in other.flags) == ("wrong_result", False)


def test_what_fails_anyway_is_not_doubtful(source: DatabaseSource) -> None:
    job = GradingJob("shop", "Management", ("DELETE FROM sale",), tests=(HEAD + "assert False",))
    for rules in (STRICT_RULES, CAREFUL):
        assert InteractGrader(source).grade(replace(job, rules=rules), "SELECT 1").status == "test_error"
    query = GradingJob("shop", "Query", (COUNT,), rules=CAREFUL)
    assert InteractGrader(source).grade(query, "SELECT 5").flags == ()


SPELLED = {
    "a row": ("SELECT 4", True),
    "rows of a WITH": ("WITH item AS (VALUES (4)) SELECT * FROM item", True),
    "honest": ("SELECT count(id) FROM item", False),
    "a WITH on the table": ("WITH i AS (SELECT id FROM item) SELECT count(*) FROM i", False),
}


@pytest.mark.parametrize(("sql", "is_spelled"), SPELLED.values(), ids=SPELLED.keys())
def test_queries_whose_rows_are_spelled_out(engine: DatabaseSource, sql: str, is_spelled: bool) -> None:
    """On both engines, in c-Interact and in BIRD."""
    job = GradingJob("shop", "Query", (COUNT,))
    grader = InteractGrader(engine)
    assert grader.grade(job, sql).passed
    careful = grader.grade(replace(job, rules=CAREFUL), sql)
    assert (careful.passed, FAILED_AS_DOUBTFUL in careful.flags) == (not is_spelled, is_spelled)
    metrics = ("ordered", "soft_f1")
    assert ExGrader(engine, metrics=metrics).grade("shop", [COUNT], sql).ex
    verdict = ExGrader(engine, metrics=metrics, fail_doubtful=True).grade("shop", [COUNT], sql)
    assert (verdict.ex, verdict.ex_bird) == (not is_spelled, not is_spelled)
    assert set(verdict.metrics.values()) == {0.0 if is_spelled else 1.0}
    assert (verdict.status == "wrong_result", "the rows are literals" in verdict.reason) == (
        is_spelled,
        is_spelled,
    )


def test_a_gold_that_reads_no_table_asks_for_no_table(source: DatabaseSource) -> None:
    job = GradingJob("shop", "Query", ("SELECT 2 + 2",), rules=CAREFUL)
    assert InteractGrader(source).grade(job, "SELECT 4").passed
    assert ExGrader(source, fail_doubtful=True).grade("shop", ["SELECT 2 + 2"], "SELECT 4").ex


def test_only_the_set_rule_passes_and_the_rows_are_spelled_out(source: DatabaseSource) -> None:
    twice = "SELECT 4 UNION ALL SELECT 4"
    assert ExGrader(source).grade("shop", [COUNT], twice).ex_bird
    verdict = ExGrader(source, fail_doubtful=True).grade("shop", [COUNT], twice)
    assert (verdict.ex, verdict.ex_bird) == (False, False)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", False),
        (
            "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n",
            True,
        ),
        ("SELECT * FROM t WHERE x IN (WITH t AS (SELECT 1) SELECT * FROM t)", False),
        ("WITH t AS (SELECT 1) SELECT * FROM main.t", False),
        ("SELECT value FROM json_each('[1, 2]')", True),
        ("SELECT value FROM t, json_each(t.list)", False),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_names_are_those_that_a_query_can_see(dialect: str, sql: str, says: bool) -> None:
    assert reads_no_table(sql, dialect) is says
