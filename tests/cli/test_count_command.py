"""`birdenv data count`: the tasks of a data set by database and difficulty."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.demo import DEMO_BIRD_FILE, demo_folder

Command = Callable[..., Any]


def cells(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_both_formats_in_the_order_of_their_difficulties(birdenv: Command, tmp_path: Path) -> None:
    bird = [
        {"db_id": "zoo", "difficulty": "challenging"},
        {"db_id": "zoo", "difficulty": "simple"},
        {"db_id": "a_very_long_name", "difficulty": "moderate"},
        {"db_id": "zoo", "difficulty": "simple"},
        {"db_id": "total"},
        {"db_id": "total", "difficulty": None},
    ]
    table = [
        ["database", "simple", "moderate", "challenging", "unknown", "total"],
        ["a_very_long_name", "-", "1", "-", "-", "1"],
        ["total", "-", "-", "-", "2", "2"],
        ["zoo", "2", "-", "1", "-", "3"],
        ["total", "2", "1", "1", "2", "6"],
    ]
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps(bird))
    ran = birdenv("data", "count", file)
    assert (ran.code, cells(ran.out)) == (0, table)
    assert len({len(line) for line in ran.out.splitlines()}) == 1, "columns stand below each other"
    names = {"db_id": "selected_database", "difficulty": "difficulty_tier"}
    interact = [{names[name]: value for name, value in task.items()} for task in bird]
    (tmp_path / "c_interact.jsonl").write_text("".join(json.dumps(task) + "\n" for task in interact))
    assert cells(birdenv("data", "count", tmp_path).out) == table, "a folder has its task file"


def test_the_demo(birdenv: Command) -> None:
    ran = birdenv("data", "count")
    assert cells(ran.out)[0] == ["database", "Easy", "Medium", "Hard", "total"]
    assert cells(ran.out)[-1] == ["total", "9", "21", "8", "38"]
    ran = birdenv("data", "count", demo_folder() / DEMO_BIRD_FILE)
    assert (ran.code, cells(ran.out)[-1][-1]) == (0, "42")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[{"question": "?"}]', "record 1: not a task, because neither `db_id` nor `selected_database`"),
        ('[{"db_id": 7}]', "record 1: not a task, because neither"),
        ("[]", "contains no tasks"),
        ("", "is empty"),
    ],
)
def test_what_is_no_task_file(birdenv: Command, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(text)
    ran = birdenv("data", "count", file)
    assert (ran.code, says in ran.err) == (2, True), ran.err
    assert birdenv("data", "count", tmp_path / "nowhere").code == 2


def test_a_folder_without_exactly_one_task_file(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("data", "count", tmp_path)
    assert (ran.code, "; specify the file itself (to play it, with --data" in ran.err) == (2, True), ran.err
    for name in ("c_interact.jsonl", "mini_interact.jsonl"):
        (tmp_path / name).write_text('{"selected_database": "zoo"}\n')
    ran = birdenv("data", "count", tmp_path)
    assert (ran.code, "; specify one of them (to play it, with --data FILE)" in ran.err) == (2, True), ran.err
    assert birdenv("data", "count", tmp_path / "c_interact.jsonl").code == 0, "as the message says"
