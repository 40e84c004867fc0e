"""BIRD task files as they are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.errors import InputError
from birdenv.tasks.bird import load_tasks

ROW: dict[str, Any] = {
    "question_id": 7,
    "db_id": "shop",
    "question": "How many?",
    "evidence": "many = all",
    "SQL": "SELECT 1",
    "difficulty": "simple",
}


def write(path: Path, rows: Any, lines: bool = False) -> Path:
    text = "\n".join(json.dumps(row) for row in rows) if lines else json.dumps(rows, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("lines", [False, True])
def test_json_and_json_lines(tmp_path: Path, lines: bool) -> None:
    [task] = load_tasks(write(tmp_path / "tasks", [ROW], lines))
    assert task.public.instance_id == "7"
    assert task.public.evidence == "many = all"
    assert task.private.gold == ("SELECT 1",)


def test_repeated_ids_are_told_apart(tmp_path: Path) -> None:
    tasks = load_tasks(write(tmp_path / "tasks.json", [ROW, ROW, ROW]))
    assert [task.public.instance_id for task in tasks] == ["7", "7#2", "7#3"]


def test_missing_fields(tmp_path: Path) -> None:
    [task] = load_tasks(write(tmp_path / "t.json", [{"db_id": "shop", "question": "How many?"}]))
    assert (task.public.question_id, task.public.evidence, task.public.difficulty) == ("0", "", "unknown")
    assert not task.has_gold


def test_several_golds(tmp_path: Path) -> None:
    [task] = load_tasks(write(tmp_path / "t.json", [ROW | {"SQL": ["SELECT 1", "SELECT 2"]}]))
    assert task.private.gold == ("SELECT 1", "SELECT 2")


@pytest.mark.parametrize("question_id", [[], {}, float("nan"), 1.5, True, False, "", " "])
def test_question_ids_are_numbers_or_text(tmp_path: Path, question_id: object) -> None:
    with pytest.raises(InputError, match="record 1: the field `question_id` must be a whole number or text"):
        load_tasks(write(tmp_path / "t.json", [ROW | {"question_id": question_id}]))


def row(**changes: object) -> str:
    return json.dumps(ROW | changes)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("[]", "contains no tasks"),
        ("{}", "the field `db_id` is missing"),
        ('{\n"a": 1\n}', "found a single object"),
        ("[1]", "not a JSON object"),
        ("7", "expected a JSON list"),
        ('[{"db_id": "a", "quest', "may be cut off"),
        ('{"db_id": "a", "question": "q"}\n{"db_id": "a", "que', "line 2"),
        ('[{"db_id": "a"}]', "`question` is missing"),
        ('[{"db_id": 3, "question": "q"}]', "`db_id` must be text"),
        ('[{"db_id": "a", "question": "q", "SQL": 5}]', "`SQL` must be a string"),
        ('[{"db_id": "a", "question": " "}]', "`question` is empty"),
        ('[{"db_id": "", "question": "q"}]', "`db_id` is empty"),
        (row(question_id="\ud800"), "record 1: the field 'question_id' contains half a character"),
        (row(difficulty="x\ud800"), "half a character"),
        (row(extra=[{"deep": "\udfff"}]), "'extra' contains half a character"),
        (f"{row()}\n{row(extra=1)[:-2]}{'1' * 5000}}}", "line 2: the JSON contains a number with"),
        (f"[{row()}, {'1' * 5000}]", "number with too many digits"),
        (f"{row()}\n{'[' * 100_000}", "line 2: the JSON is nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        (
            f"[{row(extra=7)[:-2]}{'[' * 150}{']' * 150}}}]",
            "record 1: the field 'extra' is nested too deeply",
        ),
        (
            "\n".join(row(question_id=name) for name in (1, 1, "1#2")),
            r"record 3 \(question_id 1#2\): record 2 has the same id '1#2'",
        ),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        ("\ufffe\x00", "not JSON"),
    ],
)
def test_unusable_files_say_why(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=says) as caught:
        load_tasks(path)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(b'[{"db_id": "\xff"}]')
    with pytest.raises(InputError, match="not UTF-8"):
        load_tasks(path)


def test_names_and_places_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="File name too long"):
        load_tasks(tmp_path / ("x" * 300))
    with pytest.raises(InputError, match="is a directory"):
        load_tasks(tmp_path)


def test_both_editions_of_mini_dev(shared_data: Path) -> None:
    new = load_tasks(shared_data / "mini_dev" / "mini_dev_sqlite.json")
    old = load_tasks(shared_data / "mini_dev" / "mini_dev_sqlite_2024.json")
    assert len(new) == len(old) == 500
    assert (
        len({task.public.instance_id for task in new})
        == len({task.public.instance_id for task in old})
        == 500
    )
    assert {task.public.instance_id for task in old} - {task.public.instance_id for task in new} == {
        "137#2",
        "138#2",
    }
