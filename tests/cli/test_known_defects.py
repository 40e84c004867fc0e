"""Lists of defective tasks: written by the commands that check, read by those that play."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from birdenv import make_game
from birdenv.demo import DEMO_BIRD_FILE, demo_folder
from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.runs import RunDirectory
from birdenv.tasks import write_defects
from birdenv.tasks.sql._records import read_defects

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "c_interact"))
from toy_tasks import QUERY, write_benchmark

Command = Callable[..., Any]
SECRET = "a_secret_word"
ROTTEN = QUERY | {"instance_id": "rotten", "sol_sql": [f"SELECT '{SECRET}' FROM nowhere"]}
GAMES = {
    "bird": ["bird"],
    "c-interact": ["c-interact"],
    "a-interact": ["a-interact"],
    "any game": ["play", "c-interact"],
    "self-play": ["selfplay", "c-interact", "--players", "oracle", "rule"],
}
DEFECTS = {name: ["the gold does not run"] for name in ("library_1", "1")}


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    file = tmp_path / "known_defects.jsonl"
    write_defects(file, DEFECTS)
    return file


def test_verify_writes_a_list_that_playing_reads(birdenv: Command, tmp_path: Path) -> None:
    data = write_benchmark(tmp_path / "data", QUERY, ROTTEN)
    file, report = tmp_path / "defects.jsonl", tmp_path / "report.json"
    ran = birdenv("data", "verify", data, "--defects", file, "--report", report)
    assert (ran.code, f"Defective tasks: {file} (1)" in ran.out) == (1, True), ran.err
    assert read_records(file) == [{"instance_id": "rotten", "reasons": ["the gold does not run"]}]
    assert SECRET not in file.read_text() and SECRET not in json.dumps(
        json.loads(report.read_text())["defects"]
    )
    lost = birdenv("c-interact", data, "--agent", "oracle", "-o", tmp_path / "all")
    assert "infra_error" in lost.out
    ran = birdenv("c-interact", data, "--agent", "oracle", "-o", tmp_path / "runs", "--leave-out", file)
    assert ran.code == 0, ran.err
    assert f"Left out: 1 task listed in {file}" in ran.err
    assert "leave_out defects.jsonl" in ran.out and "infra_error" not in ran.out
    config = RunDirectory.existing(tmp_path / "runs" / "latest").read_config()
    assert (config["leave_out"], config["tasks"]) == ("defects.jsonl", ["club_1"])


def test_self_check_writes_a_list_too(birdenv: Command, tmp_path: Path) -> None:
    tasks = read_records(demo_folder() / DEMO_BIRD_FILE)[:4]
    tasks[0]["SQL"] = f"SELECT '{SECRET}' FROM nowhere"
    tasks[1]["SQL"] = ["SELECT date('now')", "SELECT random()"]
    data, file = tmp_path / "tasks.json", tmp_path / "defects.jsonl"
    for task in tasks:
        task.pop("by_dialect", None)
    data.write_text(json.dumps(tasks))
    ran = birdenv("self-check", data, demo_folder(), "--defects", file)
    assert (ran.code, f"Defective tasks: {file} (2)" in ran.out) == (1, True), ran.err
    assert SECRET not in file.read_text()
    found = read_defects(file)
    clock, other = "a gold reads the clock or random numbers", "a gold does not pass its own grading"
    assert list(found.values()) == [["a gold does not run"], [clock, other]]
    ran = birdenv(
        "bird", data, demo_folder(), "--agent", "oracle", "--leave-out", file, "-o", tmp_path / "runs"
    )
    assert (ran.code, "Left out: 2 tasks" in ran.err) == (0, True), ran.err


@pytest.mark.parametrize("command", GAMES.values(), ids=GAMES.keys())
def test_every_command_that_plays_reads_a_list(
    birdenv: Command, tmp_path: Path, listed: Path, command: list[str]
) -> None:
    agent = [] if command[0] == "selfplay" else ["--agent", "oracle"]
    limit = ["--limit", 2] if command[0] != "selfplay" else ["--limit=2"]
    ran = birdenv(*command, *agent, *limit, "--leave-out", listed, "-o", tmp_path / "runs")
    assert ran.code == 0, ran.err
    directory = RunDirectory.existing(tmp_path / "runs" / "latest")
    tasks = directory.read_config()["tasks"]
    assert len(tasks) == 2 and not DEFECTS.keys() & set(tasks)
    assert directory.read_config()["leave_out"] == "known_defects.jsonl"
    assert len(directory.finished()) == len(tasks)
    ran = birdenv("summary", directory.path)
    assert "leave_out known_defects.jsonl" in ran.out


def test_the_limit_counts_what_is_left(birdenv: Command, tmp_path: Path, listed: Path) -> None:
    ran = birdenv("c-interact", "--agent", "oracle", "-n", 1, "--leave-out", listed, "-o", tmp_path / "runs")
    assert ran.code == 0, ran.err
    tasks = RunDirectory.existing(tmp_path / "runs" / "latest").read_config()["tasks"]
    assert len(tasks) == 1 and tasks != ["library_1"]


def test_a_run_is_resumed_with_its_list(birdenv: Command, tmp_path: Path, listed: Path) -> None:
    run = ["c-interact", "--agent", "oracle", "-n", 2, "--leave-out", listed, "-o", tmp_path / "runs"]
    assert birdenv(*run).code == 0
    assert birdenv("c-interact", "--resume", tmp_path / "runs").code == 0
    write_defects(listed, DEFECTS | {"library_2": []})
    ran = birdenv("c-interact", "--resume", tmp_path / "runs")
    assert (ran.code, "tasks" in ran.err) == (2, True)


@pytest.mark.slow
def test_comparing_says_that_one_run_left_tasks_out(birdenv: Command, tmp_path: Path, listed: Path) -> None:
    run = ["c-interact", "--agent", "oracle", "--database", "library"]
    for name, more in (("a", []), ("b", ["--leave-out", listed])):
        assert birdenv(*run, *more, "-o", tmp_path / name).code == 0
    ran = birdenv("compare", tmp_path / "a", tmp_path / "b")
    assert (ran.code, "the tasks (1 only in the first" in ran.err) == (2, True)
    ran = birdenv("compare", tmp_path / "a", tmp_path / "b", "--allow-different")
    assert "differ in the setting leave_out (None and known_defects.jsonl)" in ran.out


BAD = {
    "no such file": (None, "nowhere.jsonl"),
    "another file": ("[1]", "record 1 is not a JSON object"),
    "no id": ('{"reasons": []}', "record 1: the field `instance_id` must be text"),
    "an id of another type": ('{"instance_id": 7}', "must be text"),
    "reasons of another type": ('{"instance_id": "7", "reasons": "x"}', "the field `reasons` must be a list"),
    "a list of other data": ('{"instance_id": "elsewhere"}', "it seems to belong to other data"),
}


@pytest.mark.parametrize(("text", "says"), BAD.values(), ids=BAD.keys())
def test_what_is_no_list_of_these_tasks(
    birdenv: Command, tmp_path: Path, text: str | None, says: str
) -> None:
    file = tmp_path / "nowhere.jsonl"
    if text is not None:
        file.write_text(text)
    for command in ("bird", "c-interact"):
        ran = birdenv(command, "--agent", "oracle", "--leave-out", file, "-o", tmp_path / "runs")
        assert (ran.code, says in ran.err, "Traceback" in ran.err) == (2, True, False), ran.err


def test_an_empty_list_leaves_nothing_out(birdenv: Command, tmp_path: Path) -> None:
    file = tmp_path / "defects.jsonl"
    assert birdenv("data", "verify", "--no-oracle", "--defects", file).code == 0
    ran = birdenv("c-interact", "--agent", "oracle", "-n", 1, "--leave-out", file, "-o", tmp_path / "runs")
    assert (ran.code, "left out" in ran.err) == (0, False), ran.err


def test_a_defective_task_that_is_asked_for_is_an_error(birdenv: Command, listed: Path) -> None:
    ran = birdenv("c-interact", "--instance", "library_1", "--leave-out", listed)
    assert ran.code == 2 and "library_1 was requested" in ran.err and "the gold does not run" in ran.err


def test_nothing_is_left(birdenv: Command, tmp_path: Path) -> None:
    data = write_benchmark(tmp_path / "data", QUERY)
    file = tmp_path / "defects.jsonl"
    write_defects(file, {"club_1": []})
    ran = birdenv("c-interact", data, "--leave-out", file)
    assert (ran.code, f"{file} lists all 1 of them as defective" in ran.err) == (2, True)


def test_the_file_of_defects_must_be_a_file_of_its_own(birdenv: Command, tmp_path: Path) -> None:
    data = write_benchmark(tmp_path / "data", QUERY)
    ran = birdenv("data", "verify", data, "--defects", data / "c_interact.jsonl")
    assert (ran.code, "must be a separate file" in ran.err) == (2, True)


def test_environments_leave_out_too(listed: Path) -> None:
    for name in ("CInteract", "AInteract", "BirdSql"):
        with pytest.warns(UserWarning, match="Left out: 1 task listed"):
            env: Any = gymnasium.make(f"birdenv/{name}-v0", leave_out=str(listed))
        assert not DEFECTS.keys() & set(env.unwrapped.instance_ids)
        env.close()
    with pytest.raises(InputError, match="nowhere"):
        gymnasium.make("birdenv/CInteract-v0", leave_out="nowhere.jsonl")


@pytest.mark.filterwarnings("ignore:. task")
@pytest.mark.parametrize("game", ["c-interact", "bird"])
def test_a_list_that_has_changed_is_read_again(listed: Path, game: str) -> None:
    """Also while tasks by the list of before are in use."""
    first = make_game(game, leave_out=str(listed))
    write_defects(listed, {name: [] for name in first.ids[:3]})
    second = make_game(game, leave_out=str(listed))
    assert not set(first.ids[:3]) & set(second.ids) and len(second.ids) == len(first.ids) - 2
    first.close()
    second.close()
