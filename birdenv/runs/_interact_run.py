"""What runs of c-Interact and of a-Interact have in common: tasks, settings, the records of an episode."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

from birdenv.databases import DatabaseSource, Limits
from birdenv.dialogue import Example
from birdenv.files import file_digest
from birdenv.grading import GRADER_VERSION, ConversationalGrader
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._digests import database_digests, notes_digests
from birdenv.runs._episode import Ending, Failure, play_safely, records_for
from birdenv.runs._interact_records import private_record, task_fields
from birdenv.runs._summary import Summary
from birdenv.tasks.c_interact import CInteractTask, InteractController, UserSession
from birdenv.users import User

__all__ = ["InteractRun"]

Played = TypeVar("Played", bound=InteractController)


@dataclass(kw_only=True)
class InteractRun(ABC, Generic[Played]):
    """A game of BIRD-Interact as the runner sees it. `user` answers in the user's seat.

    `selection` says how the tasks were chosen; it is only recorded. A game says what its rules are (`rules`),
    makes the controller of an episode, and sums up its records.
    """

    tasks: Sequence[CInteractTask]
    source: DatabaseSource
    setting: Setting
    data_file: Path
    user: User
    game: Game
    user_name: str = "rule"
    agent_name: str = ""
    patience: int = 3
    limits: Limits = Limits()  # noqa: RUF009 (frozen)
    selection: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._grader = ConversationalGrader(self.source, self.limits)

    @abstractmethod
    def rules(self) -> dict[str, Any]:
        """The settings that are the game's own, for `config.json` and `overall.json`."""

    @abstractmethod
    def controller(self, task: CInteractTask) -> Played:
        """The task's episode, at its start."""

    @abstractmethod
    def course(self, controller: Played | None) -> dict[str, Any]:
        """What the public record says of the way to the attempts; of an episode that never began if None."""

    @abstractmethod
    def summarise(
        self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]
    ) -> Summary: ...

    def config(self) -> dict[str, Any]:
        databases = sorted({task.public.database for task in self.tasks})
        return {
            "game": self.game,
            "data_file": str(self.data_file),
            **self.selection,
            "data_sha256": file_digest(self.data_file),
            "databases_sha256": database_digests(self.source, databases),
            **self.source.config(),
            "grader": GRADER_VERSION,
            "tasks": [task.public.instance_id for task in self.tasks],
            **self.rules(),
            "user": self.user_name,
            "sql_timeout_s": self.limits.seconds,
            "notes_sha256": notes_digests(self.tasks),
        }

    def play(self, task: CInteractTask, agent: Agent, rng: Random) -> dict[str, dict[str, Any]]:
        started = time.perf_counter()
        controller = self.controller(task)
        ending = play_safely(controller, task, agent, rng, [UserSession(self.user)])
        public = self._public(task, controller, ending)
        private = private_record(task, controller.private_log)
        return records_for(task.public.instance_id, public, private, started, {})

    def not_played(self, task: CInteractTask, why: Failure) -> dict[str, dict[str, Any]]:
        public = {"index": task.public.index, "status": why.status, "reward": 0.0, "attempts": []}
        public |= self.course(None) | task_fields(task)
        public |= {"error": why.error} if why.error else {}
        private = private_record(task, (), played=False)
        return records_for(task.public.instance_id, public, private, time.perf_counter(), {})

    def _public(self, task: CInteractTask, controller: Played, ending: Ending) -> dict[str, Any]:
        told, outcome = task.public, controller.outcome()
        status = controller.status if task.has_gold else "ungraded"
        if ending.broken is not None:
            status = ending.broken.status
        example = Example(
            uuid=f"E_{told.instance_id}",
            scenario_uuid=told.instance_id,
            scenario={"uuid": told.instance_id, "database": told.database, "question": told.question},
            agents={"0": self.agent_name, "1": self.user_name},
            outcome=outcome | {"status": status},
            events=tuple(controller.events),
        )
        return {
            "index": told.index,
            "status": status,
            "reward": controller.rewards[0],
            "attempts": outcome["attempts"],
            **self.course(controller),
            **task_fields(task),
            "example": example.to_json(),
            **ending.fields(),
        }
