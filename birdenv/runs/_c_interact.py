"""Runs of c-Interact: transcripts, attempts, and the report figures of BIRD-Interact §5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.runs._agents import Game
from birdenv.runs._c_interact_summary import dialogue_figures, dialogue_text
from birdenv.runs._interact_run import InteractRun
from birdenv.runs._summary import Summary
from birdenv.tasks.c_interact import CInteractController, CInteractTask, Profile

__all__ = ["CInteractRun"]


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

    def course(self, controller: CInteractController | None) -> dict[str, Any]:
        if controller is None:
            return {"questions": 0, "max_questions": 0}
        return {"questions": controller.questions, "max_questions": controller.max_questions}

    def instruction(self, task: CInteractTask) -> str:
        """What the system is told at the start of the task's episode."""
        return self.controller(task).system_view().instruction

    def summarise(self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> Summary:
        overall = dialogue_figures(runs, private) | self.rules()
        return Summary(overall, dialogue_text(overall, self.source.engine))
