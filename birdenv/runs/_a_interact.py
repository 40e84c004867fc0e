"""Runs of a-Interact: transcripts, attempts, and what the budget was spent on."""

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
from birdenv.runs._a_interact_summary import tool_figures, tool_text
from birdenv.runs._agents import Agent, Game, Setting
from birdenv.runs._digests import database_digests, notes_digests
from birdenv.runs._episode import Failure, Summary, play_safely, records_for
from birdenv.runs._interact_records import private_record, task_fields
from birdenv.tasks import TOOLS
from birdenv.tasks.a_interact import AInteractController
from birdenv.tasks.c_interact import CInteractTask, UserSession
from birdenv.users import User

__all__ = ["AInteractRun"]


@dataclass
class AInteractRun:
    """The a-Interact game as the runner sees it. `user` answers in the user's seat.

    `selection` says how the tasks were chosen; it is only recorded.
    """

    tasks: Sequence[CInteractTask]
    source: DatabaseSource
    setting: Setting
    data_file: Path
    user: User
    user_name: str = "rule"
    agent_name: str = ""
    patience: int = 3
    limits: Limits = Limits()  # noqa: RUF009 (frozen)
    selection: Mapping[str, Any] = field(default_factory=dict)
    game: Game = "a-interact"

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
            "patience": self.patience,
            "user": self.user_name,
            "sql_timeout_s": self.limits.seconds,
            "notes_sha256": notes_digests(self.tasks),
        }

    def play(self, task: CInteractTask, agent: Agent, rng: Random) -> dict[str, dict[str, Any]]:
        started = time.perf_counter()
        controller = AInteractController(
            task, self.source, self._grader, patience=self.patience, limits=self.limits
        )
        broken = play_safely(controller, task, agent, rng, [UserSession(self.user)])
        public = self._public(controller, broken)
        private = private_record(task, controller.private_log)
        return records_for(task.public.instance_id, public, private, started, {})

    def not_played(self, task: CInteractTask, why: Failure) -> dict[str, dict[str, Any]]:
        public = {"index": task.public.index, "status": why.status, "reward": 0.0, "attempts": []}
        public |= {"budget": 0, "budget_used": 0.0, "calls": {}, "malformed": 0} | task_fields(task)
        public |= {"error": why.error} if why.error else {}
        private = private_record(task, (), played=False)
        return records_for(task.public.instance_id, public, private, time.perf_counter(), {})

    def summarise(self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> Summary:
        overall = tool_figures(runs, private) | {"patience": self.patience}
        return Summary(overall, tool_text(overall))

    def _public(self, controller: AInteractController, broken: Failure | None) -> dict[str, Any]:
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
            "budget": outcome["budget"],
            "budget_used": outcome["budget_used"],
            "calls": {kind: controller.calls[kind] for kind in TOOLS if controller.calls[kind]},
            "malformed": controller.malformed,
            **task_fields(controller.task),
            "example": example.to_json(),
        }
        return record | ({"error": broken.error} if broken else {})
