"""The published acceptance cases (BIRD-Interact §8): what each set of rules makes of them.

`shell` verdicts are those of the reference evaluator; `strict` are ours. `adk` judges rows as `shell` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from birdenv.databases import DatabaseSource, Limits
from birdenv.grading import InteractGrader
from birdenv.grading.compare import Conditions
from birdenv.grading.interact import GRADING_RULES, Grade, GradingJob

ORDER = Conditions(order=True)
PASS, FAIL = "passed", "wrong_result"


class Vector(NamedTuple):
    gold: str
    pred: str
    shell: str
    strict: str
    conditions: Conditions = Conditions()


NAMES = "SELECT name FROM item"

# These write, or say nothing of types.
SQLITE = {
    "same rows, other order, no order flag": Vector(
        f"{NAMES} ORDER BY id", f"{NAMES} ORDER BY id DESC", PASS, PASS
    ),
    "other order, order flag": Vector(f"{NAMES} ORDER BY id", f"{NAMES} ORDER BY id DESC", FAIL, FAIL, ORDER),
    "rows doubled by UNION ALL": Vector(NAMES, f"{NAMES} UNION ALL {NAMES}", PASS, FAIL),
    "select, line end, distinct, against plain": Vector(
        f"{NAMES} ORDER BY name", "SELECT\nDISTINCT name FROM item ORDER BY name", FAIL, FAIL, ORDER
    ),
    "the same where the task says that DISTINCT does not matter": Vector(
        f"{NAMES} ORDER BY name",
        "SELECT\nDISTINCT name FROM item ORDER BY name",
        FAIL,
        PASS,
        Conditions(order=True, distinct=False),
    ),
    "COUNT(DISTINCT g) against COUNT(g)": Vector(
        "SELECT COUNT(DISTINCT name) FROM item", "SELECT COUNT(name) FROM item", FAIL, FAIL
    ),
    "IS DISTINCT FROM, identical SQL": Vector(
        "SELECT id FROM item WHERE name IS DISTINCT FROM 'pen'",
        "SELECT id FROM item WHERE name IS DISTINCT FROM 'pen'",
        FAIL,
        PASS,
    ),
    "4 decimals asked for": Vector("SELECT 1.2349", "SELECT 1.2312", PASS, FAIL, Conditions(decimal=4)),
    "1.005 and 1.01, float": Vector("SELECT 1.005", "SELECT 1.01", FAIL, PASS),
    "-0.001 and 0, float": Vector("SELECT -0.001", "SELECT 0.0", PASS, PASS),
    "1 and 1.0": Vector("SELECT 1", "SELECT 1.0", PASS, PASS),
    "text 1 and 1": Vector("SELECT '1'", "SELECT 1", FAIL, FAIL),
    "text 1.50 and 1.5": Vector("SELECT '1.50'", "SELECT 1.5", FAIL, FAIL),
    "both empty": Vector(f"{NAMES} WHERE 0", f"{NAMES} WHERE 0", FAIL, FAIL),
    "another column alias": Vector("SELECT name AS a FROM item", "SELECT name AS b FROM item", PASS, PASS),
    "another column order": Vector("SELECT id, name FROM item", "SELECT name, id FROM item", FAIL, FAIL),
    "20,000 duplicates against the set": Vector(
        "SELECT 1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT 1 FROM n",
        PASS,
        FAIL,
    ),
    "two statements in one string": Vector(NAMES, f"SELECT 1; {NAMES}", PASS, "sql_error"),
    "(a + b) * 100 against ROUND(a + b, 2) * 100": Vector(
        "SELECT ROUND(price + id, 2) * 100 FROM item", "SELECT (price + id) * 100 FROM item", FAIL, PASS
    ),
    "a temp table shadows": Vector(
        "SELECT count(*) FROM item",
        "CREATE TEMP TABLE IF NOT EXISTS item AS SELECT 1 AS id; SELECT 1",
        PASS,
        "sql_error",
    ),
    "UPDATE, then a constant": Vector(
        "SELECT max(price) FROM item", "UPDATE item SET price = 7; SELECT 7", PASS, "sql_error"
    ),
}

# These are about PostgreSQL's types and words.
POSTGRES = {
    "DISTINCT ON, identical SQL": Vector(
        "SELECT DISTINCT ON (name) id FROM item ORDER BY name, id",
        "SELECT DISTINCT ON (name) id FROM item ORDER BY name, id",
        FAIL,
        PASS,
    ),
    "IS DISTINCT FROM, identical SQL": Vector(
        "SELECT 1 IS DISTINCT FROM 2", "SELECT 1 IS DISTINCT FROM 2", FAIL, PASS
    ),
    "4 decimals asked for": Vector(
        "SELECT 1.2349::numeric", "SELECT 1.2312::numeric", PASS, FAIL, Conditions(decimal=4)
    ),
    "1.005 and 1.01, numeric": Vector("SELECT 1.005::numeric", "SELECT 1.01::numeric", PASS, PASS),
    "1.005 and 1.01, float": Vector("SELECT 1.005::float8", "SELECT 1.01::float8", FAIL, PASS),
    "-0.001 and 0, float": Vector("SELECT -0.001::float8", "SELECT 0::float8", PASS, PASS),
    "1 and 1.0": Vector("SELECT 1", "SELECT 1.0::numeric", PASS, PASS),
    "true and 1": Vector("SELECT true", "SELECT 1", PASS, FAIL),
    "text 1 and 1": Vector("SELECT '1'::text", "SELECT 1", FAIL, FAIL),
    "text 1.50 and numeric 1.5": Vector("SELECT '1.50'::text", "SELECT 1.5::numeric", FAIL, FAIL),
    "timestamps of one day": Vector(
        "SELECT timestamp '2024-01-01 01:00'", "SELECT timestamp '2024-01-01 09:00'", PASS, FAIL
    ),
    "date and timestamp of one day": Vector(
        "SELECT date '2024-01-01'", "SELECT timestamp '2024-01-01 09:00'", PASS, PASS
    ),
    "NaN and NaN, float": Vector("SELECT 'NaN'::float8", "SELECT 'NaN'::float8", FAIL, PASS),
    "NaN and NaN, numeric": Vector("SELECT 'NaN'::numeric", "SELECT 'NaN'::numeric", FAIL, PASS),
    "identical numeric[]": Vector("SELECT ARRAY[1.5, 2.5]", "SELECT ARRAY[1.5, 2.5]", FAIL, PASS),
    "identical date[]": Vector(
        "SELECT ARRAY[date '2024-01-01']", "SELECT ARRAY[date '2024-01-01']", FAIL, PASS
    ),
    "1e40, numeric": Vector("SELECT 1e40::numeric", "SELECT 1e40::numeric", FAIL, PASS),
    "JSON at 2 decimals": Vector(
        """SELECT '{"a": 1.239}'::jsonb""", """SELECT '{"a": 1.241}'::jsonb""", PASS, PASS
    ),
    "JSON at 3 decimals": Vector(
        """SELECT '{"a": 1.239}'::jsonb""",
        """SELECT '{"a": 1.241}'::jsonb""",
        PASS,
        FAIL,
        Conditions(decimal=3),
    ),
    "JSON as text and as a value": Vector(
        """SELECT '{"a": 1.5}'::text""", """SELECT '{"b": 1.5}'::jsonb""", FAIL, FAIL
    ),
    "1 day and 24 hours": Vector("SELECT interval '1 day'", "SELECT interval '24 hours'", PASS, PASS),
    "two statements in one string": Vector("SELECT 2", "SELECT 1; SELECT 2", PASS, "sql_error"),
    "a temp table shadows": Vector(
        "SELECT count(*) FROM item",
        "CREATE TEMP TABLE IF NOT EXISTS item (id int); SELECT 0",
        PASS,
        "sql_error",
    ),
    "UPDATE, then a constant": Vector(
        "SELECT max(price) FROM item", "UPDATE item SET price = 7; SELECT 7", PASS, "sql_error"
    ),
}
RULES = ["shell", "adk", "strict"]


def expected(vector: Vector, rules: str) -> str:
    return vector.strict if rules == "strict" else vector.shell


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", SQLITE)
def test_on_sqlite(source: Any, name: str, rules: str) -> None:
    vector = SQLITE[name]
    grade = grade_of(InteractGrader(source, Limits(seconds=5)), "shop", vector, rules)
    assert grade.status == expected(vector, rules), grade.reason
    assert bool(grade.reason) == (not grade.passed)


@pytest.fixture(scope="session")
def postgres(shop_on_postgres: DatabaseSource) -> InteractGrader:
    return InteractGrader(shop_on_postgres, Limits(seconds=5))


@pytest.mark.every(4)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", POSTGRES)
def test_on_postgres(postgres: InteractGrader, name: str, rules: str) -> None:
    vector = POSTGRES[name]
    grade = grade_of(postgres, "shop", vector, rules)
    assert grade.status == expected(vector, rules), grade.reason


def grade_of(grader: InteractGrader, database: str, vector: Vector, rules: str) -> Grade:
    job = GradingJob(database, "Query", (vector.gold,), vector.conditions, rules=GRADING_RULES[rules])
    return grader.grade(job, vector.pred)


def test_a_json_text_that_looks_like_the_value_passes_under_shell(postgres: InteractGrader) -> None:
    """Both become the same text; §8 says fail, which holds where the spelling differs."""
    vector = Vector("""SELECT '{"a": 1.5}'::text""", """SELECT '{"a": 1.5}'::jsonb""", PASS, FAIL)
    assert grade_of(postgres, "shop", vector, "shell").status == PASS
    assert grade_of(postgres, "shop", vector, "strict").status == FAIL


ADD = "INSERT INTO item VALUES (5, 'cap', 0.5)"
RETURNING = "UPDATE item SET price = 9 WHERE id = 1 RETURNING id, price"
HEAD = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n"
ASKS = "    rows, err, timeout = execute_queries({}, db_name, conn)\n    assert rows[0][0] == 'cap'\n"
LOOK = "SELECT name FROM item WHERE id = 5"

# tests, SQL of both sides, and what shell, adk and strict make of it
MANAGEMENT = {
    "a test passes a list": ([HEAD + ASKS.format([LOOK])], ADD, PASS, PASS, PASS),
    "a test passes a str": ([HEAD + ASKS.format(repr(LOOK))], ADD, FAIL, PASS, PASS),
    "a helper of the snippet is used": (
        [f"def helper():\n    return 1\n\n{HEAD}    assert helper() == 1"],
        ADD,
        FAIL,
        FAIL,
        PASS,
    ),
    "ex_base is used": (
        [f"{HEAD}    assert ex_base({[LOOK]}, {[LOOK]}, db_name, conn) == 1"],
        ADD,
        FAIL,
        PASS,
        PASS,
    ),
    "a callable is imported": ([f"from datetime import date\n{HEAD}    pass"], ADD, FAIL, PASS, PASS),
    "a syntax error in the test, same rows": (["def test_case(:"], RETURNING, PASS, FAIL, "test_error"),
    "a syntax error in the test, no rows": (["def test_case(:"], ADD, FAIL, FAIL, "test_error"),
    "no tests, same rows": ([], RETURNING, PASS, PASS, "test_error"),
    "a test under a condition": (
        ["if True:\n    def test_case(pred_sqls, sol_sqls, db_name, conn):\n        assert False"],
        RETURNING,
        FAIL,
        FAIL,
        "test_error",
    ),
    "a test that is a lambda": (["test_case = lambda *_: 1 / 0"], RETURNING, FAIL, FAIL, "test_error"),
    "a lambda that is no test": (["check = lambda *_: None"], ADD, PASS, PASS, "test_error"),
    "0 is returned without assert": ([HEAD + "    return 0"], ADD, PASS, PASS, PASS),
    "no test_case": (["def check(*_):\n    assert False"], ADD, FAIL, PASS, "test_error"),
    "the test fails": ([HEAD + "    assert False"], ADD, FAIL, FAIL, "test_error"),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", MANAGEMENT)
def test_management(engine: DatabaseSource, name: str, rules: str) -> None:
    tests, sql, shell, adk, strict = MANAGEMENT[name]
    wanted = {"shell": shell, "adk": adk, "strict": strict}[rules]
    job = GradingJob("shop", "Management", (sql,), tests=tuple(tests), rules=GRADING_RULES[rules])
    grade = InteractGrader(engine).grade(job, sql)
    assert grade.status == wanted, grade.reason
    no_test_case = name in ("no test_case", "a lambda that is no test")
    untested = not tests or "syntax" in name or (no_test_case and rules == "adk")
    flagged = grade.passed and untested and rules != "strict"
    assert ("integrity" in grade.flags) == ("no_usable_test" in grade.flags) == flagged


# What the reference does to the text breaks this SQL; on pristine data it is right.
HOLES = {
    "a temp table shadows": SQLITE["a temp table shadows"],
    "UPDATE, then a constant": SQLITE["UPDATE, then a constant"],
}


@pytest.mark.every(2)
@pytest.mark.parametrize("rules", ["shell", "adk"])
@pytest.mark.parametrize("name", HOLES)
@pytest.mark.parametrize("setup", [(), ("DELETE FROM sale",)], ids=["pristine", "set up"])
def test_holes_pass_and_are_flagged(
    engine: DatabaseSource, name: str, rules: str, setup: tuple[str, ...]
) -> None:
    vector = HOLES[name]
    job = GradingJob("shop", "Query", (vector.gold,), setup=setup, rules=GRADING_RULES[rules])
    grader = InteractGrader(engine)
    assert grader.grade(job, vector.pred).flags == ("integrity",)
    assert grader.grade(job, vector.gold).flags == ()
    harmless = f"CREATE TEMP TABLE scratch AS {vector.gold}; SELECT * FROM scratch; {vector.gold}"
    again = grader.grade(job, harmless)
    assert (again.status, again.flags) == (FAIL, ()), "the second run collides with the first"
    harmless = harmless.replace("TABLE scratch", "TABLE IF NOT EXISTS scratch")
    again = grader.grade(job, harmless)
    assert (again.status, again.flags) == (PASS, ()), "it writes, and gains nothing by it"


@pytest.mark.parametrize("rules", RULES)
def test_the_pristine_copy_is_never_changed(engine: DatabaseSource, rules: str) -> None:
    hole = HOLES["UPDATE, then a constant"]
    grader = InteractGrader(engine)
    for _ in range(2):
        grade_of(grader, "shop", hole, rules)
        plain = Vector(hole.gold, hole.gold, PASS, PASS)
        assert grade_of(grader, "shop", plain, rules).status == PASS


def test_a_gold_that_fails_after_the_prediction_is_its_failure_under_shell(engine: DatabaseSource) -> None:
    job = GradingJob("shop", "Query", (NAMES,), rules=GRADING_RULES["shell"])
    with_views = " CASCADE" if engine.dialect == "postgres" else ""
    grade = InteractGrader(engine).grade(job, f"DROP TABLE IF EXISTS item{with_views}; SELECT 1")
    assert (grade.status, grade.flags) == (FAIL, ("gold_failed",))


def test_only_the_first_10000_rows_of_a_select_count(engine: DatabaseSource) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"
    vector = Vector(numbers.format(10_000), numbers.format(10_001), PASS, FAIL)
    grader = InteractGrader(engine)
    assert grade_of(grader, "shop", vector, "shell").status == PASS
    assert grade_of(grader, "shop", vector, "strict").status == FAIL


def test_each_text_is_committed_under_shell(engine: DatabaseSource) -> None:
    """A transaction that is left open would meet its own BEGIN in the second run."""
    grader = InteractGrader(engine)
    assert grade_of(grader, "shop", Vector(NAMES, f"BEGIN; {NAMES}", PASS, FAIL), "shell").status == PASS
    changing = Vector("SELECT max(price) FROM item", "BEGIN; UPDATE item SET price = 7; SELECT 7", PASS, FAIL)
    grade = grade_of(grader, "shop", changing, "shell")
    assert (grade.status, grade.flags) == (PASS, ("integrity",))
