"""One episode of a run as plain values, and playing it wherever it arrives.

What a job needs (tasks, databases, players' processes) is opened once in each process, by the job's setup.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from birdenv.dialogue import Arena, Player
from birdenv.dialogue.games import find_game
from birdenv.dialogue.record import Failure, Records, mark_repeat, record_episode, skipped_record
from birdenv.errors import BirdenvError, InfrastructureError, InputError, RunEndedError
from birdenv.runs._episode_status import failure, play_safely, usage_of_players
from birdenv.runs.seating import Seating, close_players

_TRIALS = 3
_PAUSE_SECONDS = 1.0  # before the second trial; twice that before the third, and up to half as much again


class Setup(NamedTuple):
    """Everything that the episodes of a run have in common, as plain values.

    Attributes:
        game: the registered game's name.
        settings: its settings as JSON.
        players: the spec of each seat's player, "" for none; for a player that is an object, its class.
        options: settings for players.
        move_timeout: seconds for one move of a player in a process of its own.
        holder: the process that has the players that are objects; None if all players are specs.
    """

    game: str
    settings: str
    players: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    move_timeout: float | None = None
    holder: str | None = None


class PlannedEpisode(NamedTuple):
    """Which episode of a run.

    Attributes:
        instance_id: the task.
        repeat: which of several episodes of the task, from 0; None if there is one.
        seed: the run's seed.
    """

    instance_id: str
    repeat: int | None
    seed: int


class Job(NamedTuple):
    """One episode of a run as plain values.

    Attributes:
        setup: the run.
        episode: which task, which of its repeats, and the seed.
    """

    setup: Setup
    episode: PlannedEpisode


class _Open(NamedTuple):
    arena: Arena
    seating: Seating


_opened: Final[dict[Setup, _Open]] = {}
_lock = threading.Lock()


@contextmanager
def opened(setup: Setup, arena: Arena, seating: Seating) -> Iterator[None]:
    """Let jobs of this process use what a run has open."""
    with _lock:
        _opened[setup] = _Open(arena, seating)
    try:
        yield
    finally:
        with _lock:
            _opened.pop(setup, None)


def _forget() -> None:
    """In a forked child: what the parent has open is the parent's."""
    global _lock
    _lock = threading.Lock()
    _opened.clear()


os.register_at_fork(after_in_child=_forget)


def _place(setup: Setup) -> _Open:
    with _lock:
        found = _opened.get(setup)
        if found is None:
            found = _opened[setup] = _open(setup)
        return found


def _open(setup: Setup) -> _Open:
    if setup.holder is not None:
        raise InputError(
            "a player that is an object or a function plays in threads of its own process only: give a spec, "
            "such as module:factory, to run elsewhere"
        )
    game = find_game(setup.game)
    arena = Arena(game, game.settings.model_validate_json(setup.settings))
    players = {seat: spec for seat, spec in enumerate(setup.players) if spec}
    return _Open(arena, Seating(arena, players, dict(setup.options), move_timeout=setup.move_timeout))


def play_job(job: Job) -> Records:
    """Play one episode, again from its beginning if the server was lost. Report why it cannot be played.

    Raises:
        InputError: the game or a player cannot be made in this process.
        RunEndedError: nothing more can be played.
    """
    place, episode = _place(job.setup), job.episode
    records = _tried(place, episode, job.setup.players)
    return records if episode.repeat is None else mark_repeat(records, episode.repeat)


def _tried(place: _Open, episode: PlannedEpisode, names: Sequence[str]) -> Records:
    arena, seating = place
    if seating.sees_private and not arena._tasks.is_graded(episode.instance_id):
        return skipped_record(arena._tasks, episode.instance_id, Failure("skipped", ""))
    for trial in range(1, _TRIALS + 1):
        try:
            return _played(place, episode, names)
        except RunEndedError:
            raise
        except InfrastructureError as error:
            if trial == _TRIALS or error.retried:
                return skipped_record(arena._tasks, episode.instance_id, failure(error))
            time.sleep(_PAUSE_SECONDS * trial * random.uniform(1.0, 1.5))
        except BirdenvError as error:  # its database is gone or broken
            return skipped_record(arena._tasks, episode.instance_id, failure(error))
    raise AssertionError("the last trial returns")


def _played(place: _Open, episode: PlannedEpisode, names: Sequence[str]) -> Records:
    arena, seating = place
    started = time.perf_counter()
    dialogue = arena.start(episode.instance_id)
    players: Sequence[Player | None] = [None] * len(names)
    broken: Failure | None = None
    try:
        try:
            players = seating.players(
                dialogue, episode.instance_id, seed=episode.seed, repeat=episode.repeat or 0
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
            episode.instance_id,
            dialogue,
            players,
            names,
            used,
            broken or unreported,
            started,
        )
    finally:
        dialogue.close()
        close_players(players)
