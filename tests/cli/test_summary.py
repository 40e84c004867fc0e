"""`birdenv summary` and `birdenv compare` from the command line."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def runs(birdenv: Command, tmp_path: Path) -> Path:
    """Folders `a` and `b` of runs of BIRD, `c` of a run of c-Interact."""
    for name, command in (("a", "bird --seed 1"), ("b", "bird --seed 2"), ("c", "c-interact")):
        ran = birdenv(*command.split(), "--agent", "random", "-n", "12", "-o", tmp_path / name)
        assert ran.code == 0
    return tmp_path


def refused(ran: Any, *says: str) -> None:
    assert (ran.code, ran.out) == (2, ""), ran
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    for part in says:
        assert part in ran.err


def test_summary(birdenv: Command, runs: Path) -> None:
    ran = birdenv("summary", runs / "a")
    assert ran.code == 0
    assert ran.out == birdenv("summary", runs / "a" / "latest").out
    assert "the demo, 12 tasks on 1 database" in ran.out and "12 of 12 finished" in ran.out
    everything = birdenv("summary", runs / "a", "--all").out
    assert everything == (runs / "a" / "latest" / "summary.txt").read_text()
    assert "12 tasks; 12 episodes rated" in everything
    assert max(map(len, everything.splitlines())) <= 100
    found = json.loads(birdenv("summary", runs / "c", "--json").out)
    assert found["game"] == "c-interact"
    assert list(found["by"]) == ["category", "difficulty", "high_level", "ambiguity", "database"]
    assert "semantic_ambiguity" in found["by"]["ambiguity"] and "detailed" in found["by"]["high_level"]
    shown = birdenv("summary", runs / "c", "--by", "high_level,ambiguity").out
    assert "Mean reward by level" in shown and "Mean reward by ambiguity" in shown
    assert "by category" not in shown
    reference = birdenv("summary", runs / "a", "--reference").out
    assert reference.startswith("Total:       12\nPassed (EX): ")
    assert reference in everything and "Passed (EX)" not in ran.out


def test_the_first_screen(birdenv: Command, runs: Path) -> None:
    """It has 15 lines of at most 100 characters, and is what the end of a run prints."""
    for name in ("a", "c"):
        shown = birdenv("summary", runs / name).out
        lines = shown.splitlines()
        assert len(lines) <= 15
        assert all(len(line) <= 100 for line in lines if not line.startswith("Next"))
        labels = [line[:24].rstrip() for line in lines]
        assert len(set(labels) - {"Next"}) == len(labels) - labels.count("Next"), "each figure has one name"
    assert "Mean reward" in labels and "Questions per task" in labels and "Failures by fault" in labels
    played = birdenv("bird", "--agent", "oracle", "-n", "1", "-o", runs / "one").out
    assert birdenv("summary", runs / "one" / "latest").out in played.replace(
        f"summary {runs / 'one'}/latest", f"summary {runs / 'one'}"
    )
    assert "95 %" not in played, "one episode has no interval"
    kept = (runs / "c" / "latest" / "runs.jsonl").read_text().splitlines(keepends=True)
    (runs / "c" / "latest" / "runs.jsonl").write_text("".join(kept[:5]))
    unfinished = birdenv("summary", runs / "c").out
    assert "UNFINISHED, 5 of 12 finished" in unfinished and "birdenv c-interact --resume " in unfinished


def test_compare(birdenv: Command, runs: Path) -> None:
    ran = birdenv("compare", runs / "a", runs / "b", "--tasks")
    assert ran.code == 0
    assert "12 tasks compared" in ran.out
    lines = ran.out.splitlines()
    [start] = [number for number, line in enumerate(lines) if line.split()[:5] == ["A", "B", "B", "-", "A"]]
    assert lines[start + 1].startswith("EX  ") and ".." in lines[start + 1]
    assert "McNemar" not in ran.out and "McNemar" in birdenv("compare", runs / "a", runs / "b", "--all").out
    assert "seed (1 and 2)" in ran.out
    found = json.loads(birdenv("compare", runs / "a", runs / "b", "--json").out)
    assert found["tasks_compared"] == 12
    assert str(runs) not in json.dumps(found)


@pytest.mark.slow
def test_repeats(birdenv: Command, tmp_path: Path) -> None:
    for game in ("bird", "c-interact"):
        arguments = [game, "--agent", "random", "-n", "3", "-o", tmp_path / game]
        ran = birdenv(*arguments, "--repeats", "2", "--verbose")
        assert ran.code == 0
        assert "pass^2 " in ran.out
        assert game == "bird" or "\nPhase 2, after debug " in ran.out
        assert " repeat 1 " in ran.err
        shown = birdenv("summary", tmp_path / game).out
        assert "3 tasks" in shown and "6 of 6 finished (2 of each task)" in shown
        resumed = birdenv(*arguments, "--resume", tmp_path / game / "latest")
        assert resumed.code == 0, "the options are the run's own"
        refused(birdenv(*arguments, "--repeats", "3", "--resume", tmp_path / game), "repeats: 2 then, 3 now")


def test_pairs_are_of_tasks_played_once(birdenv: Command, tmp_path: Path) -> None:
    refused(birdenv("bird", "--repeats", "2", "--export-pairs", tmp_path / "pairs"), "--repeats")


def test_unusable_arguments(birdenv: Command, runs: Path) -> None:
    refused(birdenv("summary", runs), "is not a run")
    refused(birdenv("summary", runs / "a", "--by", "colour"), "--by 'colour'", "difficulty, database")
    refused(birdenv("summary", runs / "a", "--all", "--json"), "use only one of --by, --all")
    refused(birdenv("summary", runs / "a", "--plot", runs / "plot.pdf"), ".png")
    refused(
        birdenv("summary", runs / "a", "--plot", runs / "a" / "latest" / "runs.jsonl" / "x.png"), "written"
    )
    refused(birdenv("compare", runs / "a"), "at least two runs")
    refused(birdenv("compare", runs / "a", runs / "c"), "different games")
    (runs / "b" / "latest" / "config.json").write_text("{")
    refused(birdenv("compare", runs / "a", runs / "b"), "config.json")


@pytest.mark.slow
def test_plot(birdenv: Command, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("matplotlib") is not None:
        assert birdenv("summary", runs / "a", "--plot", runs / "plot.png").code == 0
        assert (runs / "plot.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused(birdenv("summary", runs / "a", "--plot", runs / "none.png"), "birdenv[report]")
    assert not (runs / "none.png").exists()


def test_plots_say_what_they_wrote(birdenv: Command, runs: Path, tmp_path: Path) -> None:
    for command in (["summary", runs / "a"], ["compare", runs / "a", runs / "b"]):
        picture = tmp_path / f"{command[0]}.png"
        ran = birdenv(*command, "--json", "--plot", picture)
        assert (ran.code, ran.err) == (0, f"Written: {picture}\n")
        assert json.loads(ran.out)
        assert picture.read_bytes().startswith(b"\x89PNG")
        refused(birdenv(*command, "--plot", tmp_path / "x.pdf"), ".png")
