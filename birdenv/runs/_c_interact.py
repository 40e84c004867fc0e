"""Runs of c-Interact: transcripts, attempts, and the report figures of BIRD-Interact §5."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from birdenv.databases import DatabaseSource, Limits
from birdenv.dialogue import Example
from birdenv.files import file_digest
from birdenv.grading import GRADER_VERSION, ConversationalGrader
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._dialogue_summary import dialogue_figures, dialogue_text
from birdenv.runs._digests import database_digests, notes_digests
from birdenv.runs._episode import Failure, Summary, play_safely, records_for
from birdenv.runs._interact_records import private_record, task_fields
from birdenv.tasks.c_interact import CInteractController, CInteractTask, Profile, UserSession
from birdenv.users import User

__all__ = ["CInteractRun"]


@dataclass
class CInteractRun:
    """The c-Interact game as the runner sees it. `user` answers in the user's seat.

    `selection` says how the tasks were chosen; it is only recorded.
    """

    tasks: Sequence[CInteractTask]
    source: DatabaseSource
    setting: Setting
    data_file: Path
    profile: Profile
    user: User
    user_name: str = "rule"
    agent_name: str = ""
    patience: int = 3
    execute_sql: bool = False
    limits: Limits = Limits()  # noqa: RUF009 (frozen)
    selection: Mapping[str, Any] = field(default_factory=dict)
    game: Game = "c-interact"

    def __post_init__(self) -> None:
        self._grader = ConversationalGrader(self.source, self.limits)

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
            "profile": self.profile.name,
            "patience": self.patience,
            "execute_sql": self.execute_sql,
            "user": self.user_name,
            "sql_timeout_s": self.limits.seconds,
            "notes_sha256": notes_digests(self.tasks),
        }

    def play(self, task: CInteractTask, agent: Agent, rng: Random) -> dict[str, dict[str, Any]]:
        started = time.perf_counter()
        controller = self._controller(task)
        broken = play_safely(controller, task, agent, rng, [UserSession(self.user)])
        public = self._public(controller, broken)
        private = private_record(task, controller.private_log)
        return records_for(task.public.instance_id, public, private, started, {})

    def not_played(self, task: CInteractTask, why: Failure) -> dict[str, dict[str, Any]]:
        public = {"index": task.public.index, "status": why.status, "reward": 0.0, "attempts": []}
        public |= task_fields(task) | {"questions": 0, "max_questions": 0}
        public |= {"error": why.error} if why.error else {}
        private = private_record(task, [], played=False)
        return records_for(task.public.instance_id, public, private, time.perf_counter(), {})

    def instruction(self, task: CInteractTask) -> str:
        """What the system is told at the start of the task's episode."""
        return self._controller(task).system_view().instruction

    def summarise(self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> Summary:
        overall = dialogue_figures(runs, private) | {
            "profile": self.profile.name,
            "patience": self.patience,
            "execute_sql": self.execute_sql,
        }
        return Summary(overall, dialogue_text(overall))

    def _controller(self, task: CInteractTask) -> CInteractController:
        return CInteractController(
            task,
            self.source,
            self._grader,
            profile=self.profile,
            patience=self.patience,
            execute_sql=self.execute_sql,
            limits=self.limits,
        )

    def _public(self, controller: CInteractController, broken: Failure | None) -> dict[str, Any]:
        task = controller.task.public
        outcome = controller.outcome()
        status = broken.status if broken else controller.status if controller.task.has_gold else "ungraded"
        example = Example(
            uuid=f"E_{task.instance_id}",
            scenario_uuid=task.instance_id,
            scenario={"uuid": task.instance_id, "database": task.database, "question": task.question},
            agents={"0": self.agent_name, "1": self.user_name},
            outcome=outcome | {"status": status},
            events=tuple(controller.events),
        )
        record: dict[str, Any] = {
            "index": task.index,
            "status": status,
            "reward": controller.rewards[0],
            "attempts": outcome["attempts"],
            "questions": controller.questions,
            "max_questions": controller.max_questions,
            **task_fields(controller.task),
            "example": example.to_json(),
        }
        return record | ({"error": broken.error} if broken else {})
