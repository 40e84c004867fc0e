"""`--user`: a player of one's own in the user's seat, named `module:factory`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

USERS = """\
import os
from birdenv import Move

class Loud:
    def __init__(self, argument, context):
        self.argument = argument

    def move(self, view):
        return Move("answer", f"{self.argument or 'LOUD'} {len(view.heard)}")

def polite(view):
    return Move("answer", f"Thank you for asking in process {os.getpid()}.")

def broken(view):
    raise ValueError("no voice")

def mute(view):
    return None

def gone(view):
    return Move("quit")
"""


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with users, in the folder where the command is started."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "my_users.py").write_text(USERS)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return "my_users"


def played(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    runs = (folder / "latest" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in runs], json.loads((folder / "latest" / "config.json").read_text())


def answers(record: dict[str, Any]) -> list[str]:
    return [event["data"] for event in record["example"]["events"] if event["action"] == "answer"]


@pytest.mark.every(2)
@pytest.mark.parametrize("game", ["c-interact", "a-interact"])
def test_a_factory(birdenv: Command, tmp_path: Path, users: str, game: str) -> None:
    ran = birdenv(game, "--user", f"{users}:Loud", "-n", 2, "-o", tmp_path / "runs")
    assert ran.code == 0, ran
    records, config = played(tmp_path / "runs")
    assert config["user"] == f"{users}:Loud"
    for record in records:
        assert record["status"] == "completed" and answers(record)[0] == "LOUD 1"


@pytest.mark.slow
def test_an_argument_and_a_function(birdenv: Command, tmp_path: Path, users: str) -> None:
    for user, says in ((f"{users}:Loud:QUIET", "QUIET 1"), (f"{users}:polite", "Thank you for asking")):
        ran = birdenv("c-interact", "--user", user, "-n", 1, "-o", tmp_path / "runs")
        assert ran.code == 0, ran
        [record], _ = played(tmp_path / "runs")
        assert answers(record)[0].startswith(says)


def test_play_takes_the_user_too(birdenv: Command, tmp_path: Path, users: str) -> None:
    """As its shorthands do: also with `=`, and with -n."""
    arguments = ("--agent=asks-first", f"--user={users}:Loud", "-n", 1, "-o", tmp_path / "runs")
    ran = birdenv("play", "c-interact", *arguments)
    assert ran.code == 0, ran
    [record], config = played(tmp_path / "runs")
    assert config["user"] == f"{users}:Loud" and answers(record)[0] == "LOUD 1"


def test_a_style(birdenv: Command, tmp_path: Path) -> None:
    ran = birdenv("c-interact", "--user-style", "terse", "-n", 1, "-o", tmp_path / "runs")
    assert ran.code == 0, ran
    [record], config = played(tmp_path / "runs")
    assert config["user_style"] == "terse" and answers(record)[0] == "At least 40 seats."


def test_a_user_of_others_runs_in_a_process_of_its_own(birdenv: Command, tmp_path: Path, users: str) -> None:
    import os

    ran = birdenv("c-interact", "--user", f"{users}:polite", "-n", 1, "-o", tmp_path / "runs")
    assert ran.code == 0, ran
    [record], _ = played(tmp_path / "runs")
    assert f"process {os.getpid()}." not in answers(record)[0]


def test_a_user_that_raises_costs_its_episode(birdenv: Command, tmp_path: Path, users: str) -> None:
    ran = birdenv("c-interact", "--user", f"{users}:broken", "-n", 1, "-o", tmp_path / "runs")
    assert ran.code == 1 and "no voice" in ran.err
    assert "1 episode ended early with an error of another seat's player and did not count" in ran.err
    assert "counted as failed" not in ran.out + ran.err


@pytest.mark.every(3)
@pytest.mark.parametrize(("user", "why"), [("mute", "said nothing"), ("gone", "left")])
@pytest.mark.parametrize("game", ["c-interact", "a-interact"])
def test_a_user_that_does_not_answer_is_not_the_agent_s_failure(
    birdenv: Command, tmp_path: Path, users: str, game: str, user: str, why: str
) -> None:
    ran = birdenv(game, "--user", f"{users}:{user}", "-n", 1, "-o", tmp_path / "runs")
    assert ran.code == 1 and "ended early with an error of another seat's player" in ran.err
    [record], _ = played(tmp_path / "runs")
    assert (record["status"], record["failed_seat"]) == ("partner error", "user")
    assert record["error"] == f"the player of the seat user {why}"
    assert birdenv("blame", tmp_path / "runs").out.endswith("the player of the seat user failed\n")


@pytest.mark.parametrize(
    ("user", "says"),
    [
        ("my_users:nobody", "cannot be"),
        ("no_such_module:User", "unknown user"),
        ("gpt", "unknown user 'gpt'"),
    ],
)
def test_users_that_cannot_be(birdenv: Command, tmp_path: Path, users: str, user: str, says: str) -> None:
    ran = birdenv("c-interact", "--user", user, "-n", 1, "-o", tmp_path / "runs")
    assert ran.code == 2 and ran.err.startswith("Error: ") and ran.err.count("\n") == 1
    assert says in ran.err
    assert not (tmp_path / "runs").exists()
