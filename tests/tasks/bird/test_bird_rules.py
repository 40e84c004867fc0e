"""The rules of a BIRD episode."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from birdenv.databases import SqliteSource
from birdenv.dialogue import Dialogue, DialogueOver, Move
from birdenv.grading import ExGrader
from birdenv.tasks import SYSTEM
from birdenv.tasks.bird import BirdTask, PrivateBirdTask, PublicBirdTask
from birdenv.tasks.bird._rules import BirdRules

TASK = BirdTask(
    PublicBirdTask(0, "1", 1, "shop", "How many items cost more than 5?", "cost refers to price", "simple"),
    PrivateBirdTask(("SELECT count(*) FROM item WHERE price > 5",)),
)


@pytest.fixture
def source(tmp_path: Path) -> SqliteSource:
    (tmp_path / "shop").mkdir()
    connection = sqlite3.connect(tmp_path / "shop" / "shop.sqlite")
    connection.executescript(
        "CREATE TABLE item (name TEXT, price REAL); INSERT INTO item VALUES ('a', 4), ('b', 6)"
    )
    connection.close()
    return SqliteSource(tmp_path)


def episode(source: SqliteSource, task: BirdTask = TASK, **options: Any) -> Dialogue:
    return Dialogue(BirdRules(task, source, ExGrader(source), **options))


def test_explore_and_submit(source: SqliteSource) -> None:
    game = episode(source)
    game.apply(SYSTEM, Move("execute_sql", "SELECT * FROM item ORDER BY price"))
    assert game.view(SYSTEM).message == "name | price\n-----+------\na | 4.0\nb | 6.0\n(2 rows)"
    game.apply(SYSTEM, Move("submit_sql", "SELECT 1"))
    assert game.terminated
    assert game.rewards == (1.0,)
    assert game.status == "completed"


def test_writes_stay_in_the_episode(source: SqliteSource) -> None:
    game = episode(source)
    game.apply(SYSTEM, Move("execute_sql", "DELETE FROM item"))
    game.apply(SYSTEM, Move("execute_sql", "SELECT count(*) AS n FROM item"))
    assert game.view(SYSTEM).message.startswith("n\n-\n0\n")
    game.apply(SYSTEM, Move("submit_sql", "SELECT count(*) FROM item WHERE price > 5"))
    assert game.rules.verdict is not None
    assert game.rules.verdict.ex


@pytest.mark.parametrize(
    "move", [Move("clarify", "which?"), Move("submit_sql", " "), Move("execute_sql", None), Move("fly", "x")]
)
def test_refused_actions_cost_one_and_say_why(source: SqliteSource, move: Move) -> None:
    game = episode(source)
    game.apply(SYSTEM, move)
    assert game.view(SYSTEM).turns_left == 19
    assert game.view(SYSTEM).sender == "judge"
    assert game.turn == SYSTEM


def test_the_last_action_truncates(source: SqliteSource) -> None:
    game = episode(source, max_turns=2)
    for _ in range(2):
        game.apply(SYSTEM, Move("execute_sql", "SELECT 1"))
    assert game.truncated
    assert not game.terminated
    assert game.status == "task limit reached"
    last = "That was your last action, and nothing was submitted."
    assert game.view(SYSTEM).message.endswith(last)
    assert game.events[-1].metadata["reply"] == game.view(SYSTEM).message
    assert last not in game.events[0].metadata["reply"]
    with pytest.raises(DialogueOver):
        game.apply(SYSTEM, Move("submit_sql", "SELECT 1"))


def test_submitting_with_the_last_action_terminates(source: SqliteSource) -> None:
    game = episode(source, max_turns=1)
    game.apply(SYSTEM, Move("submit_sql", "SELECT 1"))
    assert game.terminated
    assert not game.truncated


def test_evidence_can_be_hidden(source: SqliteSource) -> None:
    assert "cost refers to price" in episode(source).view(SYSTEM).instruction
    assert "cost refers to price" not in episode(source, evidence=False).view(SYSTEM).instruction


def test_instruction_shows_the_schema_and_never_the_gold(source: SqliteSource) -> None:
    instruction = episode(source).view(SYSTEM).instruction
    assert "CREATE TABLE item (name TEXT, price REAL)" in instruction
    assert TASK.private.gold[0] not in instruction


def test_without_gold_the_submission_is_ungraded(source: SqliteSource) -> None:
    game = episode(source, BirdTask(TASK.public, PrivateBirdTask(())))
    game.apply(SYSTEM, Move("submit_sql", "SELECT 1"))
    assert game.status == "ungraded"
    assert game.rules.verdict is None
