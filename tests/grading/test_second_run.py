"""What is graded has a second run, alone and with twice the limit, before a timeout stands."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from birdenv.databases import Limits, SqliteSource
from birdenv.grading import ExGrader, ExVerdict, InteractGrader, Pair, check_gold, score_pairs
from birdenv.grading._second_run import alone
from birdenv.grading.interact import GradingJob

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
NAMES = "SELECT name FROM item"
LIMITS = Limits(seconds=0.1)
TWICE = re.compile("stopped after (0.2 s of CPU|0.8 s of wall) time")  # the latter on a very busy machine
TEST = f"""
def test_case(pred_sqls, sol_sqls, db_name, conn):
    sql = {ENDLESS!r} if "unit" in pred_sqls[0] else {NAMES!r}
    rows, error, timeout = execute_queries(sql, db_name, conn)
    assert rows, timeout
"""


def was_run_twice(verdict: ExVerdict) -> bool:
    assert verdict.error is not None
    return TWICE.fullmatch(verdict.error.message.split(" by killing")[0]) is not None


@pytest.mark.parametrize(
    ("gold", "prediction", "status"), [(NAMES, ENDLESS, "sql_timeout"), (ENDLESS, NAMES, "gold_error")]
)
def test_golds_and_predictions_have_it(source: Any, gold: str, prediction: str, status: str) -> None:
    grader = ExGrader(source, LIMITS)
    verdict = grader.grade("shop", [gold], prediction)
    assert (verdict.status, was_run_twice(verdict)) == (status, True)


@pytest.mark.every(3)
@pytest.mark.parametrize("workers", [1, 2])
def test_of_many_pairs_the_late_ones_come_last(root: Path, workers: int) -> None:
    pairs = [Pair("shop", (NAMES,), sql) for sql in (NAMES, ENDLESS, "SELECT 1", f"{NAMES} ORDER BY 1")]
    told: list[int] = []
    verdicts = score_pairs(pairs, SqliteSource(root), limits=LIMITS, workers=workers, on_done=told.append)
    assert [verdict.status for verdict in verdicts] == ["passed", "sql_timeout", "wrong_result", "passed"]
    assert was_run_twice(verdicts[1])
    assert sum(told) == len(pairs)


def test_a_gold_that_is_checked_has_it(source: Any) -> None:
    found = check_gold(source, "shop", ENDLESS, LIMITS)
    assert TWICE.fullmatch(found.failures["gold"].removeprefix("timeout: "))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("job", "prediction"),
    [
        (GradingJob("shop", "Query", (NAMES,)), ENDLESS),
        (GradingJob("shop", "Query", (ENDLESS,)), NAMES),
        (GradingJob("shop", "Management", ("UPDATE item SET id = id",), tests=(TEST,)), ENDLESS),
    ],
)
def test_every_statement_of_a_phase_has_it(source: Any, job: GradingJob, prediction: str) -> None:
    grade = InteractGrader(source, LIMITS).grade(job, prediction)
    assert TWICE.search(grade.reason)


@pytest.mark.slow
def test_a_test_case_whose_query_was_late_is_run_again(source: Any) -> None:
    """The grade says nothing of a time limit then: the tests were told of it, and failed."""
    job = GradingJob("shop", "Management", ("UPDATE item SET id = id",), tests=(TEST,))
    grader = InteractGrader(source, Limits(seconds=0.5))
    began = time.monotonic()
    late = grader.grade(job, "UPDATE item SET name = 'unit'")
    taken = time.monotonic() - began
    assert late.status == "wrong_result"
    assert taken > 0.5 + 1.0, "half a second in the first run, a second in the other one"


def test_what_is_tried_out_in_an_episode_has_none(source: Any) -> None:
    with source.open("shop", LIMITS) as database:
        assert not TWICE.search(database.execute(ENDLESS).message)


def test_second_runs_wait_for_each_other() -> None:
    inside, most = [0], [0]

    def work() -> None:
        with alone():
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
