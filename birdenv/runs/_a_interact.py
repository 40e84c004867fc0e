"""Runs of a-Interact: transcripts, attempts, and what the budget was spent on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.runs._a_interact_summary import tool_figures, tool_text
from birdenv.runs._agents import Game
from birdenv.runs._interact_run import InteractRun
from birdenv.runs._summary import Summary
from birdenv.tasks import TOOLS
from birdenv.tasks.a_interact import PROFILES, AInteractController
from birdenv.tasks.c_interact import CInteractTask, Profile

__all__ = ["AInteractRun"]


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

    def course(self, controller: AInteractController | None) -> dict[str, Any]:
        if controller is None:
            return {"budget": 0, "budget_used": 0.0, "calls": {}, "malformed": 0}
        return {
            "budget": controller.budget.total,
            "budget_used": controller.budget.used,
            "calls": {kind: controller.calls[kind] for kind in TOOLS if controller.calls[kind]},
            "malformed": controller.malformed,
        }

    def summarise(self, runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> Summary:
        overall = tool_figures(runs, private) | self.rules()
        return Summary(overall, tool_text(overall, self.source.engine))
