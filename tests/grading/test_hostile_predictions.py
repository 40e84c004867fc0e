"""Predictions made to break or stall the grader, and golds remembered."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from growth import FEW, LINEAR, MANY, growth, slow_pieces
from local_graders import CountingSource, local_interact

from birdenv.databases import Limits, QueryResult, SqliteSource
from birdenv.grading import InteractGrader, clean_sql
from birdenv.grading.compare import Conditions, compare_ordered
from birdenv.grading.compare._sql_cuts import reference_text, without_outer_distinct
from birdenv.grading.em_esm._exact_match import em_key
from birdenv.grading.interact import GradingJob
from birdenv.grading.sandbox._offered_functions import remove_comments, remove_round
from birdenv.sql import LONGEST_SQL, may_change

NO_ROWS = QueryResult(("a",), [])
ADD = "INSERT INTO item VALUES (5, 'cap', 0.5)"


@pytest.fixture
def grader(source: Any) -> InteractGrader:
    return InteractGrader(source, Limits(seconds=1.0))


TESTS = ("def test_case(pred_sqls, sol_sqls, db_name, conn):\n    assert True",)


def management(*gold: str, **fields: Any) -> GradingJob:
    return GradingJob("shop", "Management", gold, tests=TESTS, **fields)


TEXTS = {
    "layers": lambda n: "SELECT 1" + "\n--\n</s>" * n,
    "tags and space": lambda n: "SELECT 1" + "\n</s>" * n,
    "dollar tags": lambda n: "SELECT " + " ".join(f"$a{i}$" for i in range(n)),
    "brackets": lambda n: "SELECT " + "[" * n,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_cleaning_is_linear(text: Callable[[int], str]) -> None:
    assert growth(clean_sql, text, 1_000) < LINEAR


WORK: dict[str, Callable[[str], object]] = {
    "clean_sql": clean_sql,
    "without_outer_distinct": lambda text: without_outer_distinct(f"SELECT DISTINCT {text}", "postgres"),
    "em_key": lambda text: em_key(text, "sqlite", "folded") + em_key(text, "postgres", "folded"),
    "remove_comments": remove_comments,
    "remove_round": remove_round,
    "reference_text": reference_text,
    "compare_ordered": lambda text: compare_ordered(NO_ROWS, NO_ROWS, f"{text} ORDER BY {text}", "sqlite"),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_time_grows_with_a_prediction(work: Callable[[str], object]) -> None:
    assert slow_pieces(work, FEW // 2) == []


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_time_grows_with_a_long_prediction(work: Callable[[str], object]) -> None:
    assert slow_pieces(work, MANY) == []


def test_what_stopped_the_grader() -> None:
    assert growth(may_change, lambda n: "SELECT 1 /* age " + "/* " * n, 2_000) < LINEAR


def test_what_no_database_runs_is_not_cleaned() -> None:
    text = "```sql\nSELECT 1" + " " * LONGEST_SQL + "\n```"
    assert clean_sql(text).sql == text


def test_every_layer_goes() -> None:
    assert clean_sql("SELECT 1" + "\n--\n</s>" * 500).sql == "SELECT 1"


def test_parentheses_are_matched_once() -> None:
    def work(sql: str) -> str:
        return without_outer_distinct(sql, "sqlite")

    assert growth(work, lambda n: "(" * n + "SELECT 1" + ")" * n, 8_000) < LINEAR
    assert work("((SELECT DISTINCT 1));") == "((SELECT  1));"
    assert work("SELECT DISTINCT 1" + " " * LONGEST_SQL).startswith("SELECT DISTINCT")


@pytest.mark.parametrize("category", ["Query", "Management"])
def test_very_long_predictions(grader: InteractGrader, category: Any) -> None:
    job = GradingJob("shop", category, ("SELECT 1",), Conditions(distinct=False), tests=TESTS)
    grade = grader.grade(job, "(" * (LONGEST_SQL + 1))
    assert grade.status == "sql_error"
    assert grade.error is not None
    assert grade.error.kind == "too_large"


def test_pragmas_that_rename_columns(grader: InteractGrader) -> None:
    for pragmas in ("PRAGMA full_column_names=1; PRAGMA short_column_names=0", "PRAGMA short_column_names=0"):
        assert grader.grade(management(ADD), f"{pragmas}; {ADD}").status == "sql_error"


def test_work_that_is_never_committed_is_not_done(grader: InteractGrader) -> None:
    for cleanup in ((), ("DROP TABLE IF EXISTS scratch",), ("COMMIT",)):
        grade = grader.grade(management(ADD, cleanup=cleanup), f"BEGIN; {ADD}")
        assert "state_disagrees" in grade.flags


COUNTS = """
def test_case(pred_sqls, sol_sqls, db_name, conn):
    rows, _, _ = execute_queries("SELECT count(*) FROM item WHERE name LIKE 'CAP'", db_name, conn)
    assert rows == [(1,)], rows
"""
SHADOWS = {
    "table": "CREATE TEMP TABLE item AS SELECT 5 AS id, 'cap' AS name, 0.5 AS price",
    "view": "CREATE TEMP VIEW item AS SELECT 5 AS id, 'cap' AS name, 0.5 AS price",
    "trigger": "CREATE TEMP TRIGGER w BEFORE INSERT ON item BEGIN SELECT raise(IGNORE); END; " + ADD,
    "attached": "ATTACH ':memory:' AS m; CREATE TABLE m.item AS SELECT 5 AS id, 'cap' AS name, 0.5 AS price",
}


@pytest.mark.every(4)
@pytest.mark.contains("S43")
@pytest.mark.parametrize("shadow", SHADOWS.values(), ids=SHADOWS.keys())
def test_nothing_temporary_passes_for_a_change(root: Path, shadow: str) -> None:
    grader = InteractGrader(SqliteSource(root))
    job = GradingJob("shop", "Management", (ADD,), tests=(COUNTS,))
    assert grader.grade(job, shadow).status == "wrong_result"
    assert grader.grade(job, f"{ADD}; PRAGMA case_sensitive_like = 1").passed
    settings = (f"{ADD}; PRAGMA reverse_unordered_selects = 1", f"{ADD}; CREATE TEMP VIEW item AS SELECT 1")
    for sql in settings:
        grade = grader.grade(job, sql)
        assert (grade.passed, grade.flags) == (True, ()), sql


@pytest.mark.parametrize("category", ["Query", "Management"])
def test_what_the_prediction_builds_on_is_the_predictions(grader: InteractGrader, category: Any) -> None:
    job = GradingJob("shop", category, ("SELECT 1",), base_pred=("BAD",), tests=TESTS)
    grade = grader.grade(job, "SELECT 1")
    assert (grade.status, grade.passed) == ("sql_error", False)


def test_the_golds_state_is_remembered(source: Any) -> None:
    grader = local_interact(source)
    for _ in range(3):
        assert grader.grade(management(ADD, cleanup=("SELECT 1",)), ADD).passed
    assert source.opened == 4


@pytest.mark.parametrize(
    "setup", ["CREATE TABLE t (a DEFAULT CURRENT_TIMESTAMP)", "CREATE VIEW w AS SELECT date('now') AS d"]
)
def test_not_where_anything_reads_the_clock(root: Path, setup: str) -> None:
    with sqlite3.connect(root / "shop" / "shop.sqlite") as connection:
        connection.execute(setup)
    connection.close()
    source = CountingSource(root)
    grader = local_interact(source)
    for _ in range(2):
        assert grader.grade(management(ADD), ADD).passed
    assert source.opened == 4


UNSTOPPABLE = "length(printf('%.*c', 2000000000, 'x'))"
READS_VIEW = """
def test_case(pred_sqls, sol_sqls, db_name, conn):
    rows, error, timeout = execute_queries("SELECT * FROM v", db_name, conn)
    assert rows
"""


@pytest.mark.slow
@pytest.mark.contains("S51")
@pytest.mark.parametrize(
    ("tests", "status"),
    [((), "sql_timeout"), pytest.param((READS_VIEW,), "wrong_result", marks=pytest.mark.kills)],
)
def test_what_kills_the_reader_of_a_prediction_is_not_the_golds_fault(
    root: Path, tests: tuple[str, ...], status: str
) -> None:
    """Both are asked for their state and for `v`; the gold's is sound."""
    job = GradingJob(
        "shop", "Management", ("CREATE VIEW v AS SELECT id FROM item",), tests=tests, by_state=not tests
    )
    grader = InteractGrader(SqliteSource(root), Limits(seconds=0.2))
    assert grader.grade(job, "CREATE VIEW v AS SELECT id FROM item").passed
    assert grader.grade(job, f"CREATE VIEW v AS SELECT {UNSTOPPABLE} AS id FROM item").status == status
