"""EX on real SQLite databases: verdicts, isolation, what is remembered."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from local_graders import local_ex

from birdenv.databases import Limits
from birdenv.errors import InputError
from birdenv.grading import LEAST_FETCHED, ExGrader
from birdenv.grading._reads import reads_clock

NAMES = "SELECT name FROM item"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def grader(source: Any) -> ExGrader:
    return ExGrader(source, Limits(seconds=0.2))


# prediction against NAMES: status, ex, ex_bird, part of the reason
VERDICTS = {
    "the same": (NAMES, "passed", True, True, ""),
    "another row order": (NAMES + " ORDER BY price DESC", "passed", True, True, ""),
    "trailing semicolon": (NAMES + ";", "passed", True, True, ""),
    "DISTINCT": ("SELECT DISTINCT name FROM item", "wrong_result", False, True, "duplicate rows differ"),
    "other rows": ("SELECT 'x'", "wrong_result", False, False, "4 rows expected, 1 returned"),
    "no such column": ("SELECT nam FROM item", "sql_error", False, False, "no such column: nam"),
    "no SQL": ("there is none", "sql_error", False, False, "the query failed"),
    "a comment": ("-- none", "sql_error", False, False, "the query failed"),
    "a fence": (f"```sql\n{NAMES}\n```", "sql_error", False, False, "the query failed"),
    "endless": (ENDLESS, "sql_timeout", False, False, "timeout"),
    "two statements": (f"{NAMES}; {NAMES}", "sql_error", False, False, "the query failed"),
    "a statement that writes": ("DELETE FROM item", "sql_error", False, False, "denied"),
    "a write that returns rows": (
        "DELETE FROM item RETURNING name",
        "sql_error",
        False,
        False,
        "denied",
    ),
    "EXPLAIN": (f"EXPLAIN {NAMES}", "sql_error", False, False, "denied"),
    "PRAGMA": ("PRAGMA user_version", "sql_error", False, False, "denied"),
    "blank": (" \n", "no_submission", False, False, "no SQL was submitted"),
    "none": (None, "no_submission", False, False, "no SQL was submitted"),
}


@pytest.mark.parametrize(
    ("prediction", "status", "ex", "ex_bird", "reason"), VERDICTS.values(), ids=VERDICTS.keys()
)
def test_verdicts(
    grader: ExGrader, prediction: str | None, status: str, ex: bool, ex_bird: bool, reason: str
) -> None:
    verdict = grader.grade("shop", [NAMES], prediction)
    assert (verdict.status, verdict.ex, verdict.ex_bird) == (status, ex, ex_bird)
    assert reason in verdict.reason
    assert bool(verdict.reason) == (not ex)
    assert "\n" not in verdict.reason
    assert (verdict.error is not None) == (status in ("sql_error", "sql_timeout"))
    assert verdict.matched_gold == (0 if ex else None)


def test_counts_flags_and_results(grader: ExGrader) -> None:
    verdict = grader.grade("shop", [NAMES], "SELECT DISTINCT name FROM item")
    assert (verdict.rows_gold, verdict.rows_pred, verdict.flags) == (4, 3, ("dup_only",))
    assert verdict.gold_result is not None
    assert verdict.pred_result is not None
    assert verdict.gold_seconds >= 0
    assert verdict.pred_seconds >= 0


@pytest.mark.parametrize("gold", ["SELECT 1 WHERE 0", "SELECT NULL, NULL"])
def test_a_gold_that_proves_little_is_marked(grader: ExGrader, gold: str) -> None:
    assert grader.grade("shop", [gold], gold).gold_empty
    assert not grader.grade("shop", [NAMES], NAMES).gold_empty


def test_nothing_that_returns_no_rows_equals_an_empty_gold(grader: ExGrader) -> None:
    for prediction in (";", "-- x", "BEGIN", "CREATE TABLE x (a)", "ATTACH ':memory:' AS other"):
        assert not grader.grade("shop", ["SELECT 1 WHERE 0"], prediction).ex


def test_any_of_several_golds(grader: ExGrader) -> None:
    golds = ["SELECT 1", "SELECT 2", NAMES]
    verdict = grader.grade("shop", golds, NAMES)
    assert (verdict.ex, verdict.matched_gold, verdict.rows_gold) == (True, 2, 4)
    verdict = grader.grade("shop", golds, "SELECT 3")
    assert (verdict.ex, verdict.matched_gold) == (False, None)
    assert "expected (1), returned (3)" in verdict.reason


def test_a_gold_that_fails(grader: ExGrader) -> None:
    verdict = grader.grade("shop", ["SELECT nam FROM item"], NAMES)
    assert (verdict.status, verdict.ex, verdict.ex_bird) == ("gold_error", False, False)
    assert verdict.error is not None
    assert "no such column" in verdict.reason
    assert grader.grade("shop", [], NAMES).status == "gold_error"


def test_a_failed_gold_beside_a_good_one(grader: ExGrader) -> None:
    golds = ["SELECT nam FROM item", NAMES]
    assert grader.grade("shop", golds, NAMES).matched_gold == 1
    assert grader.grade("shop", golds, "SELECT 1").status == "wrong_result"


def test_a_gold_beyond_the_row_limit_grades_nothing(source: Any) -> None:
    verdict = ExGrader(source, Limits(rows=2)).grade("shop", [NAMES], NAMES)
    assert verdict.status == "gold_error"


def test_an_unknown_database_is_the_callers_fault(grader: ExGrader) -> None:
    with pytest.raises(InputError):
        grader.grade("nowhere", [NAMES], NAMES)


def test_cleaning_counts_for_ex_and_never_for_ex_bird(source: Any) -> None:
    fenced = f"```sql\n{NAMES}\n```"
    verdict = ExGrader(source, clean=True).grade("shop", [NAMES], fenced)
    assert (verdict.ex, verdict.ex_bird) == (True, False)
    assert verdict.clean_steps == ("code_fence", "whitespace")
    assert ExGrader(source).grade("shop", [NAMES], fenced).clean_steps == ()
    assert ExGrader(source, clean=True).grade("shop", [NAMES], "-- x").status == "no_submission"


def test_a_gold_runs_once(source: Any) -> None:
    grader = local_ex(source)
    for prediction in ("SELECT 1", "SELECT 2", NAMES + " "):
        grader.grade("shop", [NAMES], prediction)
    assert source.opened == 4


def test_a_prediction_that_is_the_golds_text_is_not_run_again(source: Any) -> None:
    grader = local_ex(source)
    first, second = (grader.grade("shop", [NAMES, "SELECT 1"], NAMES) for _ in range(2))
    assert source.opened == 2
    assert first == second == grader.grade("shop", [NAMES, "SELECT 1"], NAMES)
    assert (first.ex, first.ex_bird, first.rows_pred, first.matched_gold) == (True, True, 4, 0)
    clock = "SELECT random()"
    assert not grader.grade("shop", [clock], clock).ex


def test_a_gold_that_reads_the_clock_runs_each_time(source: Any) -> None:
    grader = local_ex(source)
    for _ in range(3):
        grader.grade("shop", ["SELECT date('now') > '2000'"], "SELECT 1")
    assert source.opened == 6


def test_a_gold_runs_again_on_changed_data(root: Path) -> None:
    from birdenv.databases import SqliteSource

    grader = ExGrader(SqliteSource(root))
    assert grader.grade("shop", ["SELECT count(*) FROM sale"], "SELECT 3").ex
    connection = sqlite3.connect(root / "shop" / "shop.sqlite")
    connection.executescript("CREATE TABLE more (a); INSERT INTO sale VALUES (3, '2024-01-03')")
    connection.close()
    assert grader.grade("shop", ["SELECT count(*) FROM sale"], "SELECT 4").ex


def test_threads_share_a_grader(source: Any) -> None:
    grader = ExGrader(source)
    predictions = [sql for number in range(20) for sql in (NAMES, f"SELECT {number}")]
    with ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(lambda sql: grader.grade("shop", [NAMES], sql).ex, predictions))
    assert verdicts == [True, False] * 20


COUNTED = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{}) SELECT {} FROM n"


def test_fetching_stops_at_the_rows_that_decide(grader: ExGrader) -> None:
    """Endless rows, one of which is none of the gold's."""
    verdict = grader.grade("shop", [NAMES], COUNTED.format("", "i"))
    assert (verdict.status, verdict.ex, verdict.ex_bird) == ("wrong_result", False, False)
    assert verdict.reason == "4 rows expected, more than 1001 returned"
    assert verdict.rows_pred is None
    assert verdict.pred_result is not None and verdict.pred_result.truncated
    assert verdict.returned == "(1)"


def test_rows_that_the_gold_has_are_read_to_their_end(grader: ExGrader, source: Any) -> None:
    """The set rule may still hold, and does."""
    names = "(SELECT name FROM item WHERE id = 1 + i % 4)"
    verdict = grader.grade("shop", [NAMES], COUNTED.format(" WHERE i < 5000", names))
    assert (verdict.ex, verdict.ex_bird, verdict.flags) == (False, True, ("dup_only",))
    assert verdict.reason == "duplicate rows differ: 4 rows expected, 5000 returned"
    assert verdict.rows_pred == 5000
    hasty = ExGrader(source, Limits(seconds=0.2))  # too short for as many rows as are ever fetched
    verdict = hasty.grade("shop", [NAMES], COUNTED.format("", "'pen'"))
    assert (verdict.status, verdict.ex_bird) == ("sql_timeout", False)


def test_one_foreign_row_behind_many_of_the_golds(grader: ExGrader) -> None:
    last = "CASE WHEN i = 5000 THEN 'foreign' ELSE (SELECT name FROM item WHERE id = 1 + i % 4) END"
    verdict = grader.grade("shop", [NAMES], COUNTED.format(" WHERE i < 5000", last))
    assert (verdict.status, verdict.ex_bird, verdict.flags) == ("wrong_result", False, ())


@pytest.mark.parametrize("rows", [999, 1000, 1001, 1002, 3000])
def test_large_golds_are_compared_whole(grader: ExGrader, rows: int) -> None:
    gold = COUNTED.format(f" WHERE i < {rows}", "i")
    assert grader.grade("shop", [gold], gold).ex
    more = COUNTED.format(f" WHERE i < {rows + 1}", "i")
    assert not grader.grade("shop", [gold], more).ex
    assert not grader.grade("shop", [more], gold).ex
    assert grader.grade("shop", [gold], COUNTED.format(f" WHERE i < {2 * rows}", f"1 + i % {rows}")).ex_bird


def test_what_can_be_shown_of_a_prediction_says_nothing_of_the_gold(grader: ExGrader) -> None:
    prediction = COUNTED.format(" WHERE i < 1500", "i")
    golds = [NAMES, COUNTED.format(" WHERE i < 1400", "-i"), COUNTED.format(" WHERE i < 1600", "-i")]
    found = [grader.grade("shop", [gold], prediction).pred_result for gold in golds]
    shown = [result.rows[:LEAST_FETCHED] for result in found if result is not None]
    assert len(shown) == 3
    assert all(len(result.rows) > LEAST_FETCHED for result in found if result is not None)
    assert shown[0] == shown[1] == shown[2]


def test_another_order_than_the_golds_own_is_told(grader: ExGrader) -> None:
    gold = "SELECT id, name FROM item ORDER BY id"
    verdict = grader.grade("shop", [gold], gold + " DESC")
    assert (verdict.ex, verdict.flags) == (True, ("order_only",))
    assert grader.grade("shop", [gold], gold).flags == ()
    assert grader.grade("shop", [NAMES], NAMES + " ORDER BY price").flags == ()
    hidden = NAMES + " ORDER BY id"
    assert grader.grade("shop", [hidden], hidden + " DESC").flags == ("order_unchecked",)


def test_metrics_beside_ex(source: Any) -> None:
    grader = ExGrader(source, metrics=("ordered", "colperm", "superset", "soft_f1"))
    gold = "SELECT id, name FROM item ORDER BY id"
    expected = {
        gold: (True, 1, 1, 1, 1.0),
        "SELECT id, name FROM item ORDER BY id DESC": (True, 0, 1, 1, 0.0),
        "SELECT name, id FROM item": (False, 0, 1, 1, 1.0),
        "SELECT name, id, price FROM item": (False, 0, 0, 1, None),
        "SELECT nothing": (False, 0, 0, 0, 0.0),
        "": (False, 0, 0, 0, 0.0),
    }
    for prediction, (ex, *scores) in expected.items():
        verdict = grader.grade("shop", [gold], prediction)
        assert verdict.ex is ex
        for name, score in zip(("ordered", "colperm", "superset", "soft_f1"), scores, strict=True):
            assert score is None or verdict.metrics[name] == score, (prediction, name)
    best = grader.grade("shop", ["SELECT 1", gold], gold)
    assert set(best.metrics.values()) == {1.0}
    assert ExGrader(source).grade("shop", [gold], gold).metrics == {}


def test_soft_f1_sees_all_rows_of_a_prediction(source: Any) -> None:
    grader = ExGrader(source, metrics=("soft_f1",))
    verdict = grader.grade("shop", ["SELECT 1"], COUNTED.format(" WHERE i < 3000", "i"))
    assert verdict.metrics["soft_f1"] == pytest.approx(2 / 3001)


CLOCK = [
    "SELECT date('now')",
    'SELECT strftime("%Y", "NOW")',
    "SELECT CURRENT_TIMESTAMP",
    "SELECT current_date - birthday FROM t",
    "SELECT * FROM t ORDER BY random() LIMIT 1",
    "SELECT datetime ()",
    "SELECT date(/* today */)",
    "SELECT strftime('%Y') - 1",
    "SELECT now() - interval '1 day'",
    "SELECT age(date_trunc('day', born)) FROM t",
]
NO_CLOCK = [
    "SELECT strftime('%Y', day) FROM sale",
    "SELECT date(day, '+1 day') FROM sale",
    "SELECT age(a, b) FROM t",
    "SELECT age FROM t WHERE random = 1",
    "SELECT 1 -- date('now')",
    "SELECT 'it is now or never'",
    "SELECT date('2024-01-01') FROM known",
]


@pytest.mark.parametrize("sql", CLOCK)
def test_golds_that_read_the_clock(sql: str) -> None:
    assert reads_clock(sql)


@pytest.mark.parametrize("sql", NO_CLOCK)
def test_golds_that_do_not(sql: str) -> None:
    assert not reads_clock(sql)
