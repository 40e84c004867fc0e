"""Running many episodes: threads, progress, resume, and an orderly end whatever happens."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import birdenv
from birdenv.errors import BirdenvError, InfrastructureError, InputError
from birdenv.runs._agent_process import AgentProcess
from birdenv.runs._agents import Agent, check_name, find_agent, is_ours
from birdenv.runs._directory import RunDirectory, code_digest, episode_name, path_digest
from birdenv.runs._episode import (
    RETRIED,
    AnyTask,
    Failure,
    RunGame,
    Task,
    failure,
    mark_repeat,
    task_rng,
)
from birdenv.runs._summary import Summary
from birdenv.runs.analysis._recorded_run import recorded_run
from birdenv.runs.analysis._report import report

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each episode with its public record."""

_FREE = frozenset({"code_sha256", "data_file", "db_dir", "parallel", "server"})
"""Settings that may differ when a run is resumed: digests say whether moved files are still the same."""

_TRIALS = 3
_PAUSE_SECONDS = 1.0  # before the second trial; twice that before the third, and up to half as much again


def make_agent(spec: str, game: RunGame[Task]) -> Agent:
    """The agent that `spec` names: in this process if it is ours, else behind a process of its own."""
    check_name(spec)
    if not is_ours(spec):
        return AgentProcess(spec, game.setting)
    factory, argument = find_agent(spec)
    return factory(argument, game.setting)


def run_config(
    game: RunGame[Task], agent: str, seed: int, parallel: int = 1, repeats: int = 1
) -> dict[str, Any]:
    """What `config.json` holds: everything that the records depend on. `repeats` stands there if above 1."""
    argument = agent.partition(":")[2]
    return {
        "birdenv": birdenv.__version__,
        "code_sha256": code_digest(),
        "agent": agent,
        "agent_file_sha256": path_digest(Path(argument)) if argument else None,
        "agent_options": dict(game.setting.options),
        "seed": seed,
        "parallel": parallel,
        **({"repeats": repeats} if repeats > 1 else {}),
        **game.config(),
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
    game: RunGame[Task],
    agent: Agent,
    directory: RunDirectory,
    *,
    seed: int = 0,
    parallel: int = 1,
    repeats: int = 1,
    progress: Progress | None = None,
) -> Summary:
    """Play every task that the prepared directory does not hold yet, then write the summary.

    An episode whose server was lost is played again, three times at most; then it is an `infra_error`.

    With `repeats` above 1 every task is played that many times, each with a random stream of its own: all
    tasks once, then all again, so that a run that is cut short has seen as many tasks as it can.

    Records are appended as episodes finish and rewritten in task order at the end. On `KeyboardInterrupt` the
    episodes in flight are given up and the exception goes on; what was finished is on disk.
    """
    done = _keep_finished(directory)
    rounds = range(repeats) if repeats > 1 else [None]
    todo = [(task, repeat) for repeat in rounds for task in game.tasks if _name(task, repeat) not in done]

    stopped = threading.Event()

    def play(task: Task, repeat: int | None) -> None:
        if agent.sees_private and not task.has_gold:
            records = game.skipped_record(task, Failure("skipped", ""))
        else:
            records = _played(game, task, agent, seed, repeat or 0)
        if stopped.is_set():
            return
        if repeat is not None:
            records = mark_repeat(records, repeat)
        directory.append(records)
        if progress is not None:
            progress(records["runs"])

    try:
        if parallel <= 1:
            for episode in todo:
                play(*episode)
        else:
            _in_threads(play, todo, parallel, stopped)
    finally:
        stopped.set()
    directory.rewrite(_name(task, repeat) for task in game.tasks for repeat in rounds)
    summary = report(recorded_run(directory)).summary()
    directory.write_json("overall.json", summary.overall)
    directory.write_text("summary.txt", summary.text)
    return summary


def _played(
    game: RunGame[Task], task: Task, agent: Agent, seed: int, repeat: int
) -> dict[str, dict[str, Any]]:
    """One episode, from its beginning again where the server was lost; what cannot be played is told."""
    for trial in range(1, _TRIALS + 1):
        try:
            return game.play(task, agent, task_rng(seed, task.public, repeat))
        except InfrastructureError as error:
            if trial == _TRIALS:
                return game.skipped_record(task, failure(error))
            time.sleep(_PAUSE_SECONDS * trial * random.uniform(1.0, 1.5))
        except BirdenvError as error:  # its database is gone or broken
            return game.skipped_record(task, failure(error))
    raise AssertionError("the last trial returns")


def _name(task: AnyTask, repeat: int | None) -> str:
    return episode_name(task.public.instance_id, repeat)


def _keep_finished(directory: RunDirectory) -> set[str]:
    """Names of the finished episodes; lines that are torn or are to be retried are removed from the files."""
    finished = {name for name, run in directory.finished().items() if run["status"] not in RETRIED}
    if any(directory.file(stream).exists() for stream in ("runs", "private", "timings")):
        directory.rewrite(name for name in directory.read("runs") if name in finished)
    return finished


def _in_threads(
    play: Callable[[Task, int | None], None],
    episodes: Sequence[tuple[Task, int | None]],
    count: int,
    stopped: threading.Event,
) -> None:
    """Daemon threads, so that Ctrl-C ends the program without waiting for the slowest statement."""
    pending: queue.SimpleQueue[tuple[Task, int | None]] = queue.SimpleQueue()
    for episode in episodes:
        pending.put(episode)
    finished: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            while not stopped.is_set():
                play(*pending.get_nowait())
        except queue.Empty:
            finished.put(None)
        except BaseException as error:
            finished.put(error)
        else:
            finished.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(count, max(len(episodes), 1)))]
    for thread in threads:
        thread.start()
    for _ in threads:
        error = finished.get()
        if error is not None:
            raise error
