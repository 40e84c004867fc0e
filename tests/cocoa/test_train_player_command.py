"""`birdenv train-player`, `birdenv test-player`: from dialogues to a player, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def run(birdenv: Command, tmp_path: Path) -> Path:
    """Twelve dialogues of Bargain."""
    made = ("selfplay", "bargain", "--players", "rulebased", "rulebased", "-n", 12, "-o", tmp_path / "run")
    assert birdenv(*made).code == 0
    return tmp_path / "run"


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", ["learned", "hybrid", "retrieval"])
def test_a_player_is_trained_tested_and_plays(kind: str, run: Path, birdenv: Command, tmp_path: Path) -> None:
    if kind == "retrieval":
        pytest.importorskip("bm25s")
    file, spec = tmp_path / "player.json", f"{kind}:{tmp_path / 'player.json'}"
    ran = birdenv("train-player", "bargain", "--data", run, "--kind", kind, "--out", file)
    assert ran.code == 0 and f"Use the player as {spec}" in ran.out and "held out" in ran.out, ran
    told = tmp_path / "figures.json"
    with_play = ("--selfplay", 4, "--partner", "rulebased", "--json", told)
    ran = birdenv("test-player", "bargain", "--player", spec, "--data", run, *with_play)
    assert ran.code == 0 and "act accuracy" in ran.out and "median events" in ran.out, ran
    figures = json.loads(told.read_text())
    assert figures["moves"]["dialogues"] == 12 and figures["selfplay"]["dialogues"] == 4
    assert figures["moves"]["act_accuracy"] > figures["moves"]["most_frequent_act"]
    assert (figures["moves"]["act_perplexity"] is None) == (kind == "retrieval")


def test_the_rules_foretell_themselves(run: Path, birdenv: Command, tmp_path: Path) -> None:
    told = tmp_path / "figures.json"
    ran = birdenv("test-player", "bargain", "--player", "rulebased", "--data", run, "--json", told)
    figures = json.loads(told.read_text())["moves"]
    assert ran.code == 0 and figures["action_accuracy"] == figures["entity_f1"] == 1
    assert figures["silent"] == 0 and figures["act_perplexity"] is None


def test_players_of_sql_games_learn_from_runs_and_files(birdenv: Command, tmp_path: Path) -> None:
    """Tasks are played again with the settings of the run; of a file, with those that are given."""
    run, file, data = tmp_path / "run", tmp_path / "p.json", tmp_path / "d.json"
    assert birdenv("bird", "--agent", "never-asks", "--limit", 3, "-o", run).code == 0
    assert birdenv("export", run, "-f", "cocoa", "-o", data).code == 0
    for source in ((run,), (data, "--limit", 3)):
        ran = birdenv("train-player", "bird", "--held-out-share", 0, "--out", file, "--data", *source)
        assert ran.code == 0 and "Trained on 3 dialogues" in ran.out, ran
    ran = birdenv("test-player", "bird", "--player", f"learned:{file}", "--data", run, "--selfplay", 3)
    assert ran.code == 0 and "action accuracy             1.000" in ran.out, ran
    ran = birdenv("test-player", "bird", "--player", "rulebased", "--data", data, "--limit", 1)
    assert ran.code == 2 and "bird has no such task" in ran.err


def test_what_cannot_be_done_is_said(run: Path, birdenv: Command, tmp_path: Path) -> None:
    torn = tmp_path / "torn.json"
    torn.write_text('[{"uuid": "E", "events": [')
    train = ("train-player", "bargain", "--out", tmp_path / "p.json")
    for arguments, why in (
        (train, "no dialogues are given: name a file, a run or a study with --data"),
        ((*train, "--data", torn), "torn.json"),
        ((*train, "--data", run, "--seed", -1), "--seed"),
        ((*train, "--data", run, "--kind", "forest"), "choose from hybrid, learned, neural, retrieval"),
        (
            ("train-player", "mutual-friends", "--data", run, "-o", tmp_path / "p"),
            "it is a scenario of bargain",
        ),
        (("test-player", "bargain", "--player", "nobody", "--data", run), "unknown agent 'nobody'"),
        (("test-player", "bargain", "--player", f"learned:{torn}", "--data", run), "torn.json"),
        (("test-player", "bargain", "--player", "rulebased", "--json", "/dev/null/f"), "cannot be written"),
    ):
        ran = birdenv(*arguments)
        assert ran.code == 2 and why in ran.err, ran
    assert not (tmp_path / "p.json").exists()
