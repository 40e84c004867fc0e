"""A pair that comes again is not graded again, but only where its verdict cannot change."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from typing import Any

import pytest

from birdenv.grading import ExGrader
from birdenv.grading import _ex as known_verdicts
from birdenv.grading._ex import KnownVerdicts

NAMES = "SELECT name FROM item"


@pytest.fixture(autouse=True)
def every_pair_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """So long that it is remembered at once."""
    monkeypatch.setattr(known_verdicts, "_LONG", -1.0)


def test_a_pair_that_takes_no_time_is_remembered_when_it_comes_again(
    source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_verdicts, "_LONG", 99.0)
    grader = ExGrader(source)
    counts = []
    for prediction in ("SELECT 1", "SELECT 2", "SELECT 1", "SELECT 1", "SELECT 2", "SELECT 2"):
        grader.grade("shop", [NAMES], prediction)
        counts.append(source.opened)
    assert counts == [2, 3, 4, 4, 5, 5]


@pytest.mark.parametrize(
    "prediction",
    [
        NAMES,
        "SELECT name AS n FROM item",
        "SELECT 1",
        "SELECT name FROM item WHERE price > 99",
        "SELECT nam FROM item",
        "SELEC",
    ],
)
def test_the_same_pair_is_graded_once(source: Any, prediction: str) -> None:
    grader = ExGrader(source)
    first = grader.grade("shop", [NAMES], prediction)
    opened = source.opened
    assert grader.grade("shop", [NAMES], prediction) is first
    assert source.opened == opened


@pytest.mark.parametrize(
    "prediction",
    [
        "SELECT random()",
        "SELECT date('now')",
        f"{NAMES} WHERE date('2024-01-01') > '1'",
        "SELECT abs(-9223372036854775808)",
    ],
)
def test_what_may_change_is_graded_each_time(source: Any, prediction: str) -> None:
    grader = ExGrader(source)
    for count in (2, 3):  # openings: the gold's, and each prediction's
        grader.grade("shop", [NAMES], prediction)
        assert source.opened == count


def test_a_gold_that_reads_the_clock_is_executed_each_time(source: Any) -> None:
    grader = ExGrader(source)
    for _ in range(2):
        grader.grade("shop", ["SELECT date('now')"], "SELECT 1")
    assert source.opened == 4


@pytest.mark.parametrize("prediction", ["", None, " "])
def test_no_submission(source: Any, prediction: str | None) -> None:
    grader = ExGrader(source)
    assert [grader.grade("shop", [NAMES], prediction).status for _ in range(2)] == ["no_submission"] * 2


def test_what_tells_pairs_apart(source: Any) -> None:
    grader = ExGrader(source, clean=True)
    assert grader.grade("shop", [NAMES], NAMES).ex
    assert not grader.grade("shop", ["SELECT 1"], NAMES).ex
    assert grader.grade("shop", ["SELECT 1", NAMES], NAMES).matched_gold == 1
    fenced = grader.grade("shop", [NAMES], f"```sql\n{NAMES}\n```")
    assert (fenced.ex, fenced.ex_bird) == (True, False)


def test_a_file_that_has_changed_is_graded_anew(root: Any) -> None:
    from birdenv.databases import SqliteSource

    grader = ExGrader(SqliteSource(root))
    count = ("shop", ["SELECT 4"], "SELECT count(*) FROM item")
    assert grader.grade(*count).ex
    path = root / "shop" / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("DELETE FROM item WHERE id = 1")
    connection.close()
    os.utime(path, ns=(1, 1))
    assert not grader.grade(*count).ex


def test_the_oldest_are_forgotten(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = ExGrader(source).grade("shop", [NAMES], NAMES)
    monkeypatch.setattr(known_verdicts, "_MOST_BYTES", 25_000)
    known = KnownVerdicts()
    for number in range(100):
        known.keep(number, verdict)
    kept = [number for number in range(100) if known.find(number) is not None]
    assert kept == list(range(kept[0], 100))
    assert 3 <= len(kept) <= 12


def test_large_results_are_not_kept(source: Any) -> None:
    verdict = ExGrader(source).grade("shop", [NAMES], NAMES)
    assert verdict.gold_result is not None
    known = KnownVerdicts()
    known.keep("large", replace(verdict, gold_result=replace(verdict.gold_result, rows=[("x",)] * 5_000)))
    assert known.find("large") is None


def test_types_of_postgresql(shop_on_postgres: Any) -> None:
    grader = ExGrader(shop_on_postgres)
    sql = "SELECT 1.5::numeric, '{1}'::int[], NULL, '2024-01-01'::date"
    first = grader.grade("shop", [sql], sql)
    assert first.ex
    assert grader.grade("shop", [sql], sql) == first
