"""c-Interact grading on real SQLite databases: Query by rows, Management by its test cases."""

from dataclasses import replace
from typing import Any

import pytest
from local_graders import local_interact

from birdenv.databases import Limits, cache
from birdenv.grading import InteractGrader
from birdenv.grading.compare import Conditions
from birdenv.grading.interact import GRADING_RULES, Grade, GradingJob

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
NAMES = "SELECT name FROM item"


@pytest.fixture
def grader(source: Any) -> InteractGrader:
    return InteractGrader(source, Limits(seconds=0.2))


def query(*gold: str, **fields: Any) -> GradingJob:
    return GradingJob("shop", "Query", gold, **fields)


TEST = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n    "
ANYTHING = (TEST + "assert True",)
NOT_THE_SHORTER = (TEST + "assert len(pred_sqls[0]) >= len(sol_sqls[0])",)


def management(*gold: str, tests: tuple[str, ...] = ANYTHING, **fields: Any) -> GradingJob:
    """A task whose test cases pass; where the states differ, the flag tells."""
    return GradingJob("shop", "Management", gold, tests=tests, **fields)


QUERY = {
    "the same": (NAMES, "passed", ""),
    "another order": (NAMES + " ORDER BY id DESC", "passed", ""),
    "rows doubled": (f"{NAMES} UNION ALL {NAMES}", "wrong_result", "duplicate rows differ"),
    "other column order": ("SELECT price FROM item", "wrong_result", "differing row"),
    "a column too many": ("SELECT name, 1 FROM item", "wrong_result", "1 column expected, 2 returned"),
    "an error": ("SELECT nam FROM item", "sql_error", "no such column"),
    "endless": (ENDLESS, "sql_timeout", "timeout"),
    "blank": (" ", "no_submission", "no SQL"),
    "two statements": (f"SELECT 1; {NAMES}", "sql_error", "the SQL failed"),
    "shadowing by a temp table": (
        f"CREATE TEMP TABLE item AS SELECT 1 AS name; {NAMES}",
        "sql_error",
        "the SQL failed",
    ),
    "an update, then a constant": ("UPDATE item SET name = 1; SELECT 1", "sql_error", "the SQL failed"),
    "a write that returns rows": ("UPDATE item SET id = id RETURNING name", "sql_error", "denied"),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("prediction", "status", "reason"), QUERY.values(), ids=QUERY.keys())
def test_query(grader: InteractGrader, prediction: str, status: str, reason: str) -> None:
    grade = grader.grade(query(NAMES), prediction)
    assert (grade.status, grade.passed) == (status, status == "passed")
    assert reason in grade.reason
    assert bool(grade.reason) == (not grade.passed)
    assert (grade.error is not None) == (status in ("sql_error", "sql_timeout"))


def test_query_counts_rows(grader: InteractGrader) -> None:
    grade = grader.grade(query(NAMES), "SELECT 1")
    assert (grade.rows_gold, grade.rows_pred) == (4, 1)


CONDITIONS = {
    "order kept": ("ORDER BY id", Conditions(order=True), True),
    "order broken": ("ORDER BY id DESC", Conditions(order=True), False),
}


@pytest.mark.parametrize(("order", "conditions", "passed"), CONDITIONS.values(), ids=CONDITIONS.keys())
def test_order(grader: InteractGrader, order: str, conditions: Conditions, passed: bool) -> None:
    job = query(f"{NAMES} ORDER BY id", conditions=conditions)
    assert grader.grade(job, f"{NAMES} {order}").passed is passed


@pytest.mark.parametrize(("rule", "passed"), [(None, False), (True, False), (False, True)])
def test_distinct_is_left_out_of_both_only_if_the_task_says_so(
    grader: InteractGrader, rule: bool | None, passed: bool
) -> None:
    plain, distinct = NAMES, "SELECT\nDISTINCT name FROM item"
    conditions = Conditions(distinct=rule)
    assert grader.grade(query(plain, conditions=conditions), distinct).passed is passed
    assert grader.grade(query(distinct, conditions=conditions), plain).passed is passed
    assert grader.grade(query(distinct, conditions=conditions), distinct).passed


def test_distinct_inside_an_aggregate_always_counts(grader: InteractGrader) -> None:
    job = query("SELECT COUNT(DISTINCT name) FROM item", conditions=Conditions(distinct=False))
    assert not grader.grade(job, "SELECT COUNT(name) FROM item").passed
    same = query("SELECT 1 FROM item WHERE name IS NOT 'x'", conditions=Conditions(distinct=False))
    assert grader.grade(same, same.gold[0]).passed


def test_numbers_agree_at_the_stated_precision(grader: InteractGrader) -> None:
    gold = "SELECT ROUND(SUM(price) / 3 + 0.001, 2) * 100 FROM item"
    assert grader.grade(query("SELECT ROUND(price / 7, 2) FROM item"), "SELECT price / 7 FROM item").passed
    four = Conditions(decimal=4)
    assert not grader.grade(query(gold, conditions=four), gold.replace("0.001", "0.006")).passed


def test_both_empty_fails_and_is_flagged(grader: InteractGrader) -> None:
    grade = grader.grade(query("SELECT 1 WHERE 0"), "SELECT 2 WHERE 0")
    assert (grade.status, "both_empty" in grade.flags) == ("wrong_result", True)


def test_only_the_last_gold_statement_counts(grader: InteractGrader) -> None:
    temp = "CREATE TEMP TABLE pick AS SELECT name FROM item WHERE id < 3"
    for gold in ((temp, "SELECT name FROM pick"), (f"{temp}; SELECT name FROM pick",)):
        assert grader.grade(query(*gold), "SELECT name FROM item WHERE id IN (1, 2)").passed


def test_setup_and_base_hold_on_both_sides(grader: InteractGrader) -> None:
    job = query(
        "SELECT count(*) FROM item",
        setup=("DELETE FROM item WHERE id = 4",),
        base_gold=("DELETE FROM item WHERE id = 1",),
        base_pred=("DELETE FROM item WHERE id = 2",),
    )
    assert grader.grade(job, "SELECT 2").passed
    assert grader.grade(job, "SELECT count(*) FROM item WHERE id IN (1, 3)").passed


@pytest.mark.parametrize("fields", [{"setup": ("BAD",)}, {"base_gold": ("BAD",)}], ids=str)
@pytest.mark.parametrize("category", ["Query", "Management"])
def test_a_benchmark_that_does_not_run_is_not_the_models_failure(
    grader: InteractGrader, fields: Any, category: Any
) -> None:
    job = GradingJob("shop", category, ("SELECT 1",), tests=ANYTHING, **fields)
    grade = grader.grade(job, "SELECT 1")
    assert (grade.status, grade.passed) == ("infra_error", False)
    assert grade.error is not None


@pytest.mark.parametrize("gold", [("SELECT nam FROM item",), ("BAD", "SELECT 1"), ()])
@pytest.mark.parametrize("category", ["Query", "Management"])
def test_a_gold_that_does_not_run(grader: InteractGrader, gold: Any, category: Any) -> None:
    job = GradingJob("shop", category, gold, tests=ANYTHING)
    assert grader.grade(job, "SELECT 1").status == "infra_error"


def test_the_gold_is_remembered_only_on_pristine_data(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_LONG", -1.0)
    grader = local_interact(source)
    for _ in range(3):
        grader.grade(query(NAMES), NAMES)
    assert source.opened == 4
    for _ in range(2):
        grader.grade(query(NAMES, setup=("DELETE FROM sale",)), NAMES)
    assert source.opened == 8


ADD = "INSERT INTO item VALUES (5, 'cap', 0.5)"

# prediction, status, whether the state is another than the gold's
MANAGEMENT = {
    "the same": (ADD, "passed", False),
    "another way": ("INSERT INTO item(price, name, id) SELECT 0.5, 'cap', 5;", "passed", False),
    "nothing done": ("SELECT 1", "passed", True),
    "undone": (f"BEGIN; {ADD}; ROLLBACK", "passed", True),
    "an error": ("INSERT INTO items VALUES (5)", "sql_error", False),
    "an error later": (f"{ADD}; BAD", "sql_error", False),
    "blank": ("", "no_submission", False),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("prediction", "status", "differs"), MANAGEMENT.values(), ids=MANAGEMENT.keys())
def test_management(grader: InteractGrader, prediction: str, status: str, differs: bool) -> None:
    """The tests look at nothing; that the state is another is told, and decides nothing."""
    grade = grader.grade(management(ADD), prediction)
    assert (grade.status, grade.passed) == (status, status == "passed"), grade.reason
    assert ("state_disagrees" in grade.flags) == differs
    assert bool(grade.reason) == (not grade.passed)


@pytest.mark.parametrize("prediction", [ADD, "SELECT 1", "BAD"])
def test_without_a_test_case_there_is_no_verdict(grader: InteractGrader, prediction: str) -> None:
    grade = grader.grade(management(ADD, tests=()), prediction)
    assert (grade.status, grade.passed) == ("test_error", False)
    assert "no test case" in grade.reason


def test_follow_ups_start_where_the_first_phase_ended(grader: InteractGrader) -> None:
    job = management(
        "INSERT INTO t VALUES (1)",
        base_gold=("CREATE TABLE t (a INT)",),
        base_pred=("CREATE TABLE t (a INT);",),
    )
    assert grader.grade(job, "INSERT INTO t SELECT 1").passed
    alone = management("INSERT INTO t VALUES (1)", base_gold=job.base_gold)
    assert grader.grade(alone, "INSERT INTO t SELECT 1").status == "sql_error"


def test_a_follow_up_starts_from_what_was_kept_instead_of_running_it_again(
    grader: InteractGrader,
) -> None:
    """Random values, say, would be others the second time."""
    first = management("CREATE TABLE t (a INT)", keeps_state=True, cleanup=("INSERT INTO t VALUES (7)",))
    failed = grader.grade(replace(first, tests=NOT_THE_SHORTER), "CREATE TABLE t (a)")
    assert not failed.passed and failed.left is None, "only what passed is kept"
    passed = grader.grade(first, "CREATE TABLE t (a INT)")
    assert passed.left is not None
    assert grader.grade(replace(first, keeps_state=False), "CREATE TABLE t (a INT)").left is None
    follow_up = management(
        "INSERT INTO t VALUES (1)",
        base_gold=("CREATE TABLE t (a INT); INSERT INTO t VALUES (7)",),
        base_pred=("THIS WOULD FAIL",),
        start=passed.left,
    )
    assert grader.grade(follow_up, "INSERT INTO t SELECT count(*) FROM t") == Grade(True, "passed")
    assert not grader.grade(replace(follow_up, start=None), "INSERT INTO t VALUES (1)").passed


def test_what_is_kept_has_been_cleaned_up_even_where_states_were_compared_before(
    grader: InteractGrader,
) -> None:
    undone = management("CREATE TABLE t (a INT)", cleanup=("DROP TABLE t",), keeps_state=True)
    grade = grader.grade(undone, "CREATE TABLE t (a INT)")
    assert grade.passed and "cleanup_undoes_gold" in grade.flags and grade.left is not None
    after = management("CREATE TABLE t (b)", base_gold=("SELECT 1",), start=grade.left)
    assert grader.grade(after, "CREATE TABLE t (b)").passed


def test_cleanup_runs_before_states_are_compared(grader: InteractGrader) -> None:
    """Scratch tables that the clean-up drops do not count; its errors do not either."""
    cleanup = ("DROP TABLE nowhere", "DROP TABLE IF EXISTS scratch")
    prediction = f"CREATE TABLE scratch AS SELECT 1; {ADD}"
    assert grader.grade(management(ADD, cleanup=cleanup), prediction).flags == ()
    assert grader.grade(management(ADD), prediction).flags == ("state_disagrees",)


def test_a_cleanup_that_undoes_the_gold_hides_nothing(grader: InteractGrader) -> None:
    job = management(ADD, cleanup=("DELETE FROM item WHERE id = 5",))
    idle = grader.grade(job, "SELECT 1")
    assert idle.flags == ("cleanup_undoes_gold", "state_disagrees")
    assert grader.grade(job, ADD).flags == ("cleanup_undoes_gold",)


def test_a_gold_that_changes_nothing_is_flagged(grader: InteractGrader) -> None:
    assert grader.grade(management("SELECT 1"), "SELECT 2").flags == ("gold_changes_nothing",)


def test_a_gold_state_that_cannot_be_read_whole(source: Any) -> None:
    grader = InteractGrader(source, Limits(rows=3))
    assert grader.grade(management("DELETE FROM sale"), "DELETE FROM sale").status == "infra_error"


def test_the_same_grade_again(grader: InteractGrader) -> None:
    for job, prediction in ((query(NAMES), "SELECT 1"), (management(ADD), "SELECT 1")):
        assert grader.grade(job, prediction) == grader.grade(job, prediction)


HOLDS_CAP = TEST + (
    "rows, err, timeout = execute_queries('SELECT price FROM item WHERE name = \\'cap\\'', db_name, conn)\n"
    "    execute_queries('DROP TABLE sale', db_name, conn)\n"
    "    assert [row[0] for row in rows] == [0.5]\n"
)
"""A test of what matters, which leaves the database broken."""

# tests, prediction, status, flags
TESTED = {
    "as the gold": ([HOLDS_CAP], ADD, "passed", ()),
    "what the tests do not look at": (
        [HOLDS_CAP],
        f"{ADD}; DELETE FROM sale",
        "passed",
        ("state_disagrees",),
    ),
    "what the tests look at": ([HOLDS_CAP], ADD.replace("0.5", "0.7"), "wrong_result", ()),
    "the state is right, the text is not": (
        [TEST + "assert 'VALUES' in pred_sqls[0]"],
        "INSERT INTO item SELECT 5, 'cap', 0.5",
        "wrong_result",
        ("state_disagrees",),
    ),
    "every test counts": (
        [HOLDS_CAP, TEST + "assert 'pen' not in pred_sqls[0]"],
        ADD + "-- pen",
        "wrong_result",
        (),
    ),
    "an error": ([HOLDS_CAP], "BAD", "sql_error", ()),
    "undone": ([HOLDS_CAP], f"BEGIN; {ADD}; ROLLBACK", "wrong_result", ()),
    "never committed": ([HOLDS_CAP], f"BEGIN; {ADD}", "wrong_result", ()),
    "a test that does not pass on the gold's state": ([TEST + "assert False"], ADD, "test_error", ()),
    "the same, and bad SQL": ([TEST + "assert False"], "BAD", "test_error", ()),
    "a test that does not compile": (["def test_case(:"], ADD, "test_error", ()),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("tests", "prediction", "status", "flags"), TESTED.values(), ids=TESTED.keys())
def test_test_cases_decide(
    grader: InteractGrader, tests: list[str], prediction: str, status: str, flags: tuple[str, ...]
) -> None:
    """Also over a state that says otherwise; and what the tests do is not the prediction's doing."""
    job = management(ADD, tests=tuple(tests))
    for _ in range(2):
        grade = grader.grade(job, prediction)
        if "state_disagrees" in flags or status in ("sql_error", "passed", "test_error"):
            assert grade.flags == flags
        assert grade.status == status, grade.reason
        assert bool(grade.reason) == (not grade.passed)


def test_tests_run_before_the_clean_up_and_leave_nothing_behind(grader: InteractGrader) -> None:
    cleanup = ("DELETE FROM item WHERE id = 5",)
    first = management(ADD, tests=(HOLDS_CAP,), cleanup=cleanup, keeps_state=True)
    grade = grader.grade(first, ADD)
    assert grade.passed and grade.flags == ("cleanup_undoes_gold",) and grade.left is not None
    follow_up = query("SELECT count(*) FROM sale", base_gold=("SELECT 1",), start=grade.left)
    assert grader.grade(follow_up, "SELECT 3").passed


def test_the_golds_own_tests_run_once(source: Any) -> None:
    grader = local_interact(source)
    for _ in range(3):
        grader.grade(management(ADD, tests=(HOLDS_CAP,)), ADD)
    assert source.opened == 4


def test_what_a_query_left_is_where_its_follow_up_starts_under_adk(grader: InteractGrader) -> None:
    """As it was after its first run, not after the second one with its text cut."""
    adk = GRADING_RULES["adk"]
    first = query("SELECT 5", rules=adk, keeps_state=True)
    grade = grader.grade(first, f"{ADD.replace('5, ', 'NULL, ')}; SELECT 5")
    assert grade.passed and grade.left is not None
    follow_up = query("SELECT count(*) FROM item", rules=adk, start=grade.left)
    assert grader.grade(follow_up, "SELECT 5").passed
    assert not grader.grade(replace(follow_up, start=None), "SELECT 5").passed


def test_errors_of_the_set_up_are_ignored_under_published_rules(grader: InteractGrader) -> None:
    """And what comes after them is not run: it is one list to the evaluator."""
    shell = GRADING_RULES["shell"]
    job = query("SELECT count(*) FROM item", setup=("BAD",), base_pred=("DELETE FROM item",), rules=shell)
    assert grader.grade(job, "SELECT 4").passed
    job = replace(job, setup=("DELETE FROM item WHERE id = 1",), base_pred=())
    assert grader.grade(job, "SELECT 3").passed


BY_STATE = {
    "another way to the same state": ("DELETE FROM item WHERE NOT id <= 2", "passed", ""),
    "other rows": ("DELETE FROM item WHERE id = 4", "wrong_result", "item"),
    "nothing done": ("SELECT 1", "wrong_result", "item"),
    "not committed": ("BEGIN; DELETE FROM item WHERE id > 2", "wrong_result", "item"),
    "too much done": ("DELETE FROM item WHERE id > 2; CREATE TABLE more (a)", "wrong_result", "table more"),
    "an error": ("DELETE FROM nowhere", "sql_error", "nowhere"),
}


@pytest.mark.parametrize(("prediction", "status", "reason"), BY_STATE.values(), ids=BY_STATE.keys())
def test_states_decide_without_test_cases_where_the_task_says_so(
    grader: InteractGrader, prediction: str, status: str, reason: str
) -> None:
    job = management("DELETE FROM item WHERE id > 2", tests=())
    assert grader.grade(job, prediction).status == "test_error"
    grade = grader.grade(replace(job, by_state=True), prediction)
    assert (grade.status, grade.passed) == (status, status == "passed")
    assert reason in grade.reason


def test_a_gold_that_changes_nothing_says_nothing_by_its_state(grader: InteractGrader) -> None:
    assert grader.grade(management("SELECT 1", tests=(), by_state=True), "SELECT 1").status == "test_error"
