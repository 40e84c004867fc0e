"""A run that is on disk, finished or not, read for its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from birdenv.dialogue.measures import GameMeasures, Measure, Record
from birdenv.errors import InputError
from birdenv.runs._run_folder import RunDirectory, run_folder
from birdenv.runs.measures._games import game_measures
from birdenv.runs.summaries._episode_figures import Outcome, measures_of, outcome


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The settings of a run and its episodes, in task order; `path` is the run folder.

    `measured` is how the game is measured, `measures` are the figures that this run has. `records` and
    `private` are of the same episodes as `outcomes`; an episode without a private record has an empty one.
    """

    path: Path
    config: Mapping[str, Any]
    game: str
    agent: str
    tasks: tuple[str, ...]
    repeats: int
    measured: GameMeasures
    measures: tuple[Measure, ...]
    outcomes: tuple[Outcome, ...]
    records: tuple[Record, ...]
    private: tuple[Record, ...]

    @property
    def expected(self) -> int:
        """Episodes of the whole run: of each task as often as asked, or as many as asked (`selfplay -n`)."""
        every = len(self.tasks) * self.repeats
        asked = self.config.get("episodes")
        return min(every, asked) if isinstance(asked, int) else every

    @property
    def finished(self) -> bool:
        return len(self.outcomes) == self.expected


def read_run(path: Path) -> RecordedRun:
    """Read a run folder, or the `latest` run of a folder of runs; a torn last line is left out.

    Raises:
        InputError: It is neither, a file is damaged, or no episode is finished yet.
    """
    run = recorded_run(RunDirectory(run_folder(path)))
    if not run.outcomes:
        raise InputError(f"{run.path}: no episode is finished yet")
    return run


def recorded_run(directory: RunDirectory) -> RecordedRun:
    """Read a run folder, also one without a finished episode.

    Raises:
        InputError: It is no run folder, or a file is damaged.
    """
    config = directory.read_config("; this is not the config.json of a run")
    where = directory.path / "config.json"
    game, agent, tasks, repeats = (config.get(name) for name in ("game", "agent", "tasks", "repeats"))
    repeats = 1 if repeats is None else repeats
    if not isinstance(game, str):
        raise InputError(f"{where}: the field `game` must be text")
    if not isinstance(agent, str):
        raise InputError(f"{where}: the field `agent` must be text")
    if not isinstance(tasks, list) or not all(isinstance(name, str) for name in tasks):
        raise InputError(f"{where}: the field `tasks` must be a list of texts")
    if type(repeats) is not int or repeats < 1:
        raise InputError(f"{where}: the field `repeats` must be a number from 1")
    measured = game_measures(game)
    further, private = measured.fields(directory.path), directory.read("private")
    records = {n: {**record, **further.get(n, {})} for n, record in directory.read("runs").items()}
    measures = measures_of(measured, list(records.values()))
    file = directory.file("runs")
    found: dict[tuple[str, int], tuple[str, Outcome]] = {}
    for name, record in records.items():
        try:
            made = outcome(measured, record, private.get(name, {}), measures)
        except ValueError as error:
            raise InputError(f"{file}: the record of {name} is damaged: {error}") from None
        found[made.instance_id, made.repeat] = (name, made)
    order = _in_order(file, found, [(name, repeat) for name in tasks for repeat in range(repeats)])
    return RecordedRun(
        directory.path,
        config,
        game,
        agent,
        tuple(tasks),
        repeats,
        measured,
        measures,
        tuple(made for _, made in order),
        tuple(records[name] for name, _ in order),
        tuple(private.get(name, {}) for name, _ in order),
    )


def _in_order(
    file: Path, found: Mapping[tuple[str, int], tuple[str, Outcome]], order: Sequence[tuple[str, int]]
) -> list[tuple[str, Outcome]]:
    """In the order of the expected tasks and repeats."""
    strange = sorted(found.keys() - set(order))
    if strange:
        raise InputError(f"{file} holds an episode that config.json does not name: {strange[0][0]}")
    return [found[key] for key in order if key in found]
