"""Playing one episode of a run: whatever happens becomes a record."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any, Protocol, TypeVar

from birdenv.dialogue import Controller, Session, play
from birdenv.errors import (
    BenchmarkError,
    BirdenvError,
    InfrastructureError,
    InputError,
    describe_error,
)
from birdenv.runs._agents import Agent, AnyPublicTask, Game, Setting
from birdenv.runs._usage import Usage, usage_of
from birdenv.tasks.bird import BirdTask
from birdenv.tasks.c_interact import CInteractTask

AnyTask = BirdTask | CInteractTask
Task = TypeVar("Task", bound=AnyTask)

RETRIED = frozenset({"task error", "infra_error", "test_error"})
"""Statuses that are nobody's answer; `--resume` plays these tasks again."""

UNRATED = frozenset({"ungraded", "skipped", "infra_error", "test_error"})
"""Statuses that say nothing about the agent: left out of every rate, and said in the summary."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an episode broke off: the status it gets, and one line for people."""

    status: str
    error: str


@dataclass(frozen=True, slots=True)
class EpisodeEnd:
    """How an episode ended beside its rules: why it broke off, if it did, and what the agent says it took."""

    broken: Failure | None
    usage: Usage | None

    def fields(self) -> dict[str, Any]:
        """For the public record."""
        usage = self.usage.to_json() if self.usage is not None else {}
        return ({"usage": usage} if usage else {}) | ({"error": self.broken.error} if self.broken else {})


class RunGame(Protocol[Task]):
    """What the runner needs to know of a game."""

    game: Game
    tasks: Sequence[Task]
    setting: Setting

    def config(self) -> dict[str, Any]:
        """Everything that decides what the records say, for `config.json` and for `--resume`."""

    def play(self, task: Task, agent: Agent, rng: Random) -> dict[str, dict[str, Any]]:
        """One episode, as a record for each stream of the run directory."""

    def skipped_record(self, task: Task, why: Failure) -> dict[str, dict[str, Any]]:
        """The records of a task that was skipped, or that could not even be started."""


def task_rng(seed: int, task: AnyPublicTask, repeat: int = 0) -> Random:
    """The episode's own random stream: the same in every process, thread order and hash seed.

    Repeat 0 has the stream of a run that plays each task once.
    """
    return Random(f"{seed}/{task.instance_id}" + (f"/repeat {repeat}" if repeat else ""))


class _Closing(Controller, Protocol):
    def close(self) -> None: ...


def play_safely(
    controller: _Closing, task: AnyTask, agent: Agent, rng: Random, others: Sequence[Session] = ()
) -> EpisodeEnd:
    """Seat the agent, play to the end, close; an exception costs this episode only and is told.

    Only `InfrastructureError` goes on: the episode says nothing, and may be played again.
    """
    session: Session | None = None
    try:
        session = agent.new_session(task.public, rng, task.private if agent.sees_private else None)
        play(controller, [session, *others])
        return EpisodeEnd(None, usage_of(session))
    except InfrastructureError:
        raise
    except Exception as error:
        return EpisodeEnd(failure(error), _usage_so_far(session))
    finally:
        controller.close()


def _usage_so_far(session: Session | None) -> Usage | None:
    """Of an episode that broke off; its agent may be beyond answering."""
    try:
        return None if session is None else usage_of(session)
    except Exception:
        return None


def failure(error: Exception) -> Failure:
    """Whose fault an exception is: the machine's or the data's (gone or broken), or the agent's (or ours)."""
    if isinstance(error, BenchmarkError | InfrastructureError | InputError):
        return Failure("infra_error", str(error))
    return Failure("task error", str(error) if isinstance(error, BirdenvError) else describe_error(error))


def records_for(
    instance_id: str,
    public: dict[str, Any],
    private: dict[str, Any],
    started: float,
    durations: dict[str, float],
) -> dict[str, dict[str, Any]]:
    """Bundle an episode's records; times go to their own stream, so that the others repeat byte for byte."""
    key = {"instance_id": instance_id}
    stamp = {"timestamp": int(time.time() * 1000), "str": datetime.now().strftime("%Y-%m-%d %H:%M:%S")}
    timings = {**key, "time": stamp, "wall_s": round(time.perf_counter() - started, 6), **durations}
    return {"runs": {**key, **public}, "private": {**key, **private}, "timings": timings}


def mark_repeat(records: Mapping[str, dict[str, Any]], repeat: int) -> dict[str, dict[str, Any]]:
    """The records of one of several episodes of a task, saying which; its transcript gets its own name."""
    marked = {
        stream: {"instance_id": record["instance_id"], "repeat": repeat, **record}
        for stream, record in records.items()
    }
    example = marked["runs"].get("example")
    if example is not None:
        marked["runs"]["example"] = example | {"uuid": f"{example['uuid']}_{repeat}"}
    return marked
