"""c-Interact as a registered game."""

from __future__ import annotations

from pydantic import Field

from birdenv.dialogue import Game, Rules
from birdenv.grading import InteractGrader
from birdenv.tasks.c_interact._rules import SEATS, CInteractRules
from birdenv.tasks.interact._profile import PROFILES
from birdenv.tasks.interact._record import TaskRecord
from birdenv.tasks.interact._task import CInteractTask
from birdenv.tasks.interact._tasks import InteractSettings, InteractTasks, load_interact
from birdenv.tasks.sql._markup import MARKUP_HELP, read_markup


class CInteractSettings(InteractSettings):
    """Settings of c-Interact."""

    execute_sql: bool = Field(False, description="Let the agent run SQL (not in the official protocol).")

    def rules(self) -> dict[str, object]:
        return super().rules() | {"execute_sql": self.execute_sql}


def load(settings: CInteractSettings) -> InteractTasks:
    """Load the tasks of c-Interact."""

    def make_rules(task: CInteractTask, tasks: InteractTasks, grader: InteractGrader) -> Rules:
        return CInteractRules(
            task,
            tasks.source,
            grader,
            profile=PROFILES[settings.profile],
            patience=settings.patience,
            execute_sql=settings.execute_sql,
            limits=settings.limits,
            user_sees=settings.user_sees,
            leak_guard=settings.leak_guard,
        )

    return load_interact(settings, make_rules, {"questions": 0, "max_questions": 0, "free_questions": 0})


GAME = Game(
    "c-interact",
    SEATS,
    CInteractSettings,
    load,
    title="Ambiguous question -> dialogue -> SQL (BIRD-Interact)",
    players={1: "rule"},
    read_text=read_markup,
    markup_help=MARKUP_HELP,
    record_model=TaskRecord,
)
