"""The files of a run survive whatever happens to it."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from birdenv.errors import InputError
from birdenv.runs import RunDirectory, run_folder


def records(name: str, **fields: object) -> dict[str, dict[str, object]]:
    return {
        stream: {"instance_id": name, "stream": stream, "status": "completed", **fields}
        for stream in ("runs", "private", "timings")
    }


def test_two_runs_in_one_second_get_two_folders(tmp_path: Path) -> None:
    made = [begin(tmp_path).path for _ in range(5)]
    assert len(set(made)) == 5
    assert (tmp_path / "latest").resolve() == made[-1].resolve()


def begin(parent: Path) -> RunDirectory:
    directory = RunDirectory.create(parent)
    directory.write_json("config.json", {})
    return directory


def test_a_run_that_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    first = begin(tmp_path).path
    with pytest.raises(InputError, match=r"config\.json: cannot be written: UTF-8 cannot encode"):
        RunDirectory.create(tmp_path).write_json("config.json", {"agent": "x\ud800"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", first.name]
    assert (tmp_path / "latest").resolve() == first.resolve()


def test_latest_waits_for_the_configuration(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path)
    assert not (tmp_path / "latest").exists()
    directory.write_json("config.json", {})
    assert (tmp_path / "latest").resolve() == directory.path.resolve()


def test_readers_pass_over_a_run_that_failed_to_start_but_resuming_does_not(tmp_path: Path) -> None:
    played = begin(tmp_path)
    assert run_folder(tmp_path) == played.path, "no run has episodes, so the latest counts"
    played.append(records("a"))
    failed = begin(tmp_path)
    assert run_folder(tmp_path) == played.path
    assert RunDirectory.existing(tmp_path).path == failed.path
    failed.append(records("a"))
    assert run_folder(tmp_path) == failed.path


def test_a_real_folder_called_latest_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    begin(tmp_path)
    assert (tmp_path / "latest").is_dir()
    assert not (tmp_path / "latest").is_symlink()


def test_unwritable_parent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write results"):
        RunDirectory.create(tmp_path / "file" / "below")
    with pytest.raises(InputError, match="File name too long"):
        RunDirectory.create(tmp_path / ("x" * 300))


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
    with pytest.raises(InputError, match="is not a run: specify a run-"):
        RunDirectory.existing(tmp_path)
    with pytest.raises(InputError, match="File name too long"):
        RunDirectory.existing(tmp_path / ("x" * 300))


def line(**fields: object) -> str:
    return json.dumps({"instance_id": "a", "status": "completed"} | fields)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"instance_id": "a"}', "`status` must be text"),
        (line(status=5), "`status` must be text"),
        (line(status=None), "`status` must be text"),
        (line(instance_id=None), "`instance_id` must be text"),
        (line(result=None), "`result` must be an object"),
        (line(attempts=3), "`attempts` must be a list"),
        (line(history=None), "`history` must be a list"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "damaged"),
        ('{"instance_id": ' + "1" * 5000 + "}", "damaged"),
    ],
)
def test_lines_that_are_no_records(tmp_path: Path, text: str, says: str) -> None:
    directory = begin(tmp_path)
    directory.file("runs").write_text(f"{line()}\n{text}\n{line()}\n")
    with pytest.raises(InputError, match=r"runs\.jsonl: line 2 is damaged") as caught:
        directory.read("runs")
    assert says in str(caught.value)


def test_a_folder_in_place_of_the_records(tmp_path: Path) -> None:
    directory = begin(tmp_path)
    directory.file("runs").mkdir()
    with pytest.raises(InputError, match=r"runs\.jsonl is a directory"):
        directory.read("runs")


@pytest.mark.parametrize("content", [b"\xff", b"{", b"[]", b"[" * 100_000, b'{"seed": ' + b"1" * 5000 + b"}"])
def test_unusable_configurations(tmp_path: Path, content: bytes) -> None:
    directory = begin(tmp_path)
    (directory.path / "config.json").write_bytes(content)
    with pytest.raises(InputError, match=r"config\.json.*start a new run"):
        RunDirectory.existing(directory.path).read_config()


def test_only_episodes_in_every_stream_are_finished(tmp_path: Path) -> None:
    directory = begin(tmp_path)
    for name in ("a", "b", "c", "d"):
        directory.append(records(name, status="completed"))
    for stream, name in (("private", "b"), ("timings", "c"), ("runs", "d")):
        kept = [row for row in directory.read(stream).values() if row["instance_id"] != name]
        directory.file(stream).write_text("".join(json.dumps(row) + "\n" for row in kept))
    assert list(directory.finished()) == ["a"]
    assert directory.finished()["a"]["status"] == "completed"


def test_a_full_disk_keeps_what_is_finished(tmp_path: Path) -> None:
    directory = begin(tmp_path)
    directory.append(records("a", status="completed"))
    before = {stream: directory.file(stream).read_bytes() for stream in ("runs", "private", "timings")}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(
            InputError, match=r"cannot be written: File too large; finished.*--resume"
        ) as caught:
            directory.append(records("b", status="completed", text="x" * 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(directory.path) in str(caught.value)
    assert {stream: directory.file(stream).read_bytes() for stream in before} == before


def test_a_pipe_in_a_run_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    directory = begin(tmp_path)
    os.mkfifo(directory.file("runs"))  # opening it would wait for ever
    with pytest.raises(InputError, match=r"runs\.jsonl is a pipe, a socket or a device, not a file"):
        directory.finished()
    (directory.path / "config.json").unlink(missing_ok=True)
    os.mkfifo(directory.path / "config.json")
    with pytest.raises(InputError, match="is a pipe, a socket or a device"):
        directory.read_config()


@pytest.mark.parametrize("name", ["overall.json", "summary.txt", "private_official/sql_results.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "link", "broken link"])
def test_no_run_is_opened_that_has_a_pipe_or_a_link(tmp_path: Path, name: str, kind: str) -> None:
    """What a run's commands would write to: a pipe waits for ever, and a link leads to somebody's file."""
    directory = begin(tmp_path)
    directory.write_json("config.json", {})
    place = directory.path / name
    place.parent.mkdir(exist_ok=True)
    (tmp_path / "mine").write_text("mine")
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(tmp_path / ("mine" if kind == "link" else "nothing"))
    for path in (directory.path, tmp_path):
        with pytest.raises(InputError, match=f"{place.name} is a {kind.removeprefix('broken ')}"):
            RunDirectory.existing(path)
    place.unlink()
    assert RunDirectory.existing(tmp_path).path == directory.path


def test_a_sparse_file_in_a_run_folder_is_not_read_into_memory(tmp_path: Path) -> None:
    directory = begin(tmp_path)
    with directory.file("runs").open("wb") as file:
        file.truncate(3 * 2**30)
    with pytest.raises(InputError, match="line 1 is longer than 64 MiB"):
        directory.finished()
    with (directory.path / "config.json").open("wb") as file:
        file.truncate(3 * 2**30)
    with pytest.raises(InputError, match=r"too large: 3\.0 GiB, but at most 1 GiB"):
        directory.read_config()
