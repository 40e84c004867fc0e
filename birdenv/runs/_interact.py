"""What runs of c-Interact and of a-Interact have in common: tasks, settings, the records of an episode.

What the records of an episode say of its BIRD-Interact task, in both games.

Runs of a-Interact: transcripts, attempts, and what the budget was spent on.

Runs of c-Interact: transcripts and attempts.
"""

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
from birdenv.grading import GRADER_VERSION, InteractGrader
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._directory import database_digests, notes_digests
from birdenv.runs._episode import EpisodeEnd, Failure, play_safely, records_for
from birdenv.runs.official._phases import FollowUpKind
from birdenv.tasks import TOOLS
from birdenv.tasks.a_interact import PROFILES, AInteractController
from birdenv.tasks.c_interact import (
    CInteractController,
    CInteractTask,
    InteractController,
    Profile,
    UserSession,
)
from birdenv.users import User


def task_fields(task: CInteractTask) -> dict[str, Any]:
    """For the public record."""
    return {
        "database": task.public.database,
        "category": task.private.category,
        "difficulty": task.public.difficulty,
        "high_level": task.public.high_level,
        "follow_up": _follow_up_kind(task),
    }


def private_record(
    task: CInteractTask, log: Sequence[dict[str, Any]], *, played: bool = True
) -> dict[str, Any]:
    """The private record, with the gold if the episode was played; `log` is the controller's."""
    private, follow_up = task.private, task.private.follow_up
    gold = {
        "gold_sql": list(private.gold),
        "follow_up_gold_sql": list(follow_up.gold) if follow_up else [],
        "clear_query": private.brief.clear_query,
    }
    types = {ambiguity.type for ambiguity in private.brief.ambiguities if ambiguity.type}
    return {**(gold if played else {}), "ambiguity_types": sorted(types), "log": list(log)}


def _follow_up_kind(task: CInteractTask) -> FollowUpKind:
    """`none`, `graded`, or `ungraded` where its gold is withheld, so that it is never asked."""
    if task.private.follow_up is None:
        return "none"
    return "graded" if task.private.follow_up.gold else "ungraded"


Played = TypeVar("Played", bound=InteractController)


@dataclass(kw_only=True)
class InteractRun(ABC, Generic[Played]):
    """A game of BIRD-Interact as the runner sees it. `user` answers in the user's seat.

    `selection` says how the tasks were chosen; it is only recorded. A game says what its rules are (`rules`)
    and makes the controller of an episode.
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
        self._grader = InteractGrader(self.source, self.limits)

    @abstractmethod
    def rules(self) -> dict[str, Any]:
        """The settings that are the game's own, for `config.json`."""

    @abstractmethod
    def controller(self, task: CInteractTask) -> Played:
        """The task's episode, at its start."""

    @abstractmethod
    def progress_fields(self, controller: Played | None) -> dict[str, Any]:
        """What the public record says of the way to the attempts; of an episode that never began if None."""

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

    def skipped_record(self, task: CInteractTask, why: Failure) -> dict[str, dict[str, Any]]:
        public = {"index": task.public.index, "status": why.status, "reward": 0.0, "attempts": []}
        public |= self.progress_fields(None) | task_fields(task)
        public |= {"error": why.error} if why.error else {}
        private = private_record(task, (), played=False)
        return records_for(task.public.instance_id, public, private, time.perf_counter(), {})

    def _public(self, task: CInteractTask, controller: Played, ending: EpisodeEnd) -> dict[str, Any]:
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
            **self.progress_fields(controller),
            **task_fields(task),
            "example": example.to_json(),
            **ending.fields(),
        }


@dataclass(kw_only=True)
class AInteractRun(InteractRun[AInteractController]):
    """The a-Interact game as the runner sees it."""

    profile: Profile = PROFILES["strict"]
    game: Game = "a-interact"

    def rules(self) -> dict[str, Any]:
        return {"profile": self.profile.name, "patience": self.patience}

    def controller(self, task: CInteractTask) -> AInteractController:
        return AInteractController(
            task,
            self.source,
            self._grader,
            profile=self.profile,
            patience=self.patience,
            limits=self.limits,
        )

    def progress_fields(self, controller: AInteractController | None) -> dict[str, Any]:
        if controller is None:
            return {"budget": 0, "budget_used": 0.0, "calls": {}, "malformed": 0}
        return {
            "budget": controller.budget.total,
            "budget_used": controller.budget.used,
            "calls": {kind: controller.calls[kind] for kind in TOOLS if controller.calls[kind]},
            "malformed": controller.malformed,
        }


@dataclass(kw_only=True)
class CInteractRun(InteractRun[CInteractController]):
    """The c-Interact game as the runner sees it."""

    profile: Profile
    execute_sql: bool = False
    game: Game = "c-interact"

    def rules(self) -> dict[str, Any]:
        return {
            "profile": self.profile.name,
            "patience": self.patience,
            "execute_sql": self.execute_sql,
        }

    def controller(self, task: CInteractTask) -> CInteractController:
        return CInteractController(
            task,
            self.source,
            self._grader,
            profile=self.profile,
            patience=self.patience,
            execute_sql=self.execute_sql,
            limits=self.limits,
        )

    def progress_fields(self, controller: CInteractController | None) -> dict[str, Any]:
        if controller is None:
            return {"questions": 0, "max_questions": 0}
        return {"questions": controller.questions, "max_questions": controller.max_questions}

    def instruction(self, task: CInteractTask) -> str:
        """What the system is told at the start of the task's episode."""
        return self.controller(task).system_view().instruction
