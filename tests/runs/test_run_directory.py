"""The files of a run survive whatever happens to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from birdenv.errors import InputError
from birdenv.runs import RunDirectory


def records(name: str, **fields: object) -> dict[str, dict[str, object]]:
    return {
        stream: {"instance_id": name, "stream": stream, **fields} for stream in ("runs", "private", "timings")
    }


def test_two_runs_in_one_second_get_two_folders(tmp_path: Path) -> None:
    made = [RunDirectory.create(tmp_path).path for _ in range(5)]
    assert len(set(made)) == 5
    assert (tmp_path / "latest").resolve() == made[-1].resolve()


def test_a_real_folder_called_latest_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    RunDirectory.create(tmp_path)
    assert (tmp_path / "latest").is_dir()
    assert not (tmp_path / "latest").is_symlink()


def test_unwritable_parent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write results"):
        RunDirectory.create(tmp_path / "file" / "below")


def test_append_read_and_rewrite_in_task_order(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path)
    for name in ("c", "a", "b"):
        directory.append(records(name))
    directory.rewrite(["a", "b", "c"])
    for stream in ("runs", "private", "timings"):
        assert list(directory.read(stream)) == ["a", "b", "c"]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path)
    directory.append(records("a", text="é" * 20))
    directory.append(records("b"))
    file = directory.file("runs")
    file.write_bytes(file.read_bytes()[:-9])
    assert list(directory.read("runs")) == ["a"]


def test_damage_in_the_middle_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path)
    directory.append(records("a"))
    directory.append(records("b"))
    file = directory.file("runs")
    lines = file.read_text().split("\n")
    file.write_text("\n".join([lines[0][:5], *lines[1:]]))
    with pytest.raises(InputError, match="line 1 is damaged"):
        directory.read("runs")


def test_whole_files_are_replaced_atomically(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path)
    directory.write_json("overall.json", {"a": 1})
    directory.write_json("overall.json", {"a": 2})
    assert json.loads((directory.path / "overall.json").read_text()) == {"a": 2}
    assert [path.name for path in directory.path.iterdir()] == ["overall.json"]


def test_only_a_run_can_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run directory"):
        RunDirectory.existing(tmp_path)
