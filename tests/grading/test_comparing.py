"""Rows of others are compared behind the wall, under a limit of its own that no statement is charged with."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from postgres_source import postgres_source

from birdenv.databases import Limits, SqliteSource
from birdenv.grading import ExGrader, InteractGrader, Pair, PairGrader, check_gold, score_pairs
from birdenv.grading.interact import GRADING_RULES, GradingJob
from birdenv.grading.workers import _grading

MODULUS = 2**61 - 1  # integers that differ by it have the same hash in Python
COLUMNS = ", ".join(f"5 + {MODULUS} * ((i / {4**k}) % 4)" for k in range(8))
ROWS = (
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) SELECT {columns} FROM n"
)
GOLD = ROWS.format(last=9_000, columns=COLUMNS)
SAME = f"{GOLD} ORDER BY i DESC"
REASON = "the rows could not be compared within"
LIMITS = Limits(seconds=60)
NOT_STRICT = [GRADING_RULES[name] for name in ("strict", "shell", "adk")]


@pytest.fixture(autouse=True)
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_grading, "COMPARING_SECONDS", 0.2)


def seconds_here(work: Any) -> tuple[Any, float]:
    """What some work gives, and the processor time that it takes of this process."""
    began = time.process_time()
    return work(), time.process_time() - began


def test_ex(root: Path) -> None:
    grader = ExGrader(SqliteSource(root), LIMITS, metrics=("soft_f1", "ordered"))
    verdict, used = seconds_here(lambda: grader.grade("shop", [GOLD], SAME))
    assert (verdict.ex, verdict.status, verdict.was_late, verdict.error) == (
        False,
        "wrong_result",
        False,
        None,
    )
    assert verdict.reason.startswith(REASON)
    assert verdict.metrics == {"soft_f1": 0.0, "ordered": 0.0}
    assert used < 0.5
    assert grader.grade("shop", ["SELECT 1"], "SELECT 1 AS a").ex, "the next pair has its own time"


def test_other_pairs_have_their_verdicts(root: Path) -> None:
    pairs = [Pair("shop", (f"SELECT {i}",), f"SELECT {i} AS a") for i in range(20)]
    pairs[7] = Pair("shop", (GOLD,), SAME)
    verdicts = score_pairs(pairs, SqliteSource(root), limits=LIMITS, workers=2)
    assert [verdict.ex for verdict in verdicts] == [i != 7 for i in range(20)]
    assert verdicts[7].reason.startswith(REASON)


@pytest.mark.every(2)
@pytest.mark.parametrize("before", ["", "; "], ids=["", "semicolon"])  # which skips the cut to 10,000 rows
@pytest.mark.parametrize("rules", NOT_STRICT, ids=lambda rules: rules.name)
def test_c_interact(root: Path, rules: Any, before: str) -> None:
    job = GradingJob("shop", "Query", (GOLD,), rules=rules)
    grade, used = seconds_here(lambda: InteractGrader(SqliteSource(root), LIMITS).grade(job, before + SAME))
    assert (grade.passed, grade.status, grade.error) == (False, "wrong_result", None)
    assert grade.reason.startswith(REASON)
    assert used < 0.5


def test_states(root: Path) -> None:
    many = f"CREATE TABLE many AS {GOLD}"
    job = GradingJob("shop", "Management", (many,), by_state=True)
    grade = InteractGrader(SqliteSource(root), LIMITS).grade(job, f"CREATE TABLE many AS {SAME}")
    assert (grade.passed, grade.status, grade.error) == (False, "wrong_result", None)
    assert grade.reason.startswith(REASON)


def test_em_and_esm(root: Path) -> None:
    with SqliteSource(root).open("shop", LIMITS) as database:
        verdict = PairGrader(lambda sql, _: database.query(sql), "sqlite").grade(GOLD, SAME)
    assert (verdict.bucket, verdict.esm, verdict.side) == ("other_error", None, "")
    assert verdict.reason.startswith(REASON)


def test_a_gold(root: Path) -> None:
    assert check_gold(SqliteSource(root), "shop", GOLD, LIMITS).failures["gold"].startswith(REASON)


def test_rows_of_postgresql(root: Path) -> None:
    series = f"SELECT {COLUMNS} FROM generate_series(0::numeric, 9000) AS n(i)".replace(" / ", "::bigint / ")
    with postgres_source(root, "shop") as source:
        grader = ExGrader(source, LIMITS)
        verdict = grader.grade("shop", [series], f"{series} ORDER BY i DESC")
        assert (verdict.ex, verdict.status, verdict.was_late) == (False, "wrong_result", False)
        assert verdict.reason.startswith(REASON)
        assert grader.grade("shop", ["SELECT 1"], "SELECT 1 AS a").ex


@pytest.mark.slow
def test_the_limit_is_30_seconds(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    rows = ROWS.format(last=65_000, columns=COLUMNS)
    began = time.monotonic()
    verdict = ExGrader(SqliteSource(root), LIMITS).grade("shop", [rows], f"{rows} ORDER BY i DESC")
    assert verdict.reason == f"{REASON} 30 s of CPU time"
    assert 29 < time.monotonic() - began < 90
