"""Running many episodes: threads, progress, resume, and an orderly end whatever happens."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import birdenv
from birdenv.dialogue import Arena, Player
from birdenv.errors import BirdenvError, InfrastructureError, InputError, RunEndedError
from birdenv.llm import Models
from birdenv.runs._directory import RunDirectory, code_digest, episode_name, path_digest
from birdenv.runs._episode import (
    RETRIED,
    Failure,
    Job,
    Records,
    failure,
    mark_repeat,
    play_safely,
    record_episode,
    skipped_record,
)
from birdenv.runs._seating import Seating, close_players
from birdenv.runs._summary import Summary
from birdenv.runs.analysis._recorded_run import recorded_run
from birdenv.runs.analysis._report import report

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each episode with its public record."""

_FREE = frozenset({"code_sha256", "data_file", "db_dir", "parallel", "server"})
"""Settings that may differ when a run is resumed: digests say whether moved files are still the same."""

_TRIALS = 3
_PAUSE_SECONDS = 1.0  # before the second trial; twice that before the third, and up to half as much again


@dataclass(frozen=True)
class RunPlan:
    """A run: which game, who plays, how often.

    Attributes:
        arena: the game under its settings.
        players: the player of each seat, by index: a spec, a player, or a function of the view.
        seed: seeds every player's generator.
        parallel: episodes played at the same time.
        repeats: episodes of each task.
        options: settings for players, by name.
        extra: further fields of `config.json`.
        models: language models for the players.
    """

    arena: Arena
    players: Mapping[int, Any]
    seed: int = 0
    parallel: int = 1
    repeats: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    models: Models | None = None

    def names(self) -> tuple[str, ...]:
        """Return what is written of each seat's player."""
        found = (self.players.get(seat, "") for seat in range(len(self.arena.game.seats)))
        return tuple(each if isinstance(each, str) else type(each).__name__ for each in found)

    def seating(self) -> Seating:
        """Make the players, which are tried once.

        Raises:
            InputError: a player cannot be made.
        """
        return Seating(self.arena, self.players, self.options, self.models)

    def config(self) -> dict[str, Any]:
        """Return what `config.json` holds: everything that the records depend on."""
        game, names = self.arena.game, self.names()
        agent = names[game.evaluated]
        argument = agent.partition(":")[2]
        others = {seat.name: name for seat, name in zip(game.seats, names, strict=True)}
        others.pop(game.seats[game.evaluated].name)
        return {
            "birdenv": birdenv.__version__,
            "code_sha256": code_digest(),
            "agent": agent,
            "agent_file_sha256": path_digest(Path(argument)) if argument else None,
            "agent_options": dict(self.options),
            "seed": self.seed,
            "parallel": self.parallel,
            **({"repeats": self.repeats} if self.repeats > 1 else {}),
            "game": game.name,
            "tasks": list(self.arena.ids),
            **(self.arena.tasks.config() or self.arena.settings.model_dump(mode="json")),
            **others,
            **({"models": models} if self.models and (models := self.models.settings.config()) else {}),
            **self.extra,
        }


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
    changed = [key for key in sorted({*before, *config}) if before.get(key) != config.get(key)]
    fatal = [key for key in changed if key not in _FREE]
    if fatal:
        differences = ", ".join(_difference(key, before.get(key), config.get(key)) for key in fatal)
        raise InputError(
            f"{directory.path} was run with other settings ({differences}); "
            "resume with the same ones, or start a new run without --resume"
        )
    return ["birdenv's code has changed since the run was started"] if "code_sha256" in changed else []


def _difference(key: str, before: Any, now: Any) -> str:
    simple = all(isinstance(value, str | int | float | None) for value in (before, now))
    return f"{key}: {before} then, {now} now" if simple and "sha256" not in key else key


def run(
    plan: RunPlan,
    directory: RunDirectory,
    *,
    progress: Progress | None = None,
    seating: Seating | None = None,
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

    Raises:
        InputError: a player cannot be made.
        RunEndedError: nothing more can be played. What was finished is on disk.
    """
    done = _keep_finished(directory)
    rounds: list[int | None] = list(range(plan.repeats)) if plan.repeats > 1 else [None]
    jobs = [Job(name, repeat, plan.seed) for repeat in rounds for name in plan.arena.ids]
    seating = seating or plan.seating()
    if plan.models is not None:
        plan.models.record_in(directory.path)
    stopped = threading.Event()

    def work(job: Job) -> None:
        records = play_job(plan.arena, job, seating, plan.names())
        if stopped.is_set():
            return
        if job.repeat is not None:
            records = mark_repeat(records, job.repeat)
        directory.append(records)
        if progress is not None:
            progress(records["runs"])

    try:
        threads_map(work, [job for job in jobs if _name(job) not in done], plan.parallel, stopped)
    finally:
        stopped.set()
        seating.close()
        if plan.models is not None:
            plan.models.close()
    if plan.models is not None:
        plan.models.sort_calls()
    directory.rewrite(episode_name(name, repeat) for name in plan.arena.ids for repeat in rounds)
    summary = report(recorded_run(directory)).summary()
    directory.write_json("overall.json", summary.overall)
    directory.write_text("summary.txt", summary.text)
    return summary


def play_job(arena: Arena, job: Job, seating: Seating, names: Sequence[str]) -> Records:
    """Play one episode, from its beginning again where the server was lost; what cannot be played is told."""
    if seating.sees_private and not arena.tasks.is_graded(job.instance_id):
        return skipped_record(arena, job, Failure("skipped", ""))
    for trial in range(1, _TRIALS + 1):
        try:
            return _played(arena, job, seating, names)
        except RunEndedError:
            raise
        except InfrastructureError as error:
            if trial == _TRIALS or error.retried:
                return skipped_record(arena, job, failure(error))
            time.sleep(_PAUSE_SECONDS * trial * random.uniform(1.0, 1.5))
        except BirdenvError as error:  # its database is gone or broken
            return skipped_record(arena, job, failure(error))
    raise AssertionError("the last trial returns")


def _played(arena: Arena, job: Job, seating: Seating, names: Sequence[str]) -> Records:
    started = time.perf_counter()
    dialogue = arena.start(job.instance_id)
    players: Sequence[Player | None] = [None] * len(names)
    broken: Failure | None = None
    try:
        try:
            players = seating.players(dialogue, job.instance_id, seed=job.seed, repeat=job.repeat or 0)
        except InfrastructureError:
            raise
        except Exception as error:
            broken = failure(error)
        if broken is None:
            broken = play_safely(dialogue, players)
        return record_episode(arena, job, dialogue, players, names, broken, started)
    finally:
        dialogue.close()
        close_players(players)


def _name(job: Job) -> str:
    return episode_name(job.instance_id, job.repeat)


def _keep_finished(directory: RunDirectory) -> set[str]:
    """Names of the finished episodes; lines that are torn or are to be retried are removed from the files."""
    finished = {name for name, run in directory.finished().items() if run["status"] not in RETRIED}
    if any(directory.file(stream).exists() for stream in ("runs", "private", "timings")):
        directory.rewrite(name for name in directory.read("runs") if name in finished)
    return finished


def threads_map(
    work: Callable[[Job], None], jobs: Sequence[Job], count: int, stopped: threading.Event
) -> None:
    """Map jobs over daemon threads, so that Ctrl-C never waits for the slowest statement."""
    if count <= 1:
        for job in jobs:
            work(job)
        return
    pending: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        pending.put(job)
    finished: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def thread() -> None:
        try:
            while not stopped.is_set():
                work(pending.get_nowait())
        except queue.Empty:
            finished.put(None)
        except BaseException as error:
            finished.put(error)
        else:
            finished.put(None)

    threads = [threading.Thread(target=thread, daemon=True) for _ in range(min(count, max(len(jobs), 1)))]
    for each in threads:
        each.start()
    for _ in threads:
        error = finished.get()
        if error is not None:
            raise error
