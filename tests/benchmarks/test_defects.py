"""`data verify` lists golds that read the clock, do not run, or fail their own tests, and quotes none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from birdenv.benchmarks import verify_records

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "c_interact"))
from toy_tasks import MANAGEMENT, QUERY, write_benchmark

Row = dict[str, Any]
TEST = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n    "
CLOCK = "reads the clock or random numbers"


def follow_up(**changes: Any) -> Row:
    return {"follow_up": QUERY["follow_up"] | changes}


DEFECTS: dict[str, tuple[Row, Row, list[str]]] = {
    "none": (QUERY, {}, []),
    "it does not run": (QUERY, {"sol_sql": ["SELECT nope FROM member"]}, ["the gold does not run"]),
    "nor does the follow-up's": (
        QUERY,
        follow_up(sol_sql=["SELECT 'x"]),
        ["the follow-up's gold does not run"],
    ),
    "it returns nothing": (
        QUERY,
        {"sol_sql": ["SELECT name FROM member WHERE age > 99"]},
        ["the gold does not pass its own grading"],
    ),
    "it reads the clock": (
        QUERY,
        {"sol_sql": ["SELECT count(*) FROM member WHERE age < date('now') - 1900"]},
        [f"the gold {CLOCK}"],
    ),
    "the follow-up's reads random numbers": (
        QUERY,
        follow_up(sol_sql=["SELECT name FROM member WHERE random() IS NOT NULL"]),
        [f"the follow-up's gold {CLOCK}"],
    ),
    "the set-up reads the clock": (
        QUERY,
        {"preprocess_sql": ["UPDATE member SET city = CURRENT_DATE WHERE id = 9"]},
        [f"the set-up or the clean-up {CLOCK}"],
    ),
    "a test case fails": (
        MANAGEMENT,
        {"test_cases": [TEST + "assert False"]},
        ["the gold does not pass its own test cases"],
    ),
    "a test case is no Python": (
        MANAGEMENT,
        {"test_cases": ["def test_case(:"]},
        ["test cases of the task are missing or unusable"],
    ),
    "the follow-up has none": (
        MANAGEMENT,
        {"follow_up": MANAGEMENT["follow_up"] | {"category": "Management"}},
        ["test cases of the follow-up are missing or unusable"],
    ),
    "a test case reads Python's clock": (
        MANAGEMENT,
        {"test_cases": [TEST + "assert date.today().year > 2000"]},
        [f"a test case {CLOCK}"],
    ),
    "a test case reads the database's clock": (
        MANAGEMENT,
        {"test_cases": [TEST + "assert execute_queries(\"SELECT date('now')\", db_name, conn)"]},
        [f"a test case {CLOCK}"],
    ),
    "two at once": (
        QUERY,
        {"sol_sql": ["SELECT nope, date('now') FROM member"]},
        [f"the gold {CLOCK}", "the gold does not run"],
    ),
}


@pytest.mark.parametrize(("row", "changes", "reasons"), DEFECTS.values(), ids=DEFECTS.keys())
def test_what_is_wrong_with_a_gold(tmp_path: Path, row: Row, changes: Row, reasons: list[str]) -> None:
    task = row | changes
    report = verify_records([task, QUERY | {"instance_id": "other"}], write_benchmark(tmp_path / "b", task))
    assert report.defects == ({task["instance_id"]: reasons} if reasons else {})
    assert report.figures["defective"] == bool(reasons)
    assert report.to_json()["defects"] == report.defects
    told = [line for line in report.lines() if line.startswith("defective  ")]
    assert told == [f"defective  {task['instance_id']}: {reason}" for reason in reasons]


def test_a_gold_that_reads_the_clock_is_no_problem(tmp_path: Path) -> None:
    task = QUERY | {"sol_sql": ["SELECT count(*) FROM member WHERE age < date('now') - 1900"]}
    report = verify_records([task], write_benchmark(tmp_path / "b", task))
    assert report.passed and not report.warnings and report.figures["defective"] == 1


def test_golds_that_are_missing_or_whose_database_is_not_there_are_no_defect(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "b", QUERY)
    bare = QUERY | {"instance_id": "bare", "sol_sql": []}
    elsewhere = QUERY | {"instance_id": "elsewhere", "selected_database": "nowhere"}
    report = verify_records([bare, elsewhere], folder)
    assert len(report.problems) >= 2 and report.defects == {}


def test_without_databases_the_text_alone_is_looked_at(tmp_path: Path) -> None:
    task = QUERY | {"sol_sql": ["SELECT nope, date('now') FROM member"]}
    report = verify_records([task], None, oracle="none")
    assert report.defects == {"club_1": [f"the gold {CLOCK}"]}
