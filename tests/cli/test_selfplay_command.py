"""`birdenv selfplay`: N dialogues of two players, kept as any run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def _run(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    runs = (folder / "latest" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in runs], json.loads((folder / "latest" / "config.json").read_text())


def test_n_dialogues_of_any_two_players(birdenv: Command, tmp_path: Path) -> None:
    both = ("c-interact", "--players", "asks-first", "rule:vague", "-n", 5, "--instances", "library_1,coop_6")
    priced = ("--reward-scheme", "user_cost", "--question-price", "0.05", "--disclosure-price", "0.1")
    ran = birdenv("selfplay", *both, *priced, "--seed", 3, "-o", tmp_path / "one")
    assert ran.code == 0, ran
    records, config = _run(tmp_path / "one")
    played = [(record["instance_id"], record["repeat"]) for record in records]
    assert sorted(played) == [
        ("coop_6", 0),
        ("coop_6", 1),
        ("library_1", 0),
        ("library_1", 1),
        ("library_1", 2),
    ]
    assert (config["agent"], config["user"], config["episodes"]) == ("asks-first", "rule:vague", 5)
    first = records[0]
    asked = first["questions"] + first["free_questions"]
    assert first["rewards"]["system"] == round(first["reward"] - 0.05 * asked, 10) < first["reward"]
    assert "UNFINISHED" not in ran.out  # five were asked for
    assert "Reward of the system" in ran.out and "Reward of the user" in ran.out
    again = birdenv("selfplay", *both, *priced, "--seed", 3, "-o", tmp_path / "two")
    assert again.code == 0 and _run(tmp_path / "two")[0] == records
    resumed = birdenv("selfplay", "c-interact", "--resume", tmp_path / "one")
    assert resumed.code == 0 and len(_run(tmp_path / "one")[0]) == 5


def test_a_person_at_the_terminal_sits_in_any_seat(
    birdenv: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter(["too little, sorry", "quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    arguments = ("bargain", "--players", "rulebased", "human", "-n", 1, "-o", tmp_path)
    ran = birdenv("selfplay", *arguments)
    assert ran.code == 0 and "You want to sell the advertised item." in ran.out
    [record] = _run(tmp_path)[0]
    assert [event["agent"] for event in record["example"]["events"]] == [0, 1, 0, 1]
    several = birdenv("selfplay", *arguments, "--parallel", 2)
    assert several.code == 2 and "leave out --parallel" in several.err


def test_what_cannot_be_played_is_said(birdenv: Command, tmp_path: Path) -> None:
    for arguments, why in (
        (("bird", "-n", 1), "1 seat"),
        (("c-interact", "--user", "rule"), "No such option: --user"),
        (("c-interact", "--players", "asks-first", "nobody"), "unknown user 'nobody'"),
        (("c-interact", "--players", "", "rule"), "unknown agent ''"),
        (("c-interact", "--reward-scheme", "greedy"), "--reward-scheme"),
    ):
        ran = birdenv("selfplay", *arguments, "-o", tmp_path / "none")
        assert ran.code == 2 and why in ran.err, ran
    assert not (tmp_path / "none").exists()
