"""Whose player failed: the agent's failure counts, another seat's makes the episode void."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from arenas import c_interact

from birdenv.dialogue import Move, View
from birdenv.runs import RunDirectory, RunPlan, prepare, run
from birdenv.runs._run_warnings import run_warnings
from birdenv.runs.blame import blame_run
from birdenv.tasks.c_interact import CInteractRules


def _asks(view: View) -> Move:
    return Move("clarify", "Which ones?") if "clarify" in view.legal else Move("submit_sql", "SELECT 1")


def _raises(view: View) -> Move:
    raise RuntimeError("no idea")


class _NoMove:
    def move(self, view: View) -> Any:
        return 3


def _played(demo: Path, folder: Path, **players: Any) -> tuple[RunDirectory, Any]:
    arena = c_interact(demo, 2)
    directory = RunDirectory.create(folder)
    plan = RunPlan(arena, {0: players["agent"], 1: players["user"]})
    prepare(directory, plan.config(), resume=False)
    return directory, run(plan, directory)


def _leaves(view: View) -> Move:
    return Move("quit")


def _waits(view: View) -> None:
    return None


@pytest.mark.parametrize(
    "user", [_raises, _NoMove(), _leaves, _waits], ids=["raises", "no move", "leaves", "says nothing"]
)
def test_a_user_that_fails_makes_the_episode_void(demo: Path, tmp_path: Path, user: Any) -> None:
    directory, summary = _played(demo, tmp_path, agent=_asks, user=user)
    records = list(directory.read("runs").values())
    assert [record["status"] for record in records] == ["partner error"] * 2
    assert {record["failed_seat"] for record in records} == {"user"}
    assert "2 episodes ended with an error of another seat's player: not counted." in summary.text
    [line] = run_warnings(c_interact(demo, 2), records).lines
    assert line.startswith("2 episodes ended early with an error of another seat's player and did not count.")
    assert not directory.finished()  # and is played again
    blame = blame_run(directory.path)
    assert (blame.episodes, blame.failed, set(blame.void.values())) == (0, {}, {"user"})
    assert "not counted, because the player of the seat user failed" in blame.text()


@pytest.mark.parametrize(("status", "retried"), [("task error", 1), ("infra_error", 1), ("time limit", 0)])
def test_only_episodes_that_are_played_again_are_said_to_be(demo: Path, status: str, retried: int) -> None:
    records = [{"instance_id": "library_1", "status": status, "error": "Too late."}]
    found = run_warnings(c_interact(demo, 2), records)
    assert found.retried == retried and "Too late." in found.lines[0]


def test_an_agent_that_fails_is_named_and_counted(demo: Path, tmp_path: Path) -> None:
    directory, summary = _played(demo, tmp_path, agent=_raises, user="rule")
    records = list(directory.read("runs").values())
    assert {(record["status"], record["failed_seat"]) for record in records} == {("task error", "system")}
    assert "2 episodes ended with an error of the agent: counted as failed." in summary.text


def test_an_error_of_a_game_names_the_game_and_the_method(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(self: Any, seat: int, move: Move) -> Any:
        raise KeyError("colour")

    monkeypatch.setattr(CInteractRules, "play", play)
    directory, _ = _played(demo, tmp_path, agent=_asks, user="rule")
    record = next(iter(directory.read("runs").values()))
    assert record["error"].startswith("the game c-interact failed in CInteractRules.play: KeyError: 'colour'")
    assert "failed_seat" not in record
