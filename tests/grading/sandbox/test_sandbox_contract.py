"""Running test cases: what they find in scope, what they are called with, and what their report says."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sandbox_databases import LIMITS, called, case, run, scratch, shop

from birdenv.databases import QueryError, QueryResult, SqliteSource
from birdenv.errors import InputError
from birdenv.grading.sandbox import _runner as reports
from birdenv.grading.sandbox import judged
from birdenv.grading.sandbox._runner import SandboxLimits, run_test_cases

PASSES = {
    "a query": "assert execute_queries('SELECT id FROM item', '', conn) == ([(1,), (2,), (3,), (4,)], 0, 0)",
    "a list": "assert execute_queries(['SELECT 1', 'SELECT 2'], db_name, conn)[0] == [(2,)]",
    "two statements in one text": "assert execute_queries('SELECT 1; SELECT 2', db_name, conn)[0] == [(2,)]",
    "no row": "assert execute_queries('SELECT 1 WHERE 0', db_name, conn) == ([], False, False)",
    "no column": "assert execute_queries('CREATE TABLE t (a)', db_name, conn) == (None, False, False)",
    "an error": "assert execute_queries('SELEC', db_name, conn) == (None, True, False)",
    "up to the first error": """
execute_queries(['CREATE TABLE log (a)', 'INSERT INTO log VALUES (1)', 'SELEC', 'DROP TABLE log'], '', conn)
assert execute_queries('SELECT * FROM log', db_name, conn)[0] == [(1,)]""",
    "a timeout": """
endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
assert execute_queries(endless, db_name, conn) == (None, False, True)""",
    "cells": """
(row,), _, _ = execute_queries("SELECT 1, 2.5, 'a', x'00ff', NULL, 9e999, 'é' || char(0)", db_name, conn)
assert row == (1, 2.5, 'a', bytes([0, 255]), None, float('inf'), 'é' + chr(0)), row""",
    "a logger and a title": "assert execute_queries(['SELECT 1'], db_name, conn, None, '')[0] == [(1,)]",
    "arguments of its own": "pred_sqls.clear()",
    "the arguments": "assert (pred_sqls, sol_sqls, db_name) == (['SELECT 1'], ['SELECT 2'], '')",
    "modules in scope": "assert json.loads('1') == 1 and re.sub('a', 'b', 'a') == 'b'",
    "types in scope": "assert datetime(2024, 1, 2).date() == date(2024, 1, 2) and Decimal('1.0') == 1",
    "harmless imports": """
import math, statistics, collections.abc, datetime as dt
from typing import Any
from json import decoder
assert statistics.mean([1, 3]) == 2 and dt.datetime.strptime('2024-01-02', '%Y-%m-%d').day == 2""",
    "printing": "print('x' * 60_000)",
    "what it returns does not matter": "return 0",
    "equal": "assert ex_base(['SELECT 1.001'], ['SELECT 1.0 AS other'], db_name, conn) == 1",
    "equal but for DISTINCT": """
a, b = ['SELECT DISTINCT name FROM item'], ['SELECT name FROM item']
assert ex_base(a, b, db_name, conn) == 0
assert ex_base(a, b, db_name, conn, {'distinct': False}) == 1""",
    "equal but for the order": """
a, b = ['SELECT id FROM item ORDER BY 1'], ['SELECT id FROM item ORDER BY 1 DESC']
assert ex_base(a, b, db_name, conn, {'order': False}) == 1
assert ex_base(a, b, db_name, conn, {'order': True}) == 0""",
    "decimals": "assert ex_base('SELECT 1.234', 'SELECT 1.231', db_name, conn, {'decimal': 3}) == 0",
    "nothing is not equal": "assert ex_base([], ['SELECT 1'], db_name, conn) == 0",
    "an error is not equal": "assert ex_base(['SELEC'], ['SELEC'], db_name, conn) == 0",
    "remove_distinct": """
assert remove_distinct(['SELECT DISTINCT a, count(DISTINCT b)']) == ['SELECT  a, count(DISTINCT b)']
assert remove_distinct('SELECT DISTINCT a') == 'SELECT  a'""",
    "the other helpers": """
assert remove_comments(['SELECT 1 -- one']) == ['SELECT 1']
assert remove_round(['SELECT round(a, 2)']) == ['SELECT (a)']
assert preprocess_results([(date(2024, 1, 2), 1.005)]) == [('2024-01-02', 1.01)]""",
    "catching what it is not offered": """
try:
    import numpy
except ImportError:
    pass""",
}

FAILS = {
    "an assertion": ("assert 1 == 2, 'one is  not\\ntwo'", "assertion", "assertion failed: one is not two"),
    "a bare assertion": ("assert False", "assertion", "assertion failed"),
    "rows that are not there": (
        "execute_queries('SELECT * FROM made', db_name, conn)[0][0]",
        "exception",
        "raises TypeError: 'NoneType' object is not subscriptable",
    ),
    "too few rows": ("[][0]", "exception", "raises IndexError: list index out of range"),
    "a name bound in a loop without rounds": (
        "for x in []: y = x\nassert y",
        "exception",
        "raises UnboundLocalError: cannot access local variable 'y' where it is not associated with a value",
    ),
    "an attribute of None": (
        "None.x",
        "exception",
        "raises AttributeError: 'NoneType' object has no attribute 'x'",
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> SqliteSource:
    return shop(tmp_path)


@pytest.mark.slow
def test_what_passes(source: SqliteSource) -> None:
    report = run(source, *map(case, PASSES.values()))
    assert report.status == "passed", f"{list(PASSES)[report.outcomes[-1].source - 1]}: {report.reason}"
    assert (report.reason, called(report)) == ("", len(PASSES))


@pytest.mark.parametrize(("body", "cause", "reason"), FAILS.values(), ids=FAILS.keys())
def test_what_fails(source: SqliteSource, body: str, cause: str, reason: str) -> None:
    report = run(source, case(body))
    assert (report.status, report.reason) == ("failed", f"test case 1, test_case: {reason}")
    assert report.outcomes[-1].cause == cause


def test_the_rows_of_the_prediction_are_in_scope(source: SqliteSource) -> None:
    test = case("assert pred_query_result == [(1, 'a')], pred_query_result")
    none = case("assert pred_query_result is None")
    result = QueryResult(("a", "b"), [(1, "a")])
    with scratch(source) as database:
        assert run_test_cases([test], [], [], database, pred_result=result).status == "passed"
        for nothing in (None, QueryResult((), ()), QueryError("engine", "no")):
            assert run_test_cases([none], [], [], database, pred_result=nothing).status == "passed"


def test_tests_run_in_order_and_the_first_failure_is_the_last(source: SqliteSource) -> None:
    sources = [
        "def test_case_2(a, b, c, d): execute_queries('DELETE FROM item', c, d)\n"
        "def helper(): return 0\n"
        "def test_case_1(a, b, c, d): assert execute_queries('SELECT * FROM item', c, d)[0] == []",
        "def check(a, b, c, d): assert 0, 'wrong'",
        case("assert False, 'never reached'"),
    ]
    report = run(source, *sources)
    assert report.reason == "test case 2, check: assertion failed: wrong"
    assert called(report) == 3
    assert [(outcome.source, outcome.name, outcome.status) for outcome in report.outcomes] == [
        (1, "", "passed"),
        (2, "", "passed"),
        (3, "", "passed"),
        (1, "test_case_2", "passed"),
        (1, "test_case_1", "passed"),
        (2, "check", "failed"),
    ]


def test_helpers_of_a_source_are_its_own(source: SqliteSource) -> None:
    helper = "from datetime import date as day\nMOST = 2\ndef helper(): return MOST\n"
    assert run(source, helper + case("assert helper() == 2 and day")).status == "passed"
    report = run(source, helper + case("MOST"), case("MOST"))
    assert report.reason == "test case 2, test_case: raises NameError: name 'MOST' is not defined"


def test_a_large_result_is_an_error_to_the_test(source: SqliteSource) -> None:
    body = "assert execute_queries(\"SELECT printf('%.*c', 1000, 'x')\", db_name, conn) == (None, {}, False)"
    small = SandboxLimits(seconds=30, result_bytes=1000)
    assert run(source, case(body.format(True)), limits=small).status == "passed"


def test_limits_that_let_nothing_run_are_refused() -> None:
    for wrong in ({"seconds": 0}, {"seconds": float("inf")}, {"cpu_seconds": 0}, {"queries": -1}):
        with pytest.raises(InputError):
            SandboxLimits(**wrong)  # type: ignore[arg-type]


NAMES = "SELECT name FROM sqlite_master WHERE name = 'made'"
MADE = case(f"assert execute_queries({NAMES!r}, db_name, conn)[0], 'nothing was made'")
JUDGED = {
    "right": (MADE, "CREATE TABLE made (a)", "passed", ""),
    "wrong": (MADE, "SELECT 1", "failed", "test case 1, test_case: assertion failed: nothing was made"),
    "unusable on the gold, though the prediction passes": (
        case(f"assert not execute_queries({NAMES!r}, db_name, conn)[0]"),
        "SELECT 1",
        "test_error",
        "on the state that the gold leaves: test case 1, test_case: assertion failed",
    ),
    "a limit that only the prediction runs into": (
        case("while not execute_queries('SELECT * FROM made', db_name, conn)[0]: pass"),
        "CREATE TABLE made (a)",
        "failed",
        "test case 1, test_case: runs more than 50 queries, but not on the state that the gold leaves",
    ),
    "a name that only the prediction's state leads to": (
        case("execute_queries('SELECT * FROM made', db_name, conn)[0] or no_such_name"),
        "CREATE TABLE made (a)",
        "test_error",
        "test case 1, test_case: raises NameError: name 'no_such_name' is not defined",
    ),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("test", "prediction", "status", "reason"), JUDGED.values(), ids=JUDGED.keys())
def test_the_gold_tells_whose_fault_it_is(
    source: SqliteSource, test: str, prediction: str, status: str, reason: str
) -> None:
    gold = "CREATE TABLE made AS SELECT 1 AS a"
    limits = SandboxLimits(seconds=30, queries=50)
    on_gold = run(source, test, limits=limits, scripts=(gold,))
    report = judged(on_gold, lambda: run(source, test, limits=limits, scripts=(prediction,)))
    assert (report.status, report.reason) == (status, reason)


def test_with_an_unusable_test_the_prediction_is_not_looked_at() -> None:
    broken = reports.TestReport("test_error", "no test")
    report = judged(broken, lambda: pytest.fail("it was looked at"))
    assert (report.status, report.reason) == ("test_error", "on the state that the gold leaves: no test")


CHANGING = case("assert False, (object(), {'a', 'b', 'c', 'd', 'e'}, print, conn)")


def test_the_same_report_in_every_process(tmp_path: Path, source: SqliteSource) -> None:
    here = repr(run(source, CHANGING))
    assert "0x…" in here
    program = (
        "import sys; from pathlib import Path; import sandbox_databases as h;"
        "sys.stdout.buffer.write(repr(h.run(h.SqliteSource(Path(sys.argv[1])), sys.argv[2])).encode())"
    )
    environment = {"PYTHONHASHSEED": "1", "PYTHONPATH": str(Path(__file__).parent), "TZ": "Asia/Tokyo"}
    found = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), CHANGING],
        capture_output=True,
        check=True,
        env=os.environ | environment,
    )
    assert found.stdout.decode() == here
    assert repr(run(source, CHANGING)) == here


def test_several_threads_at_once(source: SqliteSource) -> None:
    def one(number: int) -> str:
        body = f"assert execute_queries('SELECT count(*) FROM item', '', conn)[0] == [({number},)]"
        with scratch(source, f"DELETE FROM item WHERE id > {number}") as database:
            return run_test_cases([case(body)] * 2, [], [], database, limits=LIMITS).status

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(one, [0, 1, 2, 3, 4, 0, 1, 2])) == {"passed"}


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        ([], "there are no test cases"),
        (["def test_case(:"], "test case 1: does not compile: invalid syntax (line 1)"),
        (["return 1\n" + case("pass")], "test case 1: does not compile: 'return' outside function (line 1)"),
        ([None], "test case 1: must be text, but is NoneType"),
        (["x = 1"], "test case 1: defines no function, so there is no"),
        ([case("pass"), "def test_case(a): ..."], "test case 2: test_case(a) does not take 4 parameters"),
        (["async " + case("pass")], "test case 1: test_case is async"),
    ],
)
def test_sources_that_break_the_contract_are_not_run(
    source: SqliteSource, sources: list[str], reason: str
) -> None:
    report = run(source, *sources)
    assert (report.status, called(report), report.outcomes) == ("test_error", 0, ())
    assert report.reason.startswith(reason)
