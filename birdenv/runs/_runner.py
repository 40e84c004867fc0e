"""Running many episodes: an engine, progress, resume, and an orderly end whatever happens."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from birdenv.dialogue import Arena
from birdenv.dialogue.arena import listed
from birdenv.dialogue.record import Records, mark_repeat
from birdenv.errors import InputError, RunEndedError
from birdenv.run_settings import RunSettings, in_shard
from birdenv.runs._run_folder import RunDirectory, episode_name
from birdenv.runs._run_plan import OpenRun, RunPlan, prepare
from birdenv.runs.blame import has_user_to_blame, record_blame
from birdenv.runs.jobs import Job, Work
from birdenv.runs.summaries._first_screen import first_screen
from birdenv.runs.summaries._run_report import Summary, report
from birdenv.runs.summaries.recorded_run import recorded_run

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each episode with its public record."""


def run(
    plan: RunPlan,
    directory: RunDirectory,
    *,
    progress: Progress | None = None,
    opened: OpenRun | None = None,
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
        opened: what the plan has opened before; it is closed at the end.

    Raises:
        InputError: the engine or a player cannot be used.
        RunEndedError: nothing more can be played, or the engine has not given one record for each episode.
            What was finished is on disk.
    """
    done = _keep_finished(directory)
    jobs = [job for job in planned_jobs(plan) if episode_name(job.instance_id, job.repeat) not in done]
    opened = opened or plan.open()
    work = plan.work(travels=opened.seating is None)
    try:
        _note_engine(directory, plan, opened)
        plan.models.record_in(directory.path)
        with work.opened(plan.arena, opened.seating), _loaded_data_set_aside():
            for records in _played(plan, opened, work, jobs):
                directory.append(records)
                if progress is not None:
                    progress(records["runs"])
    finally:
        opened.close()
        plan.models.close()
    plan.models.sort_calls()
    return finish(plan.arena, directory, plan.settings.repeats)


def planned_jobs(plan: RunPlan) -> list[Job]:
    """Return all episodes of a run, or of its shard, in the order in which they are begun."""
    settings = plan.settings
    rounds = range(settings.repeats) if settings.repeats > 1 else [None]
    episodes = [Job(name, repeat) for repeat in rounds for name in plan.arena.ids][: settings.episodes]
    return [job for index, job in enumerate(episodes) if in_shard(index, settings.shard)]


def _played(plan: RunPlan, opened: OpenRun, work: Work, jobs: Sequence[Job]) -> Iterator[Records]:
    """Yield the records of the jobs, each once; what an engine gives beyond that is counted and told."""
    models, is_here = plan.models, opened.seating is not None
    agent = plan.arena.game.seats[plan.arena.game.evaluated].name
    missing = {episode_name(job.instance_id, job.repeat): job for job in jobs}
    strange: list[str] = []
    ended: list[RunEndedError] = []

    def given() -> Iterator[Job]:
        for job in jobs:
            if is_here:  # its calls are recorded and counted as they are made
                yield job
                continue
            try:
                models.ledger.check()
            except RunEndedError as error:
                ended.append(error)
            if ended:
                return
            yield job._replace(calls=models.recorded_of(f"{job.instance_id}/{job.repeat or 0}"))

    for played in opened.engine(work, given()):
        models.take_over(played.calls, agent)
        if played.records is None:  # those in flight bring their records, and calls that were paid
            ended.append(RunEndedError(played.ended))
            continue
        record = played.records["runs"]
        name = episode_name(record["instance_id"], record.get("repeat"))
        if missing.pop(name, None) is None:
            strange.append(name)
            continue
        yield played.records
    if ended:
        raise ended[0]
    if missing or strange:
        faults = [f"no record of {listed(list(missing))}"] if missing else []
        faults += [f"a record too many of {listed(strange)}"] if strange else []
        raise RunEndedError(
            f"the engine gave {' and '.join(faults)}: it has lost, repeated or made up episodes"
        )


def _note_engine(directory: RunDirectory, plan: RunPlan, opened: OpenRun) -> None:
    """Write into `config.json` where the run is played: the last engine, where it is resumed on another."""
    name = plan.settings.engine if plan.engine is None else type(plan.engine).__name__
    noted = {"run_engine": name, "workers": getattr(opened.engine, "workers", 1)}
    config = directory.read_config()
    directory.write_json("config.json", config | {"parallel": plan.settings.parallel} | noted)


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
    settings = RunSettings(seed=seed, repeats=most)
    plan = RunPlan(arena, {**arena.players, arena.game.evaluated: agent}, settings)
    directory = RunDirectory.create(Path(output))
    prepare(directory, plan.config(), resume=False)
    for played in rounds_of.values():
        for number, records in enumerate(played):
            directory.append(records if most == 1 else mark_repeat(records, number))
    finish(arena, directory, most)
    return directory.path


def finish(arena: Arena, directory: RunDirectory, repeats: int) -> Summary:
    """Put the records in order, and write the figures."""
    rounds = range(repeats) if repeats > 1 else [None]
    directory.rewrite(episode_name(name, repeat) for name in arena.ids for repeat in rounds)
    if has_user_to_blame(arena):
        record_blame(arena, directory.path)
    return summarise(directory)


def summarise(directory: RunDirectory) -> Summary:
    """Write the figures of the records."""
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
