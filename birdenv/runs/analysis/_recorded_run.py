"""A run that is on disk, finished or not, read for its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from birdenv.errors import InputError
from birdenv.files import exists
from birdenv.runs._agents import Game
from birdenv.runs._bird import read_speeds
from birdenv.runs._directory import RunDirectory
from birdenv.runs.analysis._measures import Measure, Outcome, measures_of, outcome


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The settings of a run and the outcomes of its episodes, in task order; `path` is the run folder.

    `measures`: the figures that it has.
    """

    path: Path
    config: Mapping[str, Any]
    game: Game
    agent: str
    tasks: tuple[str, ...]
    repeats: int
    measures: tuple[Measure, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def expected(self) -> int:
        """Episodes of the whole run."""
        return len(self.tasks) * self.repeats

    @property
    def finished(self) -> bool:
        return len(self.outcomes) == self.expected


def read_run(path: Path) -> RecordedRun:
    """Read a run folder, or the `latest` run of a folder of runs; a torn last line is left out.

    Raises `InputError` if it is neither, if a file is damaged, or if no episode is finished yet.
    """
    folder = run_folder(path)
    directory = RunDirectory(folder)
    config = directory.read_config("; this is not the config.json of a run")
    where = folder / "config.json"
    game, agent, tasks, repeats = (config.get(name) for name in ("game", "agent", "tasks", "repeats"))
    repeats = 1 if repeats is None else repeats
    if game not in get_args(Game):
        raise InputError(f"{where}: the field `game` must be one of {', '.join(get_args(Game))}")
    if not isinstance(agent, str):
        raise InputError(f"{where}: the field `agent` must be text")
    if not isinstance(tasks, list) or not all(isinstance(name, str) for name in tasks):
        raise InputError(f"{where}: the field `tasks` must be a list of texts")
    if type(repeats) is not int or repeats < 1:
        raise InputError(f"{where}: the field `repeats` must be a number from 1")
    game = cast(Game, game)
    records = _records(directory, game)
    measures = measures_of(game, records.values())
    outcomes = _outcomes(directory.file("runs"), records, game, measures, (tasks, repeats))
    return RecordedRun(folder, config, game, agent, tuple(tasks), repeats, measures, outcomes)


def run_folder(path: Path) -> Path:
    """The folder itself if it is a run's, else that of the `latest` run in it. Raises `InputError`."""
    if exists(path / "config.json"):
        return path
    latest = path / "latest"
    if exists(latest / "config.json"):
        return path / latest.resolve().name
    raise InputError(
        f"{path} is not a run: give a run-... folder, or the results/<agent>-<game> folder above it for its "
        "latest run"
    )


def _records(directory: RunDirectory, game: Game) -> dict[str, dict[str, Any]]:
    """The public records, with what figures need from other files: the R-VES where any was measured, and in
    the games of BIRD-Interact the types of the task's ambiguities, where the private records are there."""
    records = directory.read("runs")
    if game != "bird":
        types = {name: of.get("ambiguity_types", ()) for name, of in directory.read("private").items()}
        return {name: record | {"ambiguity_types": types.get(name, ())} for name, record in records.items()}
    speeds = read_speeds(directory.path)
    if not speeds:
        return records
    return {name: record | {"r_ves": speeds.get(name)} for name, record in records.items()}


def _outcomes(
    file: Path,
    records: Mapping[str, Mapping[str, Any]],
    game: Game,
    measures: Sequence[Measure],
    expected: tuple[Sequence[str], int],
) -> tuple[Outcome, ...]:
    """In the order of the `expected` tasks and repeats."""
    tasks, repeats = expected
    found: dict[tuple[str, int], Outcome] = {}
    for name, record in records.items():
        try:
            made = outcome(game, record, measures)
        except ValueError as error:
            raise InputError(f"{file}: the record of {name} is damaged: {error}") from None
        found[made.instance_id, made.repeat] = made
    if not found:
        raise InputError(f"{file.parent}: no episode is finished yet")
    order = [(name, repeat) for name in tasks for repeat in range(repeats)]
    strange = sorted(found.keys() - set(order))
    if strange:
        raise InputError(f"{file} holds an episode that config.json does not name: {strange[0][0]}")
    return tuple(found[key] for key in order if key in found)
