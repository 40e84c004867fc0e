"""Read the data from which a run's metrics are computed: records, R-VES, culprits and exclusions.

The run may still be in progress. R-VES is stored in a separate file, because its values vary between
measurements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from birdenv.dialogue.games import find_game, game_names
from birdenv.dialogue.measures import PARTNER_ERROR, REWARD, GameMeasures, Measure, Record
from birdenv.errors import InputError
from birdenv.files import exists, read_json, read_records, write_records
from birdenv.grading import SpeedMeasurement, time_ratio
from birdenv.run_settings import in_shard
from birdenv.runs._run_folder import RunDirectory, episode_name, name_of, run_folder
from birdenv.runs.summaries._episode_figures import Outcome, measures_of, outcome

_FAULTS: Final = ("infra_error", PARTNER_ERROR, "test_error")
_NOT_PUBLIC: Final = "the benchmark's own SQL or test cases do not run (private.jsonl says why)"
_LONGEST_REASON: Final = 200  # characters


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The episodes that are excluded from a run's metrics.

    Attributes:
        episodes: the number of excluded episodes.
        first: the name of the first excluded episode.
        reason: the reason why the first episode is excluded.
    """

    episodes: int
    first: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"episodes": self.episodes, "first": self.first, "reason": self.reason}

    def line(self, agent: str) -> str:
        """Return a line like `2 episodes of MODEL are excluded; the first, shop_1: the server is lost`."""
        if self.episodes == 1:
            return f"1 episode of {agent} is excluded: {self.first}: {self.reason}"
        return f"{self.episodes} episodes of {agent} are excluded; the first, {self.first}: {self.reason}"


def exclusions(run: RecordedRun) -> Exclusions | None:
    """Return the episodes that are excluded from a run's metrics; None if no episode is excluded."""
    found = [record for record in run.records if record["status"] in _FAULTS]
    if not found:
        return None
    first = found[0]
    reason = " ".join(str(first.get("error") or _NOT_PUBLIC).split())[:_LONGEST_REASON]
    return Exclusions(len(found), name_of(first), reason)


_FILE = "r_ves.jsonl"
_NAME = ("instance_id", "repeat")


def speed_record(run: Mapping[str, Any], measured: SpeedMeasurement | None) -> dict[str, Any]:
    """Return the record for a rated episode in `r_ves.jsonl`.

    In the record, `time_ratio` is the time of the gold query divided by the time of the predicted query, and
    `runs` is the number of times that each query was run.

    Args:
        run: the public record of the episode.
        measured: the measured times; None if the results of the queries disagree, which scores 0.
    """
    record: dict[str, Any] = {name: run[name] for name in _NAME if name in run}
    if measured is None:
        return record | {"r_ves": 0.0}
    record |= {"r_ves": measured.score, "runs": len(measured.gold_seconds)}
    if measured.error:
        return record | {"error": measured.error}
    return record | {"time_ratio": round(time_ratio(measured.gold_seconds, measured.pred_seconds), 4)}


def write_speeds(folder: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a run's speed records into its folder."""
    write_records(folder / _FILE, records)


def read_speeds(folder: Path) -> dict[str, float]:
    """Return the R-VES of each episode, keyed by `episode_name`, or an empty dict if R-VES was not measured.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / _FILE
    if not exists(path):
        return {}
    scores = {}
    for number, record in enumerate(read_records(path, "speeds"), 1):
        name, repeat, score = (record.get(field) for field in (*_NAME, "r_ves"))
        if not isinstance(name, str) or not isinstance(score, int | float) or isinstance(score, bool):
            raise InputError(f"{path}: record {number} must have a string `instance_id` and a number `r_ves`")
        scores[episode_name(name, repeat)] = float(score)
    return scores


BLAME: Final = "private_blame.json"
"""The file of a run folder that attributes each failure. It is private, because it names annotated terms."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run read from disk.

    Attributes:
        path: the run folder.
        config: the content of `config.json`.
        game: the name of the game.
        agent: the name of the agent.
        tasks: the ids of all tasks of the run.
        repeats: how many times each task is played.
        measured: all measures and groups of tasks that the game declares.
        measures: the measures for which this run has values.
        outcomes: the outcomes of the finished episodes, in task order.
        records: the public records of the finished episodes, in the same order.
        private: the private records of the finished episodes, in the same order. A missing record is
            represented by an empty mapping.
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
        """The number of episodes in the finished run or, if only a shard is played, in the finished shard."""
        every = len(self.tasks) * self.repeats
        asked = self.config.get("episodes")
        every = min(every, asked) if isinstance(asked, int) else every
        shard = self.config.get("shard")
        return every if shard is None else sum(in_shard(index, shard) for index in range(every))

    @property
    def finished(self) -> bool:
        return len(self.outcomes) == self.expected


def read_run(path: Path) -> RecordedRun:
    """Read a run folder, or the `latest` run in a folder of runs. An incomplete last line is ignored.

    Raises:
        InputError: the path is not a run, a file is damaged, or no episode has finished yet.
    """
    run = recorded_run(RunDirectory(run_folder(path)))
    if not run.outcomes:
        raise InputError(f"{run.path}: no episode has finished yet")
    return run


def recorded_run(directory: RunDirectory) -> RecordedRun:
    """Read a run folder, even if no episode has finished.

    Raises:
        InputError: the path is not a run folder, or a file is damaged.
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
        raise InputError(f"{where}: the field `tasks` must be a list of strings")
    if type(repeats) is not int or repeats < 1:
        raise InputError(f"{where}: the field `repeats` must be a whole number, 1 or more")
    measured = find_game(game).measures if game in game_names() else REWARD
    further, private = _further_fields(directory.path), directory.read("private")
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


def _further_fields(folder: Path) -> Mapping[str, Record]:
    """Return the fields that other files of a run folder add to the public records, keyed by episode name."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, score in read_speeds(folder).items():
        found[name]["r_ves"] = score
    for name, culprit in _culprits(folder).items():
        found[name]["culprit"] = culprit
    return found


def _culprits(folder: Path) -> dict[str, str]:
    """Return who caused each failed episode, or nothing if the run does not say."""
    if not exists(folder / BLAME):
        return {}
    try:
        episodes = read_json(folder / BLAME)["by_episode"]
        return {name: str(episode["culprit"]) for name, episode in episodes.items()}
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{folder / BLAME} is damaged; recreate it with `birdenv blame`") from None


def _in_order(
    file: Path, found: Mapping[tuple[str, int], tuple[str, Outcome]], order: Sequence[tuple[str, int]]
) -> list[tuple[str, Outcome]]:
    strange = sorted(found.keys() - set(order))
    if strange:
        raise InputError(f"{file} contains an episode that config.json does not name: {strange[0][0]}")
    return [found[key] for key in order if key in found]
