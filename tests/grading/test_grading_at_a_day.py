"""At a reference date gold and prediction find the same day on both engines, whenever they run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from birdenv.databases import DatabaseSource, DatedSource, Limits, QueryError, QueryResult
from birdenv.grading import ExGrader, InteractGrader, check_gold
from birdenv.grading.interact import GRADING_RULES, GradingJob

DAY = "2024-01-02"
COUNT = "SELECT count(*) FROM sale WHERE"


def dated(source: DatabaseSource, day: str = DAY) -> DatabaseSource:
    return cast(DatabaseSource, DatedSource(source, day))


VALUES = {
    "sqlite": {
        "CURRENT_DATE": DAY,
        "CURRENT_TIMESTAMP": f"{DAY} 00:00:00",
        "CURRENT_TIME": "00:00:00",
        "date('now', '-1 day')": "2024-01-01",
        "date()": DAY,
        "datetime('now', 'start of month')": "2024-01-01 00:00:00",
        "strftime('%Y') + 0": 2024,
        "strftime('%m', 'now')": "01",
        "julianday('now') - julianday('2024-01-01')": 1.0,
        'date("now")': DAY,
    },
    "postgres": {
        "CURRENT_DATE::text": DAY,
        "now()::date::text": DAY,
        "date_trunc('year', LOCALTIMESTAMP)::date::text": "2024-01-01",
        "extract(year FROM CURRENT_TIMESTAMP(0))::int": 2024,
        "(LOCALTIME::text || '|' || CURRENT_TIME::time::text)": "00:00:00|00:00:00",
        "age(DATE '2023-01-02')::text": "1 year",
        "('now'::date - date 'today')": 0,
        "CAST('today' AS date)::text": DAY,
        "(clock_timestamp() - transaction_timestamp())::text": "00:00:00",
    },
}


def test_the_clock_of_the_engine_stands_still(engine: DatabaseSource) -> None:
    """By every way in which a statement runs, and at every beginning of an episode."""
    expressions = VALUES[engine.dialect]
    sql = f"SELECT {', '.join(expressions)}"
    with dated(engine).open("shop", Limits()) as database:
        for result in (database.execute(sql), database.query(sql), database.run(["SELECT 1", sql])):
            assert isinstance(result, QueryResult), result
            assert list(result.rows[0]) == list(expressions.values())
    with engine.open("shop", Limits()) as database:
        now = database.execute(sql)
        assert isinstance(now, QueryResult) and now.rows[0] != tuple(expressions.values())


def test_what_is_made_keeps_the_day(engine: DatabaseSource) -> None:
    with dated(engine).open("shop", Limits()) as database:
        made = "CREATE TABLE made (id INT, day VARCHAR(40) DEFAULT CURRENT_TIMESTAMP)"
        assert isinstance(database.execute(made), QueryResult)
        assert isinstance(database.execute("INSERT INTO made (id) VALUES (1)"), QueryResult)
        found = database.execute("SELECT day FROM made")
        assert isinstance(found, QueryResult) and found.rows[0][0].startswith(f"{DAY} 00:00:00")


UNCLEAR = {
    "sqlite": f"{COUNT} day < coalesce(NULL, 'now')",
    "postgres": f"{COUNT} day < timeofday()",
}


def test_what_cannot_be_dated_does_not_run(engine: DatabaseSource) -> None:
    with dated(engine).open("shop", Limits()) as database:
        for run in (database.execute, database.query, lambda sql: database.run(["SELECT 1", sql])):
            found = run(UNCLEAR[engine.dialect])
            assert isinstance(found, QueryError) and found.kind == "denied"
            assert f"the date is fixed at {DAY}, which cannot replace" in found.message
        assert isinstance(database.execute("SELECT count(*) FROM sale"), QueryResult)


PAIRS = {
    "sqlite": [
        (
            "SELECT count(*) FROM sale WHERE day = date('now')",
            "SELECT count(*) FROM sale WHERE day = CURRENT_DATE",
        ),
        (
            "SELECT count(*) FROM sale WHERE day < CURRENT_DATE",
            "SELECT count(*) FROM sale WHERE day < date()",
        ),
    ],
    "postgres": [
        (f"{COUNT} day::date = CURRENT_DATE", f"{COUNT} day::date = now()::date"),
        (f"{COUNT} age(day::date) > INTERVAL '0'", f"{COUNT} day::timestamp < LOCALTIMESTAMP"),
    ],
}


@pytest.mark.parametrize("rules", GRADING_RULES)
def test_golds_and_predictions_find_the_same_day(engine: DatabaseSource, rules: str) -> None:
    """And neither finds the result of another day, though the text is the same."""
    for gold, prediction in PAIRS[engine.dialect]:
        job = GradingJob("shop", "Query", (gold,), rules=GRADING_RULES[rules])
        assert InteractGrader(dated(engine)).grade(job, prediction).passed
        plain = gold.replace("age(day::date)", f"age('{DAY}', day::date)")
        for clock in ("date('now')", "CURRENT_DATE"):
            plain = plain.replace(clock, f"'{DAY}'")
        if plain.count(DAY):
            assert InteractGrader(dated(engine)).grade(job, plain).passed
            assert InteractGrader(engine).grade(job, plain).passed is False
            assert InteractGrader(dated(engine, "1999-01-01")).grade(job, plain).passed is False
            assert ExGrader(engine).grade("shop", [gold], plain).ex is False
        verdict = ExGrader(dated(engine)).grade("shop", [gold], prediction)
        assert (verdict.ex, verdict.ex_bird) == (True, True), verdict.reason


def test_code_fences_do_not_hide_the_clock(source: DatabaseSource) -> None:
    gold, prediction = PAIRS["sqlite"][0]
    verdict = ExGrader(dated(source), clean=True).grade("shop", [gold], f"```sql\n{prediction}\n```")
    assert verdict.ex and verdict.rows_gold == 1
    shown = verdict.gold_result
    assert shown is not None and shown.rows == [(2,)], "two were sold on that day"


def test_results_of_days_are_kept_apart(engine: DatabaseSource) -> None:
    scopes = {dated(engine, day).scope("shop", Limits()) for day in (DAY, "2024-01-03")}
    assert len(scopes | {engine.scope("shop", Limits())}) == 3
    with dated(engine).open("shop", Limits()) as database:
        assert database.scope is None


def test_who_is_told_that_no_day_can_stand_in(engine: DatabaseSource) -> None:
    """The submission fails; a gold is the benchmark's fault."""
    unclear, fine = UNCLEAR[engine.dialect], "SELECT count(*) FROM sale"
    grader = InteractGrader(dated(engine))
    failed = grader.grade(GradingJob("shop", "Query", (fine,)), unclear)
    assert failed.status == "sql_error" and failed.error is not None and DAY in failed.error.message
    assert grader.grade(GradingJob("shop", "Query", (unclear,)), fine).status == "infra_error"
    ex = ExGrader(dated(engine))
    assert ex.grade("shop", [fine], unclear).status == "sql_error"
    assert ex.grade("shop", [unclear], fine).status == "gold_error"


HEAD = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n    "
SAYS = "SELECT day FROM sale WHERE item_id = 3"


def test_test_cases_ask_a_database_whose_clock_stands_still(source: DatabaseSource) -> None:
    tests = (
        HEAD + f"assert execute_queries([{SAYS!r}], db_name, conn)[0] == [({DAY!r},)]",
        HEAD + f"assert execute_queries([\"SELECT date('now')\"], db_name, conn)[0] == [({DAY!r},)]",
    )
    gold = "INSERT INTO sale VALUES (3, CURRENT_DATE)"
    job = GradingJob("shop", "Management", (gold,), tests=tests)
    for rules in GRADING_RULES.values():
        grade = InteractGrader(dated(source)).grade(
            replace(job, rules=rules), "INSERT INTO sale SELECT 3, date()"
        )
        assert grade.passed and "state_disagrees" not in grade.flags, grade.reason
    assert InteractGrader(source).grade(job, gold).status == "test_error"


def test_the_state_of_a_follow_up_is_dated_too(source: DatabaseSource) -> None:
    """Set-up, the first phase's SQL and clean-up, on the gold's copy and on the prediction's."""
    job = GradingJob(
        "shop",
        "Query",
        ("SELECT day FROM sale WHERE item_id > 2 ORDER BY day",),
        setup=("INSERT INTO sale VALUES (3, date('now', '-9 days'))",),
        base_gold=("INSERT INTO sale VALUES (4, date('now'))",),
        base_pred=("INSERT INTO sale VALUES (4, CURRENT_DATE)",),
        cleanup=("DELETE FROM sale WHERE day < date('now', '-5 days')",),
    )
    grade = InteractGrader(dated(source)).grade(job, f"SELECT '{DAY}'")
    assert grade.passed and grade.rows_gold == 1, grade.reason


def test_a_gold_is_checked_at_the_day(source: DatabaseSource) -> None:
    gold: Any = PAIRS["sqlite"][0][0]
    assert check_gold(dated(source), "shop", gold).rows == 1
    assert "gold" in check_gold(dated(source), "shop", UNCLEAR["sqlite"]).failures
