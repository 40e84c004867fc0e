"""`birdenv regrade`: what it prints, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def run_folder(birdenv: Command, tmp_path: Path) -> Path:
    arguments = ["--agent", "never-asks", "--instance", "coop_1", "--instance", "coop_2", "-o", tmp_path]
    assert birdenv("c-interact", *arguments).code == 0
    return tmp_path / "latest"


def test_all_profiles_side_by_side(birdenv: Command, run_folder: Path) -> None:
    ran = birdenv("regrade", run_folder)
    assert ran.code == 0, ran.err
    header = next(line for line in ran.out.splitlines() if "as played" in line)
    assert header.split() == ["as", "played", "strict", "shell", "adk"]
    assert "Mean reward" in ran.out
    figures = json.loads((run_folder / "regraded.json").read_text())["figures"]
    assert figures["strict"] == figures["as played"]
    again_all = birdenv("regrade", run_folder)
    again = birdenv("regrade", run_folder, "--profile", "strict")
    assert "All profiles judge every submission in the same way." in again.out
    assert birdenv("regrade", run_folder.parent).out == again_all.out, "the folder above means its latest run"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "strictly"], "c-interact has strict, shell, adk"),
        (["--clean"], "--clean applies only to runs of bird"),
        (["--data", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_bad_options(birdenv: Command, run_folder: Path, arguments: list[str], message: str) -> None:
    ran = birdenv("regrade", run_folder, *arguments)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_a_interact(birdenv: Command, tmp_path: Path) -> None:
    assert birdenv("a-interact", "--agent", "never-asks", "-n", "2", "-o", tmp_path).code == 0
    ran = birdenv("regrade", tmp_path, "--fail-doubtful")
    assert ran.code == 0, ran.err
    header = next(line for line in ran.out.splitlines() if "as played" in line)
    assert header.split() == ["as", "played", "strict", "adk"]
    assert "a-interact, regraded" in ran.out and "strict with fail_doubtful" in ran.out
    ran = birdenv("regrade", tmp_path, "--profile", "shell")
    assert ran.code == 2 and "a-interact has strict, adk" in ran.err
    ran = birdenv("regrade", tmp_path, "--clean")
    assert ran.code == 2 and "this is a run of a-interact" in ran.err


def test_what_is_no_run(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("regrade", tmp_path)
    assert ran.code == 2 and "is not a run: specify" in ran.err
    (tmp_path / "config.json").write_text('{"game": "chess"}')
    ran = birdenv("regrade", tmp_path)
    assert ran.code == 2 and "'chess'" in ran.err


def test_bird(birdenv: Command, tmp_path: Path) -> None:
    assert birdenv("bird", "--agent", "oracle", "-n", "2", "-o", tmp_path).code == 0
    ran = birdenv("regrade", tmp_path / "latest", "--clean")
    assert ran.code == 0 and "EX, now, cleaned             2/2" in ran.out
    ran = birdenv("regrade", tmp_path / "latest", "--profile", "shell")
    assert ran.code == 2 and "--profile applies only to runs of c-Interact and a-Interact" in ran.err
