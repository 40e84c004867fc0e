"""EM and ESM: every row of the decision table, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from postgres_server import start_postgres

from birdenv.databases import Limits, NoAnswerError, QueryError, QueryResult, Result, SqliteSource
from birdenv.databases.postgres import PostgresQueries
from birdenv.grading import PairGrader
from birdenv.grading.em_esm import BUCKETS, PairRules, PairVerdict

ONE, TWO = QueryResult(("x",), [(1,)]), QueryResult(("x",), [(2,)])
LATE = QueryError("timeout", "stopped after 1 s")
BROKEN = QueryError("missing", "no such table: t")
DENIED = QueryError("denied", "only reading is allowed here")
FORBIDDEN = QueryError("denied", "permission denied for function f (SQLSTATE 42501)")
LARGE = QueryError("too_large", "the rows take more than 1 bytes")
CUT = QueryResult(("x",), [(1,)], truncated=True)
LOST = NoAnswerError("engine", "the connection was lost")
NEVER = QueryError("engine", "this query should not have been run")

ANSWERS: dict[str, Result] = {
    "SELECT one": ONE,
    "SELECT two": TWO,
    "SELECT late": LATE,
    "SELECT broken": BROKEN,
    "SELECT denied": DENIED,
    "SELECT forbidden": FORBIDDEN,
    "SELECT large": LARGE,
    "SELECT cut": CUT,
    "SELECT lost": LOST,
}


@dataclass
class Answers:
    """A database that knows the queries above, and remembers which were asked."""

    asked: list[str] = field(default_factory=list)

    def __call__(self, sql: str, db_id: str) -> Result:
        self.asked.append(sql)
        return ANSWERS.get(sql, NEVER)


def grade(gold: str, pred: str, **rules: Any) -> PairVerdict:
    return PairGrader(Answers(), "sqlite", PairRules(**rules)).grade(gold, pred)


# Row -> gold, prediction, em, esm, bucket, reason (its beginning), side.
TABLE: dict[str, tuple[str, str, bool | None, bool | None, str, str, str]] = {
    "1 both None": ("None", "None", True, True, "ok", "both_unanswerable", ""),
    "2 prediction empty": ("SELECT one", "", None, None, "skipped", "pred_empty", "pred"),
    "2 prediction empty after cleaning": (
        "SELECT one",
        "```sql\n```",
        None,
        None,
        "skipped",
        "pred_empty",
        "pred",
    ),
    "2 before 4": ("None", " ", None, None, "skipped", "pred_empty", "pred"),
    "3 gold empty": ("", "SELECT one", None, None, "skipped", "gold_empty", "gold"),
    "3 before 5": ("", "None", None, None, "skipped", "gold_empty", "gold"),
    "4 gold None": ("None", "SELECT one", False, False, "mismatch", "should_be_unanswerable", ""),
    "5 prediction None": ("SELECT one", "None", False, False, "mismatch", "wrongly_unanswerable", ""),
    "7 gold no query": ("DROP TABLE t", "SELECT one", False, None, "non_select", "gold: ", "gold"),
    "7 by key": ("DROP TABLE t", "drop table t;", True, None, "non_select", "gold: ", "gold"),
    "7 two statements": ("SELECT one; SELECT one", "SELECT one", False, None, "non_select", "gold: ", "gold"),
    "7 refused by the database": ("SELECT denied", "SELECT one", False, None, "non_select", "gold: ", "gold"),
    "8 prediction no query": ("SELECT one", "selectx", False, False, "non_select", "pred: ", "pred"),
    "8 refused by the database": (
        "SELECT one",
        "SELECT denied",
        False,
        False,
        "non_select",
        "pred: ",
        "pred",
    ),
    "8 before 9": ("SELECT late", "PRAGMA x", False, False, "non_select", "pred: ", "pred"),
    "9 gold too slow": ("SELECT late", "select late", True, None, "timeout", "timeout: ", "gold"),
    "10 gold fails": ("SELECT broken", "SELECT one", False, None, "gold_fail", "missing: ", "gold"),
    "10 gold may not": ("SELECT forbidden", "SELECT one", False, None, "gold_fail", "denied: ", "gold"),
    "12 may not": (
        "SELECT one",
        "SELECT forbidden",
        False,
        False,
        "pred_fail",
        "denied: ",
        "pred",
    ),
    "11 prediction too slow": ("SELECT one", "SELECT late", False, False, "timeout", "timeout: ", "pred"),
    "11 before 13": ("SELECT cut", "SELECT late", False, False, "timeout", "timeout: ", "pred"),
    "12 prediction fails": ("SELECT one", "SELECT broken", False, False, "pred_fail", "missing: ", "pred"),
    "13 gold too large": ("SELECT large", "SELECT one", False, None, "other_error", "cap: ", "gold"),
    "13 gold cut": ("SELECT cut", "SELECT cut", True, None, "other_error", "cap: ", "gold"),
    "13 prediction too large": ("SELECT one", "SELECT large", False, False, "other_error", "cap: ", "pred"),
    "13 prediction cut": ("SELECT one", "SELECT cut", False, False, "other_error", "cap: ", "pred"),
    "14 no answer to the gold": ("SELECT lost", "SELECT one", False, None, "other_error", "engine: ", "gold"),
    "14 no answer to the prediction": (
        "SELECT one",
        "SELECT lost",
        False,
        None,
        "other_error",
        "engine: ",
        "pred",
    ),
    "15 results agree": ("SELECT one", "select one -- 1", False, True, "ok", "", ""),
    "15 and the keys": ("SELECT one", "select  one ;", True, True, "ok", "", ""),
    "16 results differ": ("SELECT one", "SELECT two", False, False, "mismatch", "first differing row", ""),
}
ANSWERS |= {sql: answer for name, answer in ANSWERS.items() for sql in (name.replace("SELECT", "select"),)}
ANSWERS["select  one"] = ONE
TABLE["15 results agree"] = ("SELECT one", "select\tone, 1", False, True, "ok", "", "")
ANSWERS["select\tone, 1"] = ONE


@pytest.mark.parametrize("row", TABLE)
def test_decision_table(row: str) -> None:
    gold, pred, em, esm, bucket, reason, side = TABLE[row]
    verdict = grade(gold, pred)
    assert (verdict.em, verdict.esm, verdict.bucket, verdict.side) == (em, esm, bucket, side)
    assert verdict.reason.startswith(reason)
    assert bool(verdict.reason) is bool(reason)
    failed = bucket in ("timeout", "gold_fail", "pred_fail", "other_error")
    assert (verdict.error is not None) is failed


@pytest.mark.parametrize("row", TABLE)
def test_row_6_metrics_that_are_off(row: str) -> None:
    gold, pred, em, esm, bucket, *_ = TABLE[row]
    answers = Answers()
    verdict = PairGrader(answers, "sqlite", PairRules(esm=False)).grade(gold, pred)
    assert (verdict.em, verdict.esm, verdict.bucket) == (em, None, "skipped")
    assert verdict.reason in ("disabled", "pred_empty", "gold_empty")
    assert not answers.asked
    verdict = grade(gold, pred, em=False)
    assert (verdict.em, verdict.esm, verdict.bucket) == (None, esm, bucket)
    verdict = grade(gold, pred, em=False, esm=False)
    assert (verdict.em, verdict.esm, verdict.bucket) == (None, None, "skipped")


@pytest.mark.parametrize(("em", "esm", "clean"), list(product((True, False), repeat=3)))
def test_invariants(em: bool, esm: bool, clean: bool) -> None:
    queries = ["", "None", "null", "DROP TABLE t", *ANSWERS]
    grader = PairGrader(Answers(), "sqlite", PairRules(em=em, esm=esm, clean=clean))
    verdicts = [grader.grade(gold, pred) for gold in queries for pred in queries]
    assert all(verdict.bucket in BUCKETS for verdict in verdicts)
    assert sum(v.bucket == "ok" for v in verdicts) == sum(v.esm is True for v in verdicts)
    unattempted = {"skipped", "non_select", "gold_fail", "timeout", "other_error"}
    assert {v.bucket for v in verdicts if v.esm is None} <= unattempted
    assert all(v.em is None for v in verdicts if not em or v.reason in ("pred_empty", "gold_empty"))


def test_the_gold_runs_first_and_the_prediction_only_if_it_can_matter() -> None:
    answers = Answers()
    PairGrader(answers, "sqlite").grade("SELECT one", "SELECT two")
    assert answers.asked == ["SELECT one", "SELECT two"]
    answers.asked.clear()
    PairGrader(answers, "sqlite").grade("SELECT late", "SELECT two")
    assert answers.asked == ["SELECT late"]


def test_none_is_literal_unless_told_otherwise() -> None:
    assert grade("None", "NONE").reason == "should_be_unanswerable"
    assert grade("None", "```\nNone\n```").reason == "both_unanswerable"
    aliases = frozenset({"none", "null"})
    assert grade("None", "null", none_aliases=aliases).bucket == "ok"
    assert grade("None", "NULL", none_aliases=aliases).reason == "should_be_unanswerable"


def test_cleaning_is_recorded_and_can_be_turned_off() -> None:
    verdict = grade("SELECT one", "```sql\nSELECT one;\n```")
    assert (verdict.em, verdict.esm, verdict.pred.sql) == (True, True, "SELECT one")
    assert {"code_fence", "semicolon"} <= set(verdict.pred.steps)
    raw = grade("SELECT one", "```sql\nSELECT one;\n```", clean=False)
    assert (raw.em, raw.bucket, raw.pred.steps) == (False, "non_select", ())


@pytest.fixture(params=["sqlite", "postgres"])
def make(request: pytest.FixtureRequest, root: Path) -> Callable[..., PairGrader]:
    """A grader on a real database: `item (id, name, price)` with pens and ink."""
    if request.param == "sqlite":
        source = SqliteSource(root)

        def run(sql: str, db_id: str) -> Result:
            with source.open("shop", Limits(seconds=0.2)) as database:
                return database.query(sql)
    else:
        queries = PostgresQueries(start_postgres().reader)

        def run(sql: str, db_id: str) -> Result:
            return queries.query(sql, Limits(seconds=0.2))

    return lambda **rules: PairGrader(run, request.param, PairRules(**rules))


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("gold", "pred", "esm", "bucket"),
    [
        ("SELECT name FROM item", "SELECT * FROM (SELECT name FROM item) AS q", True, "ok"),
        ("SELECT name FROM item", "SELECT name FROM item ORDER BY price", True, "ok"),
        ("SELECT id FROM item ORDER BY id", "SELECT id FROM item ORDER BY id DESC", False, "mismatch"),
        ("SELECT 1", "VALUES (1)", True, "ok"),
        ("SELECT 1", "/* c */ SELECT 1 -- d", True, "ok"),
        ("SELECT id FROM item", "SELECT id FROM item WHERE id > 1", False, "mismatch"),
        ("SELECT NULL UNION ALL SELECT 1", "SELECT 1 UNION ALL SELECT NULL", True, "ok"),
        ("SELECT 1 FROM item WHERE id < 0", "-- nothing", None, "skipped"),
        ("SELECT 1", "SELECT 1; SELECT 1", False, "non_select"),
        ("SELECT 1", "DELETE FROM item", False, "non_select"),
        ("WITH a AS (SELECT 1) DELETE FROM item", "SELECT 1", None, ""),
        ("SELECT 1", "EXPLAIN SELECT 1", False, "non_select"),
        ("SELECT 1", "SELECT nothing FROM item", False, "pred_fail"),
        ("SELECT nothing FROM item", "SELECT 1", None, "gold_fail"),
        ("SELECT 1", "SELEC", False, "non_select"),
        ("SELECT 1", "SELECT FROM WHERE", False, "pred_fail"),
        ("SELECT 1", ENDLESS, False, "timeout"),
        (ENDLESS, "SELECT 1", None, "timeout"),
        ("SELECT 1", "SELECT 'Women's'", False, "pred_fail"),
    ],
)
def test_on_real_databases(
    make: Callable[..., PairGrader], gold: str, pred: str, esm: bool | None, bucket: str
) -> None:
    verdict = make().grade(gold, pred)
    assert verdict.esm is esm, verdict
    assert verdict.bucket == bucket or (not bucket and verdict.bucket in ("non_select", "gold_fail"))


def test_rules_on_real_databases(make: Callable[..., PairGrader]) -> None:
    gold, pred = "SELECT id FROM item ORDER BY id", "SELECT id FROM item ORDER BY id DESC"
    strict = make().grade(gold, pred)
    assert (strict.esm, strict.modes, strict.flags) == (
        False,
        {"multiset": True, "ordered": False, "bird": True},
        ("order_only",),
    )
    assert make(order="ignore").grade(gold, pred).esm
    one, more = "SELECT max(id) FROM item", "SELECT 'x', max(id) FROM item"
    assert make().grade(one, more).esm is False
    relaxed = make(relax_single=True).grade(one, more)
    assert (relaxed.esm, relaxed.flags, relaxed.modes["multiset"]) == (True, ("relaxed_single",), False)
    assert not make(relax_single=True).grade("SELECT id FROM item", "SELECT id, 1 FROM item").esm


def test_esm_without_a_database_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="needs a function that runs queries"):
        PairGrader(None, "sqlite")
    assert PairGrader(None, "sqlite", PairRules(esm=False)).grade("SELECT 1", "select 1").em
