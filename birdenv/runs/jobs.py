"""Describe episodes as jobs that consist of plain values, so that any process can play them.

`Work` holds the data that all jobs of a run share, and can be pickled. Each worker process opens tasks,
databases and players only once.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from birdenv.dialogue import Arena, Player
from birdenv.dialogue.games import find_game
from birdenv.dialogue.players import close_players
from birdenv.dialogue.record import INFRA_ERROR, Failure, Records, mark_repeat, record_episode, skipped_record
from birdenv.errors import BirdenvError, InfrastructureError, InputError, RunEndedError
from birdenv.files import code_digest, path_digest
from birdenv.llm import Call, CollectedCalls, Models, ModelSettings
from birdenv.run_settings import RunSettings
from birdenv.runs._episode_status import failure, play_safely, usage_of_players
from birdenv.runs.seating import Seating

_TRIALS = 3
_PAUSE_SECONDS = 1.0  # before the second trial, and twice as long before the third; plus up to 50 % at random

_OF_MODELS: Final = frozenset({"llm", "llm-markup"})
"""Players whose argument is always a model, even if a folder has the same name."""

_PLACES: Final = frozenset({"data_file", "db_dir", "image", "server"})
"""Fields of the tasks' configuration that may differ between machines."""


class Job(NamedTuple):
    """An episode to play, as plain values.

    Attributes:
        instance_id: the id of the task.
        repeat: the zero-based index of the repeat; None if each task is played once.
        calls: model calls that an interrupted run has already recorded for this episode.
    """

    instance_id: str
    repeat: int | None = None
    calls: tuple[Call, ...] = ()


class JobResult(NamedTuple):
    """The result of a job, as plain values.

    Attributes:
        records: the episode's records, keyed by record file (stream) of the run folder; None if the run has
            to end.
        calls: the model calls of the episode; empty if the job was played in the run's process, which has
            already recorded them.
        ended: the reason why the whole run has to end; empty if the run can continue.
    """

    records: Records | None
    calls: tuple[Call, ...] = ()
    ended: str = ""


class Engine(Protocol):
    """A callable that plays the jobs of a run, for example in threads, in processes or on a cluster.

    Calling an engine with the work and the jobs returns one `JobResult` for each job, in any order. An engine
    should take a job from the iterator only when it can start playing it, because the run stops handing out
    jobs when a budget is spent. A plain `concurrent.futures.ProcessPoolExecutor().map` is also an engine.

    Optional attributes:

        workers: the number of processes that play; by default 1.
        shares_process: True if all jobs are played in the run's process, so that players may be objects.
        close: a method that stops everything that the engine has started.
    """

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterable[JobResult]:
        """Play all jobs, and return the result of each job in any order."""


EngineFactory = Callable[[int, str | None], Engine]
"""Makes an engine, given the number of episodes to play at the same time and the `--address`.

The entry points of the group `birdenv.engines` name such factories. A factory raises an `InputError` if the
engine cannot be used.
"""


class _Place(NamedTuple):
    """What a process has opened for a run. Only processes other than the run's own collect `calls`."""

    arena: Arena
    seating: Seating
    calls: CollectedCalls | None = None
    models: Models | None = None


_places: Final[dict[str, _Place]] = {}
_runs: Final[dict[str, Arena]] = {}  # of this process
_lock = threading.Lock()


def _forget() -> None:
    """Forget, in a forked child, what the parent has opened."""
    global _lock
    _lock = threading.Lock()
    _places.clear()
    _runs.clear()


os.register_at_fork(after_in_child=_forget)


@dataclass(frozen=True, slots=True)
class Work:
    """The data that all jobs of a run share, as plain values. Calling a `Work` with a job plays the job.

    A worker calls `open`, then `play` for each job from any thread, and finally `close`. The run's process
    calls `lost` for jobs whose worker has died too often.

    Attributes:
        key: a unique key under which each process stores the resources that it has opened for the run.
        game: the name of the registered game.
        settings: the game's settings as JSON.
        players: the spec of each seat's player; "" for an empty seat; the class name of a player that is an
            object.
        run: the settings of the run.
        folder: the working directory of the run, which a worker enters if the folder exists.
        contents: digests of the run's data and code, keyed by name, which must be the same in every worker.
            Empty if all jobs are played in the run's process.
    """

    key: str
    game: str
    settings: str
    players: tuple[str, ...]
    run: RunSettings
    folder: str
    contents: Mapping[str, Any]

    def open(self) -> None:
        """Load the tasks and prepare the players in this process. Further calls have no effect.

        Raises:
            InputError: data or a player cannot be used on this machine, which the message names; or the data
                or the code differ from those of the run.
        """
        self._place()

    def play(self, job: Job) -> JobResult:
        """Play the episode of a job, starting over if a server is lost.

        Raises:
            InputError: the same errors as from `open`.
            RunEndedError: the run has to end. This is raised only in the run's process; in other processes,
                `JobResult.ended` is set instead.
        """
        place = self._place()
        episode = f"{job.instance_id}/{job.repeat or 0}"
        if place.calls is None:
            return JobResult(self._tried(place, job))
        place.calls.begin(episode, job.calls)
        try:
            records = self._tried(place, job)
        except RunEndedError as error:
            return JobResult(None, place.calls.take(episode), str(error))
        return JobResult(records, place.calls.take(episode))

    __call__ = play

    def lost(self, job: Job, why: str) -> JobResult:
        """Return the result of a job that could not be played. `why` is the reason.

        Call this only in the run's process.
        """
        tasks = _runs[self.key]._tasks
        return JobResult(_marked(skipped_record(tasks, job.instance_id, Failure(INFRA_ERROR, why)), job))

    def close(self) -> None:
        """Close the tasks, players and models that this process has opened for the run."""
        with _lock:
            place = _places.pop(self.key, None)
        if place is not None and place.models is not None:
            place.seating.close()
            place.models.close()
            place.arena.close()

    @contextmanager
    def opened(self, arena: Arena, seating: Seating | None) -> Iterator[None]:
        """Make the run's tasks and players available to jobs in this process during the `with` block.

        Args:
            arena: the run's tasks.
            seating: the object that makes the run's players; None if other processes play the jobs.
        """
        with _lock:
            _runs[self.key] = arena
            if seating is not None:
                _places[self.key] = _Place(arena, seating)
        try:
            yield
        finally:
            self.close()
            with _lock:
                del _runs[self.key]

    def _place(self) -> _Place:
        with _lock:
            found = _places.get(self.key)
            if found is None:
                try:
                    found = _places[self.key] = self._load()
                except InputError as error:
                    raise InputError(f"the worker on {platform.node()}: {error}") from None
            return found

    def _load(self) -> _Place:
        if Path(self.folder).is_dir():
            os.chdir(self.folder)
        game = find_game(self.game)
        arena = Arena(game, game.settings.model_validate_json(self.settings))
        try:
            _compare(self.contents, contents_of(arena, self.players, self.run.models))
            models = Models(self.run.models)
            calls = models.collect()
            specs = {seat: spec for seat, spec in enumerate(self.players) if spec}
            seating = Seating(arena, specs, self.run.options, models, self.run.move_timeout)
        except BaseException:
            arena.close()
            raise
        return _Place(arena, seating, calls, models)

    def _tried(self, place: _Place, job: Job) -> Records:
        arena, seating = place.arena, place.seating
        tasks, name = arena._tasks, job.instance_id
        if seating.sees_private and not tasks.is_graded(name):
            return _marked(skipped_record(tasks, name, Failure("skipped", "")), job)
        for trial in range(1, _TRIALS + 1):
            try:
                return _marked(self._played(place, job), job)
            except RunEndedError:
                raise
            except InfrastructureError as error:
                if trial == _TRIALS or error.retried:
                    return _marked(skipped_record(tasks, name, failure(error)), job)
                time.sleep(_PAUSE_SECONDS * trial * random.uniform(1.0, 1.5))
            except BirdenvError as error:  # the episode's database is missing or broken
                return _marked(skipped_record(tasks, name, failure(error)), job)
        raise AssertionError("the last trial returns")

    def _played(self, place: _Place, job: Job) -> Records:
        arena, seating = place.arena, place.seating
        started = time.perf_counter()
        dialogue = arena.start(job.instance_id)
        players: Sequence[Player | None] = [None] * len(self.players)
        broken: Failure | None = None
        try:
            try:
                players = seating.players(
                    dialogue, job.instance_id, seed=self.run.seed, repeat=job.repeat or 0
                )
            except InfrastructureError:
                raise
            except Exception as error:
                broken = failure(error, arena.game.evaluated)
            if broken is None:
                broken = play_safely(dialogue, players, arena.game)
            used, unreported = usage_of_players(players, arena.game.evaluated)
            return record_episode(
                arena.game,
                arena._tasks,
                job.instance_id,
                dialogue,
                players,
                self.players,
                used,
                broken or unreported,
                started,
            )
        finally:
            dialogue.close()
            close_players(players)


def _marked(records: Records, job: Job) -> Records:
    """Return the records of a job with its repeat, and with the host and the process that played it."""
    if job.repeat is not None:
        records = mark_repeat(records, job.repeat)
    where = {"host": platform.node(), "worker": os.getpid()}
    return {**records, "timings": records["timings"] | where}


def contents_of(arena: Arena, players: Sequence[str], models: ModelSettings) -> dict[str, Any]:
    """Return digests of the data and code that the episodes use. They do not depend on folder paths."""
    config = arena._tasks.config()
    files = {spec: digest for spec in players if (digest := digest_of_player(spec))}
    found = {
        "tasks": hashlib.sha256("\n".join(arena.ids).encode()).hexdigest(),
        **{name: value for name, value in config.items() if name not in _PLACES},
        "code_sha256": code_digest(),
        "files of players": files,
        "models": models.config(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def digest_of_player(spec: str) -> str | None:
    """Return the digest of the file or folder named in a player's spec; None if the spec names no path."""
    name, _, argument = spec.partition(":")
    return path_digest(Path(argument)) if argument and name not in _OF_MODELS else None


def _compare(ours: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Raise an `InputError` that names the differences if data or code differ from the run's."""
    different = []
    for name in sorted({*ours, *here}):
        one, other = ours.get(name), here.get(name)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            inner = [each for each in {**one, **other} if one.get(each) != other.get(each)]
            name = f"{name} ({', '.join(sorted(inner))})"
        different.append(name)
    if different:
        raise InputError(
            f"data or code differ from the run's: {'; '.join(different)}; each machine needs the same "
            "tasks, databases and birdenv at the same paths"
        )
