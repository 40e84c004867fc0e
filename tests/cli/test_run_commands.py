"""Runs as people name them: resumed with nothing but the run, listed, in folders named by who played."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from birdenv.demo import demo_folder
from birdenv.dialogue.games import find_game
from birdenv.runs import data_name, folder_name

Command = Callable[..., Any]


def cut(run: Path, keep: int) -> None:
    """Leave the first episodes of a run, as a kill does."""
    for stream in ("runs", "private", "timings"):
        file = run / f"{stream}.jsonl"
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:keep]))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "command",
    [
        ["bird", "--agent", "random", "--seed", "7", "--difficulty", "simple", "-n", "4", "--no-evidence"],
        ["c-interact", "--agent", "asks-first", "--patience", "1", "-n", "3", "--profile", "shell"],
        ["play", "a-interact", "--agent", "never-asks", "--limit", "3", "--patience", "2"],
    ],
    ids=["bird", "c-interact", "play"],
)
def test_resume_needs_the_run_and_nothing_else(
    birdenv: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert birdenv(*command).code == 0
    [run] = [path.parent for path in tmp_path.glob("results/*/run-*/config.json")]
    whole = (run / "runs.jsonl").read_text()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for named in (run, run.parent, run.parent / "latest"):
        cut(run, 1)
        ran = birdenv(command[0], "--resume", named)
        assert ran.code == 0, ran
        assert f"Results: {run}\n" in ran.out
        assert (run / "runs.jsonl").read_text() == whole
    assert not list((tmp_path / "elsewhere").iterdir())
    other = "c-interact" if command[0] == "bird" else "bird"
    ran = birdenv(other, "--resume", run)
    assert (ran.code, f"is a run of birdenv {command[0]}: resume it" in ran.err) == (2, True)
    ran = birdenv(command[0], "--resume", run, "--agent", "oracle")
    assert ran.code == 2 and "agent: " in ran.err


def test_ids_give_the_terminal_no_commands(birdenv: Command, tmp_path: Path) -> None:
    """Neither while a run is played, nor where it is read."""
    tasks = json.loads((demo_folder() / "bird.json").read_text())[:2]
    for task in tasks:
        task["SQL"] = "SELECT date('now')"  # of which `self-check` says something
        task["question_id"] = f"\x1b]0;x\x07{task['question_id']}\x9b2J"
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    where = ("bird", tmp_path / "tasks.json", demo_folder(), "-o", tmp_path / "out", "--agent", "oracle")
    for command in (where, (*where, "--verbose"), ("self-check", tmp_path / "tasks.json", demo_folder())):
        ran = birdenv(*command)
        printed = (ran.out + ran.err).replace("\n", "")
        assert r"\x1b]0;x\x07" in printed, ran
        assert printed.isprintable(), ran


def test_folders_are_named_by_both_players_and_their_arguments() -> None:
    specs = [
        "llm:a/b",
        "llm:a-b",
        "llm:a b",
        "llm-a-b",
        "llm=a-b",
        "llm:" + "x" * 300,
        "llm:" + "x" * 301,
        "ä",
    ]
    names = [folder_name([spec, "rule"], "c-interact") for spec in specs]
    names += [folder_name(["a", "b-c"], "bird"), folder_name(["a-b", "c"], "bird")]
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name) < 120 and not set(name) & set("/\\:*?\"<>| '$&\n"), name
    assert folder_name(["asks-first", "rule"], "c-interact") == "asks-first+rule-c-interact"
    assert folder_name(["oracle"], "bird") == "oracle-bird"


def test_folders_name_the_file_the_data_and_the_game(birdenv: Command, tmp_path: Path) -> None:
    """And the folder is told before the first episode, so that a run can be looked at while it goes on."""
    place = tmp_path / "a-rather-long-folder" / ("b" * 40)
    place.mkdir(parents=True)
    tasks = json.loads((demo_folder() / "bird.json").read_text())[:1]
    (place / "my_tasks.json").write_text(json.dumps(tasks))
    predictions = place / "first.try.json"
    name, sql = tasks[0]["question_id"], tasks[0]["SQL"]
    predictions.write_text(json.dumps([{"question_id": name, "predicted_sql": sql}]))
    with chdir(tmp_path):
        ran = birdenv("bird", place / "my_tasks.json", demo_folder(), "--agent", f"predictions:{predictions}")
    assert ran.code == 0, ran
    [run] = tmp_path.glob("results/*/run-*")
    assert re.fullmatch(r"predictions=first\.try-[0-9a-f]{8}-my_tasks-bird", run.parent.name)
    assert ran.out.startswith(f"Run folder: {run.relative_to(tmp_path)}\n"), ran
    settings = find_game("c-interact").settings(data_dir=str(place.parent), data="merged.jsonl")
    assert data_name(settings) == "a-rather-long-folder-merged"
    assert data_name(find_game("mutual-friends").settings(scenarios="draws.json")) == "draws"
    assert data_name(find_game("bird").settings()) == ""
    for one, other in (("mine:agent:/a/b.json", "mine:agent:/c/b.json"), ("llm:a/b", "llm:c/b")):
        assert folder_name([one], "bird") != folder_name([other], "bird")
    assert folder_name(["mine:agent:/a/b.json"], "bird").startswith("mine=agent-b-")


def test_a_task_file_alone_has_its_databases_beside_it(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    play = ("c-interact", "--agent", "oracle", "-n", "1", "-o", tmp_path / "out", "--data")
    ran = birdenv(*play, demo / "c_interact.jsonl")
    assert (ran.code, ran.err) == (0, ""), ran
    mine = tmp_path / "mine.jsonl"
    mine.write_text((demo / "c_interact.jsonl").read_text())
    ran = birdenv(*play, mine)
    assert ran.code == 2 and f"{tmp_path} has no folder" in ran.err, "where it looked is where the file is"
    assert birdenv(play[0], demo, *play[1:], mine).code == 0


def test_runs_are_listed(birdenv: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = birdenv("runs")
    assert ran.code == 2 and "results contains no runs" in ran.err
    assert birdenv("c-interact", "--agent", "oracle", "-n", "2").code == 0
    assert birdenv("c-interact", "--agent", "oracle", "-n", "1", "--user-style", "terse").code == 0
    assert birdenv("bird", "--agent", "oracle", "-n", "2").code == 0
    [damaged] = (tmp_path / "results" / "oracle-bird").glob("run-*")
    ran = birdenv("runs")
    assert ran.code == 0
    assert sum("/run-" in line for line in ran.out.splitlines()) == 3
    assert max(map(len, ran.out.splitlines())) <= 100
    assert "results/oracle+rule-c-interact/run-" in ran.out
    assert "  c-interact  oracle + rule  2/2 episodes  Mean reward 1.000" in ran.out
    assert "  c-interact  oracle + rule  1/1 episodes  Mean reward 1.000  user_style=terse" in ran.out
    assert "EX 100.0 %" in ran.out
    (damaged / "config.json").write_text("{")
    assert "not JSON" in birdenv("runs", tmp_path / "results").out


def test_the_module_is_the_command_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "birdenv", "--version"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.strip() != "") == (0, True)


def test_a_setting_of_zero_is_kept_for_a_resumed_run() -> None:
    from birdenv.cli.options._run_options import command_given

    given = {"patience": 0, "temperature": 0.0, "model": None, "verbose": True, "cross_talk": False}
    assert command_given("play", given)["command"]["options"] == {"patience": 0, "temperature": 0.0}


def test_no_password_is_kept_for_a_resumed_run() -> None:
    """Without a server to ask: the options are written down as they are read."""
    from birdenv.cli.options._run_options import command_given

    given = {"dsn": "postgresql://me:hunter2@host:5433/db", "resume": Path("x"), "db_dir": Path("a")}
    kept = command_given("bird", given)
    assert "hunter2" not in json.dumps(kept)
    assert kept["command"]["options"].keys() == {"dsn", "db_dir"}
    assert kept["command"]["options"]["dsn"] == "user=me host=host port=5433 dbname=db"
    assert Path(kept["command"]["options"]["db_dir"]).is_absolute()
