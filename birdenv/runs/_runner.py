"""Play the episodes of a run, record each one, and write the summary."""

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
from birdenv.runs._run_folder import RunDirectory, episode_name, name_of
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
    """Play all unfinished episodes of a run, then write and return the summary.

    An episode that is interrupted by the loss of a server is played up to three times before it gets the
    status `infra_error`.

    If `repeats` is greater than 1, all tasks are played once before any task is repeated, so that an
    interrupted run covers as many tasks as possible. Each repeat uses different random numbers.

    A record is appended when an episode finishes, and the records are sorted by task at the end. A
    `KeyboardInterrupt` ends the run and is re-raised; the finished episodes are on disk.

    Args:
        plan: the plan of the run.
        directory: the run folder, after `prepare`.
        progress: a function that is called after each episode with the episode's public record.
        opened: the result of `plan.open()`, which is closed at the end; None to open the plan here.

    Raises:
        InputError: the engine or a player cannot be used.
        RunEndedError: the run has to end early, or the engine did not return exactly one record for each
            episode. Finished episodes are on disk.
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
    """Return a job for each episode of the run or of the selected shard, in playing order."""
    settings = plan.settings
    rounds = range(settings.repeats) if settings.repeats > 1 else [None]
    episodes = [Job(name, repeat) for repeat in rounds for name in plan.arena.ids][: settings.episodes]
    return [job for index, job in enumerate(episodes) if in_shard(index, settings.shard)]


def _played(plan: RunPlan, opened: OpenRun, work: Work, jobs: Sequence[Job]) -> Iterator[Records]:
    """Yield the records of each episode. Raise a `RunEndedError` if records are missing or occur twice."""
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
        if played.records is None:  # continue: episodes in flight still return records and paid calls
            ended.append(RunEndedError(played.ended))
            continue
        record = played.records["runs"]
        name = name_of(record)
        if missing.pop(name, None) is None:
            strange.append(name)
            continue
        yield played.records
    if ended:
        raise ended[0]
    if missing or strange:
        faults = [f"no record of {listed(list(missing))}"] if missing else []
        faults += [f"an unexpected record of {listed(strange)}"] if strange else []
        raise RunEndedError(
            f"the engine returned {' and '.join(faults)}: it has lost, repeated or invented episodes"
        )


def _note_engine(directory: RunDirectory, plan: RunPlan, opened: OpenRun) -> None:
    """Record the engine and the number of its workers in `config.json`."""
    name = plan.settings.engine if plan.engine is None else type(plan.engine).__name__
    noted = {"run_engine": name, "workers": getattr(opened.engine, "workers", 1)}
    config = directory.read_config()
    directory.write_json("config.json", config | {"parallel": plan.settings.parallel} | noted)


def write_run(
    arena: Arena, episodes: Iterable[Records], output: Path | str, *, agent: str, seed: int = 0
) -> Path:
    """Write episodes that were played outside a run into a new run folder, and return the folder.

    `birdenv summary`, `compare`, `blame` and `export` can then read these episodes. Episodes of the same task
    become repeats, in the order of `episodes`.

    Args:
        arena: the arena in which the episodes were played.
        episodes: the result of `Episode.record()` for each episode.
        output: the folder in which to create the run folder.
        agent: the name of the agent, such as the name of a policy in training.
        seed: the seed of the other seats' players, as in `Arena.episode`.

    Raises:
        InputError: there are no episodes, or the task of an episode is not in the arena.
    """
    rounds_of: dict[str, list[Records]] = {}
    for records in episodes:
        if "instance_id" not in records.get("runs", {}):
            raise InputError("each episode must be the result of Episode.record()")
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
    """Sort the records of a run by task, then write and return the summary.

    If the game has a simulated user, the causes of failed episodes are also written.
    """
    rounds = range(repeats) if repeats > 1 else [None]
    directory.rewrite(episode_name(name, repeat) for name in arena.ids for repeat in rounds)
    if has_user_to_blame(arena):
        record_blame(arena, directory.path)
    return summarise(directory)


def summarise(directory: RunDirectory) -> Summary:
    """Compute the metrics of a run, write `overall.json` and `summary.txt`, and return the summary."""
    made = report(recorded_run(directory))
    summary = Summary(made.to_json(), made.text(), first_screen(made))
    directory.write_json("overall.json", summary.overall)
    directory.write_text("summary.txt", summary.text)
    return summary


@contextmanager
def _loaded_data_set_aside() -> Iterator[None]:
    """Exclude loaded tasks, modules and parsed SQL from garbage collection.

    Scanning them takes a tenth of a second each time, during which no thread plays.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _keep_finished(directory: RunDirectory) -> set[str]:
    """Remove the records of episodes that are to be replayed, and return the names of the others."""
    finished = set(directory.finished())
    if any(directory.file(stream).exists() for stream in ("runs", "private", "timings")):
        directory.rewrite(name for name in directory.read("runs") if name in finished)
    return finished
