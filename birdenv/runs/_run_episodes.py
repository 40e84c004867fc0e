"""Play the tasks of a game from Python with a single function call."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from birdenv.dialogue import make_game
from birdenv.llm import ModelSettings
from birdenv.run_settings import RunSettings
from birdenv.runs._run_folder import RunDirectory
from birdenv.runs._run_plan import RunPlan, prepare
from birdenv.runs._run_warnings import run_warnings
from birdenv.runs._runner import Progress, run
from birdenv.runs.jobs import Engine


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        records: the public record of each episode, in task order; `record["example"]` is the transcript.
        overall: the metrics of the run, as in `overall.json`.
        text: the summary as readable text.
        folder: the run folder; None if the records were not kept on disk.
    """

    records: tuple[Mapping[str, Any], ...] = field(repr=False)
    overall: Mapping[str, Any] = field(repr=False)
    text: str
    folder: Path | None = None

    @property
    def mean_reward(self) -> float:
        """Return the mean reward over all episodes."""
        rewards = [float(record["reward"]) for record in self.records]
        return sum(rewards) / len(rewards) if rewards else 0.0


def run_episodes(
    game: str,
    agent: Any,
    *,
    seed: int = 0,
    parallel: int = 1,
    repeats: int = 1,
    output: Path | str | None = None,
    resume: Path | str | None = None,
    options: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    models: ModelSettings | None = None,
    engine: str | Engine = "threads",
    address: str | None = None,
    shard: str | None = None,
    episodes: int | None = None,
    move_timeout: float | None = 3600.0,
    **settings: Any,
) -> RunResult:
    """Play a game's tasks with an agent. Return the records and the summary.

    >>> import birdenv
    >>> result = run_episodes("bird", lambda view: birdenv.submit_sql("SELECT 1"), limit=2)
    >>> [record["status"] for record in result.records]
    ['completed', 'completed']

    Args:
        game: the name of the game.
        agent: the evaluated player: a spec (`oracle`, `module:factory`), a player, a class without arguments,
            or a function that takes a view and returns a move. If a spec names a player that is not part of
            birdenv, the player runs in a separate process that holds only public data. Objects and functions
            run in this process.
        seed: the seed for every player's random numbers.
        parallel: the number of episodes to play at the same time.
        repeats: the number of episodes to play for each task.
        output: the folder in which to create the run folder; if None, the records are not kept on disk.
        resume: the folder of a run to continue; pass it instead of `output`.
        options: settings for players, keyed by name.
        progress: a function that is called after each episode with the episode's public record.
        models: the settings of the language models: endpoints, budgets and recordings.
        engine: where the episodes are played: `threads` (of this process), `processes`, `ray`, or a
            `birdenv.engines.Engine`. All engines except threads need players that are specs.
        address: the address of a running Ray cluster; if None, Ray is started on this machine.
        shard: the part of the run to play, such as `3/16`; `birdenv merge` merges the run folders of all
            parts.
        episodes: the number of episodes to play, starting with the first; None for all.
        move_timeout: the time limit in seconds for a move by a player in a separate process; None for no
            limit.
        **settings: the game's settings, and the players for the other seats as arguments named after the
            seats.

    Raises:
        InputError: the game, a setting, a file or a player cannot be used.
        RunEndedError: the run ended early, for example because a budget is spent.
    """
    with make_game(game, **settings) as arena:
        players = {**arena.players, arena.game.evaluated: agent}
        plan = RunPlan(
            arena,
            players,
            RunSettings(
                seed=seed,
                parallel=parallel,
                repeats=repeats,
                options=dict(options or {}),
                models=models or ModelSettings(),
                engine=engine if isinstance(engine, str) else type(engine).__name__,
                address=address,
                shard=shard,
                episodes=episodes,
                move_timeout=move_timeout,
            ),
            engine=None if isinstance(engine, str) else engine,
        )
        with (
            closing(plan.open()) as opened,  # before anything is written
            tempfile.TemporaryDirectory(prefix="birdenv-run-") as scratch,
        ):
            if resume is not None:
                directory = RunDirectory.existing(Path(resume))
            else:
                directory = RunDirectory.create(Path(output or scratch))
            prepare(directory, plan.config(), resume=resume is not None)
            summary = run(plan, directory, progress=progress, opened=opened)
            records = tuple(directory.read("runs").values())
            for line in run_warnings(arena, records).lines:
                warnings.warn(line, stacklevel=2)
            kept = directory.path if output is not None or resume is not None else None
            return RunResult(records, summary.overall, summary.text, kept)
