"""What a run does when the server under an episode is lost: play it again, and never score it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from birdenv.benchmarks import DEMO_BIRD_FILE
from birdenv.databases import SqliteSource
from birdenv.errors import InfrastructureError
from birdenv.runs import BirdRun, RunDirectory, Setting, make_agent, prepare, run, run_config
from birdenv.runs import _runner as runner
from birdenv.tasks.bird import load_tasks


class LosingRun(BirdRun):
    """Loses its server in the first `losses` episodes that are begun with a task."""

    losses = 0
    begun = 0

    def play(self, task: Any, agent: Any, rng: Random) -> dict[str, dict[str, Any]]:
        records = super().play(task, agent, rng)
        self.begun += 1
        if self.begun <= self.losses:
            raise InfrastructureError("the server was lost while a statement ran")
        return records


@pytest.fixture
def game(demo: Path, monkeypatch: pytest.MonkeyPatch) -> LosingRun:
    monkeypatch.setattr(runner, "_PAUSE_SECONDS", 0.0)
    tasks = load_tasks(demo / DEMO_BIRD_FILE)[:3]
    return LosingRun(
        tasks=tasks,
        source=SqliteSource(demo),
        setting=Setting("bird", [task.public for task in tasks]),
        data_file=demo / DEMO_BIRD_FILE,
    )


def played(game: LosingRun, folder: Path, losses: int) -> tuple[RunDirectory, dict[str, Any]]:
    game.losses, game.begun = losses, 0
    directory = RunDirectory.create(folder)
    prepare(directory, run_config(game, "random", 3), resume=False)
    summary = run(game, make_agent("random", game), directory, seed=3)
    return directory, dict(summary.overall)


def test_an_episode_is_played_again_from_its_beginning(game: LosingRun, tmp_path: Path) -> None:
    undisturbed, overall = played(game, tmp_path / "a", 0)
    disturbed, again = played(game, tmp_path / "b", 2)
    assert game.begun == 3 + 2
    assert again == overall
    assert disturbed.file("runs").read_bytes() == undisturbed.file("runs").read_bytes()


def test_after_three_losses_it_is_an_infrastructure_failure_and_not_scored(
    game: LosingRun, tmp_path: Path
) -> None:
    directory, overall = played(game, tmp_path, 3)
    first, *others = directory.read("runs").values()
    assert (first["status"], first["error"]) == ("infra_error", "the server was lost while a statement ran")
    assert first["result"]["ex"] == 0
    assert [record["status"] for record in others] == ["completed", "completed"]
    assert overall["episodes"]["rated"] == 2, "what nobody played counts for nobody"
    assert overall["status"]["infra_error"] == 1


def test_resuming_plays_it_at_last(game: LosingRun, tmp_path: Path) -> None:
    undisturbed, overall = played(game, tmp_path / "a", 0)
    directory, _ = played(game, tmp_path / "b", 3)
    game.losses = 0
    assert run(game, make_agent("random", game), directory, seed=3).overall == overall
    assert directory.file("runs").read_bytes() == undisturbed.file("runs").read_bytes()
