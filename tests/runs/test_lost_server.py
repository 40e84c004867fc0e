"""What a run does when the server under an episode is lost: play it again, and never score it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from arenas import bird, plan_of

from birdenv.dialogue import Arena, Dialogue
from birdenv.errors import InfrastructureError
from birdenv.runs import RunDirectory, jobs, prepare, run


class Losing:
    """Loses the server in the first `losses` episodes that are begun with a task, at their end."""

    losses = 0
    begun = 0

    def __init__(self, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
        self.arena = arena
        play_safely = jobs.play_safely

        def losing(dialogue: Dialogue, players: Any, game: Any) -> Any:
            broken = play_safely(dialogue, players, game)
            self.begun += 1
            if self.begun <= self.losses:
                raise InfrastructureError("the server was lost while a statement ran")
            return broken

        monkeypatch.setattr(jobs, "play_safely", losing)


@pytest.fixture
def game(demo: Path, monkeypatch: pytest.MonkeyPatch) -> Losing:
    monkeypatch.setattr(jobs, "_PAUSE_SECONDS", 0.0)
    return Losing(bird(demo, 3), monkeypatch)


def played(game: Losing, folder: Path, losses: int) -> tuple[RunDirectory, dict[str, Any]]:
    game.losses, game.begun = losses, 0
    directory = RunDirectory.create(folder)
    plan = plan_of(game.arena, "random", seed=3)
    prepare(directory, plan.config(), resume=False)
    return directory, dict(run(plan, directory).overall)


def test_an_episode_is_played_again_from_its_beginning(game: Losing, tmp_path: Path) -> None:
    undisturbed, overall = played(game, tmp_path / "a", 0)
    disturbed, again = played(game, tmp_path / "b", 2)
    assert game.begun == 3 + 2
    assert again == overall
    assert disturbed.file("runs").read_bytes() == undisturbed.file("runs").read_bytes()


def test_after_three_losses_it_is_an_infrastructure_failure_and_not_scored(
    game: Losing, tmp_path: Path
) -> None:
    directory, overall = played(game, tmp_path, 3)
    first, *others = directory.read("runs").values()
    assert (first["status"], first["error"]) == ("infra_error", "the server was lost while a statement ran")
    assert first["result"]["ex"] == 0
    assert [record["status"] for record in others] == ["completed", "completed"]
    assert overall["episodes"]["rated"] == 2, "what nobody played counts for nobody"
    assert overall["status"]["infra_error"] == 1


def test_resuming_plays_it_at_last(game: Losing, tmp_path: Path) -> None:
    undisturbed, overall = played(game, tmp_path / "a", 0)
    directory, _ = played(game, tmp_path / "b", 3)
    game.losses = 0
    assert run(plan_of(game.arena, "random", seed=3), directory).overall == overall
    assert directory.file("runs").read_bytes() == undisturbed.file("runs").read_bytes()
