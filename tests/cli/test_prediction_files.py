"""Prediction files as they are found: keys in any order or missing, tabs in SQL, repeated questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

SEPARATOR = "\t----- bird -----\t"
TASKS = [
    {"question_id": 137, "db_id": "library", "question": "A?", "SQL": "SELECT 'a\tb'"},
    {"question_id": 137, "db_id": "library", "question": "A?", "SQL": "SELECT 1"},
    {"question_id": 5, "db_id": "library", "question": "B?", "SQL": "SELECT 2", "difficulty": "baffling"},
    {"question_id": 6, "db_id": "library", "question": "C?", "SQL": f"SELECT '{SEPARATOR}'"},
]
RIGHT = {str(position): f"{task['SQL']}{SEPARATOR}library" for position, task in enumerate(TASKS)}


@pytest.fixture
def play(birdenv: Command, demo: Path, tmp_path: Path) -> Callable[..., Any]:
    def call(predictions: Any) -> Any:
        (tmp_path / "tasks.json").write_text(json.dumps(TASKS))
        (tmp_path / "answers.json").write_text(json.dumps(predictions))
        options = ["-o", tmp_path / "runs", "--predictions-order", "file"]
        agent = f"predictions:{tmp_path / 'answers.json'}"
        return birdenv("bird", tmp_path / "tasks.json", demo, "--agent", agent, *options)

    return call


def verdicts(tmp_path: Path) -> dict[str, str]:
    (folder,) = (tmp_path / "runs").glob("run-*")
    records = map(json.loads, (folder / "runs.jsonl").read_text().splitlines())
    return {r["instance_id"]: r["result"]["verdict"] or r["status"] for r in records}


def test_keys_in_another_order_mean_the_same(play: Command, tmp_path: Path) -> None:
    """Also tabs, and the separator itself, in the SQL: the last separator counts. And a question that comes
    twice, and a difficulty that nobody knows."""
    ran = play({key: RIGHT[key] for key in ("10", "2", "3", "1", "0") if key in RIGHT})
    assert ran.code == 0, ran
    assert set(verdicts(tmp_path).values()) == {"passed"}
    assert list(verdicts(tmp_path)) == ["137", "137#2", "5", "6"]
    assert "baffling" in next(tmp_path.rglob("summary.txt")).read_text()


def test_a_key_that_is_missing_is_no_submission(play: Command, tmp_path: Path) -> None:
    assert play({"0": RIGHT["0"], "3": RIGHT["3"], "1": "", "2": None}).code == 0
    expected = {"137": "passed", "137#2": "no_submission", "5": "no_submission", "6": "passed"}
    assert verdicts(tmp_path) == expected


@pytest.mark.parametrize("key", ["first", "-1", "1.0", "00", "01", "٣", ""])
def test_keys_that_are_no_positions(play: Command, tmp_path: Path, key: str) -> None:
    ran = play({"0": RIGHT["0"], key: RIGHT["1"]})
    assert ran.code == 2
    assert f"the key {key!r} is not a position" in ran.err
    assert not (tmp_path / "runs").exists()


def test_a_prediction_about_another_database(play: Command) -> None:
    ran = play({"0": f"SELECT 1{SEPARATOR}coop"})
    assert ran.code == 2
    assert "key 0 is about 'coop', but question 137 is about 'library'" in ran.err


@pytest.mark.parametrize("db_id", ["../library", "/etc", "library/../library", "..", "", "nowhere"])
@pytest.mark.parametrize("command", ["score", "evaluate"])
def test_databases_of_pairs(birdenv: Command, demo: Path, tmp_path: Path, db_id: str, command: str) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"db_id": db_id, "gold_sql": "SELECT 1", "predicted_sql": "SELECT 1"}))
    if command == "score":
        ran = birdenv("score", pairs, demo, "--out", tmp_path / "out")
    else:
        ran = birdenv("evaluate", "--run-dir", tmp_path, "--db", demo)
    assert (ran.code, ran.out.replace(f"[evalx] Using run_dir: {tmp_path}\n", "")) == (2, "")
    assert ran.err.startswith("Error: ") and ran.err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.jsonl"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "pairs.jsonl", ".", "--parallel", "0"],
        ["evaluate", "--parallel", "0"],
        ["evaluate", "--exec-timeout", "soon"],
        ["inspect", "--max-examples", "-1"],
    ],
)
def test_numbers_that_make_no_sense(birdenv: Command, arguments: list[str]) -> None:
    ran = birdenv(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value" in ran.err
