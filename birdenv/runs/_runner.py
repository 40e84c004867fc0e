"""Running many episodes: an engine, progress, resume, and an orderly end whatever happens."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from birdenv.dialogue import Arena
from birdenv.dialogue.record import Records, mark_repeat
from birdenv.errors import InputError
from birdenv.files import code_digest, path_digest
from birdenv.llm import Models
from birdenv.runs._job_engine import JobEngine, threads
from birdenv.runs._jobs import Job, PlannedEpisode, Setup, opened, play_job
from birdenv.runs._run_folder import RunDirectory, episode_name
from birdenv.runs.blame import has_user_to_blame, record_blame
from birdenv.runs.seating import Seating
from birdenv.runs.summaries._first_screen import first_screen
from birdenv.runs.summaries._run_report import Summary, report
from birdenv.runs.summaries.recorded_run import recorded_run
from birdenv.users.identity import user_facts
from birdenv.version import __version__

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each episode with its public record."""

_FREE = frozenset({"code_sha256", "command", "data_file", "db_dir", "parallel", "server"})
"""Settings that may differ when a run is resumed: digests say whether moved files are still the same."""

_OF_MODELS = frozenset({"llm", "llm-markup"})
"""Agents whose argument is a model, whatever folder of weights has the same name."""


@dataclass(frozen=True)
class RunPlan:
    """A run: which game, who plays, how often.

    Attributes:
        arena: the game under its settings.
        players: the player of each seat, by index: a spec, a player, or a function of the view.
        seed: seeds every player's generator.
        parallel: episodes played at the same time.
        repeats: episodes of each task.
        episodes: play this many episodes at most, the first ones; None plays all.
        options: settings for players, by name.
        extra: further fields of `config.json`.
        models: language models for the players.
        move_timeout: seconds that a move of a player in a process of its own may take; None for any time.
    """

    arena: Arena
    players: Mapping[int, Any]
    seed: int = 0
    parallel: int = 1
    repeats: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    models: Models | None = None
    move_timeout: float | None = None
    episodes: int | None = None

    def names(self) -> tuple[str, ...]:
        """Return the name of each seat's player, as records have it."""
        found = (self.players.get(seat, "") for seat in range(len(self.arena.game.seats)))
        return tuple(each if isinstance(each, str) else type(each).__name__ for each in found)

    def seating(self) -> Seating:
        """Make the players, which are tried once.

        Raises:
            InputError: a player cannot be made.
        """
        return Seating(self.arena, self.players, self.options, self.models, self.move_timeout)

    def setup(self) -> Setup:
        """Return what all jobs of the run have in common, as plain values."""
        are_specs = all(isinstance(player, str) for player in self.players.values())
        return Setup(
            self.arena.game.name,
            self.arena.settings.model_dump_json(),
            self.names(),
            tuple(sorted(self.options.items())),
            self.move_timeout,
            None if are_specs else f"{os.getpid()} {id(self)}",
        )

    def config(self) -> dict[str, Any]:
        """Return what `config.json` holds: everything that the records depend on."""
        game, names = self.arena.game, self.names()
        agent = names[game.evaluated]
        name, _, argument = agent.partition(":")
        others = {seat.name: name for seat, name in zip(game.seats, names, strict=True)}
        others.pop(game.seats[game.evaluated].name)
        return {
            "birdenv": __version__,
            "code_sha256": code_digest(),
            "agent": agent,
            "agent_file_sha256": path_digest(Path(argument)) if argument and name not in _OF_MODELS else None,
            "agent_options": dict(self.options),
            "seed": self.seed,
            "parallel": self.parallel,
            **({"repeats": self.repeats} if self.repeats > 1 else {}),
            **({"episodes": self.episodes} if self.episodes is not None else {}),
            "game": game.name,
            "tasks": list(self.arena.ids),
            **(self.arena._tasks.config() or self.arena.settings.model_dump(mode="json")),
            **others,
            **({"user_facts": self._user_facts(others["user"])} if "user" in others else {}),
            **({"models": models} if self.models and (models := self.models.settings.config()) else {}),
            **self.extra,
        }

    def _user_facts(self, user: str) -> dict[str, str]:
        settings = self.arena.settings.model_dump(mode="json")
        return user_facts(user, settings, self.models.settings.config() if self.models else {})


def prepare(directory: RunDirectory, config: dict[str, Any], *, resume: bool) -> list[str]:
    """Write `config.json` for a new run; for a resumed one, check that nothing that matters has changed.

    Returns warnings. Raises `InputError` naming the settings that differ.
    """
    if not resume:
        directory.write_json("config.json", config)
        return []
    before = directory.read_config()
    if before.get("repeats", 1) != config.get("repeats", 1):
        before, config = ({"repeats": 1} | settings for settings in (before, config))
    if "user_facts" not in before:  # a run of an older version
        config = {key: value for key, value in config.items() if key != "user_facts"}
    changed = [key for key in sorted({*before, *config}) if before.get(key) != config.get(key)]
    fatal = [key for key in changed if key not in _FREE]
    if fatal:
        differences = ", ".join(_difference(key, before.get(key), config.get(key)) for key in fatal)
        raise InputError(
            f"{directory.path} was run with other settings ({differences}); "
            "resume with the same ones, or start a new run without --resume"
        )
    if before.get("command") != (command := config.get("command")) and command is not None:
        directory.write_json("config.json", before | {"command": command})  # for the next time
    return ["birdenv's code has changed since the run was started"] if "code_sha256" in changed else []


def _difference(key: str, before: Any, now: Any) -> str:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        inner = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        return f"{key}: {', '.join(inner)}"
    simple = all(isinstance(value, str | int | float | None) for value in (before, now))
    return f"{key}: {before} then, {now} now" if simple and "sha256" not in key else key


def run(
    plan: RunPlan,
    directory: RunDirectory,
    *,
    progress: Progress | None = None,
    seating: Seating | None = None,
    engine: JobEngine | None = None,
) -> Summary:
    """Play every task that the prepared directory does not hold yet, then write the summary.

    An episode whose server was lost is played again, three times at most; then it is an `infra_error`.

    With `repeats` above 1 every task is played that many times, each with a random stream of its own: all
    tasks once, then all again, so that a run that is cut short has seen as many tasks as it can.

    Records are appended as episodes finish and rewritten in task order at the end. On `KeyboardInterrupt` the
    episodes in flight are given up and the exception goes on; what was finished is on disk.

    Args:
        plan: the run.
        directory: where it goes.
        progress: is told of each episode.
        seating: the plan's players, where they were made before; it is closed at the end.
        engine: maps a function over jobs, as `concurrent.futures.ProcessPoolExecutor().map` does; without it,
            `plan.parallel` threads. Players that are objects or functions need the threads.

    Raises:
        InputError: a player cannot be made.
        RunEndedError: nothing more can be played. What was finished is on disk.
    """
    done = _keep_finished(directory)
    rounds: list[int | None] = list(range(plan.repeats)) if plan.repeats > 1 else [None]
    episodes = [PlannedEpisode(name, repeat, plan.seed) for repeat in rounds for name in plan.arena.ids]
    episodes = episodes[: plan.episodes]
    setup = plan.setup()
    jobs = [Job(setup, each) for each in episodes if episode_name(each.instance_id, each.repeat) not in done]
    seating = seating or plan.seating()
    if plan.models is not None:
        plan.models.record_in(directory.path)
    try:
        with opened(setup, plan.arena, seating), _loaded_data_set_aside():
            for records in (engine or threads(plan.parallel))(play_job, jobs):
                directory.append(records)
                if progress is not None:
                    progress(records["runs"])
    finally:
        seating.close()
        if plan.models is not None:
            plan.models.close()
    if plan.models is not None:
        plan.models.sort_calls()
    return _finish(plan.arena, directory, rounds)


def write_run(
    arena: Arena, episodes: Iterable[Records], output: Path | str, *, agent: str, seed: int = 0
) -> Path:
    """Write episodes that were played through any door into a new run folder, and return the folder.

    `summary`, `compare`, `blame` and `export` read it as they read other runs. Several episodes of a task
    become its repeats, in the order in which they come.

    Args:
        arena: the arena of the episodes.
        episodes: the result of `Episode.record()` of each.
        output: the folder in which the run folder is made.
        agent: the name of the policy.
        seed: the seed of the other seats' players, as in `Arena.episode`.

    Raises:
        InputError: there are no episodes, or one is of another task than the arena has.
    """
    rounds_of: dict[str, list[Records]] = {}
    for records in episodes:
        rounds_of.setdefault(records["runs"]["instance_id"], []).append(records)
    unknown = [name for name in rounds_of if name not in arena.ids]
    if unknown or not rounds_of:
        raise InputError(f"no task {unknown[0]!r} in this arena" if unknown else "there are no episodes")
    most = max(map(len, rounds_of.values()))
    plan = RunPlan(arena, {**arena.players, arena.game.evaluated: agent}, seed, repeats=most)
    directory = RunDirectory.create(Path(output))
    prepare(directory, plan.config(), resume=False)
    for played in rounds_of.values():
        for number, records in enumerate(played):
            directory.append(records if most == 1 else mark_repeat(records, number))
    _finish(arena, directory, [None] if most == 1 else list(range(most)))
    return directory.path


def _finish(arena: Arena, directory: RunDirectory, rounds: Sequence[int | None]) -> Summary:
    """Put the records in order, and write the figures."""
    directory.rewrite(episode_name(name, repeat) for name in arena.ids for repeat in rounds)
    if has_user_to_blame(arena):
        record_blame(arena, directory.path)
    made = report(recorded_run(directory))
    summary = Summary(made.to_json(), made.text(), first_screen(made))
    directory.write_json("overall.json", summary.overall)
    directory.write_text("summary.txt", summary.text)
    return summary


@contextmanager
def _loaded_data_set_aside() -> Iterator[None]:
    """Let the garbage collector pass over what is there already: tasks, modules, parsed SQL.

    Looking through all of it takes a tenth of a second each time, in which no thread plays.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _keep_finished(directory: RunDirectory) -> set[str]:
    """Return the names of the finished episodes. Lines that are torn or are to be retried are removed from
    the files.
    """
    finished = set(directory.finished())
    if any(directory.file(stream).exists() for stream in ("runs", "private", "timings")):
        directory.rewrite(name for name in directory.read("runs") if name in finished)
    return finished
