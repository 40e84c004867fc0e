"""c-Interact as a registered game."""

from __future__ import annotations

from pydantic import Field

from birdenv.dialogue import Game
from birdenv.tasks.c_interact._rules import SEATS, CInteractRules
from birdenv.tasks.interact._record import TaskRecord
from birdenv.tasks.interact._task_list import InteractSettings, InteractTasks, load_interact
from birdenv.tasks.interact.display import DISPLAY
from birdenv.tasks.interact.measures import C_INTERACT
from birdenv.tasks.sql.markup_reading import markup_help, read_markup


class CInteractSettings(InteractSettings):
    """Settings of c-Interact."""

    execute_sql: bool = Field(False, description="Let the agent run SQL (not in the official protocol).")
    questions: int | None = Field(
        None, ge=0, description="Questions in every task; default: one for each ambiguity, and patience."
    )

    def rules(self) -> dict[str, object]:
        fixed = {} if self.questions is None else {"questions": self.questions}
        return super().rules() | {"execute_sql": self.execute_sql} | fixed


def load(settings: CInteractSettings) -> InteractTasks:
    """Load the tasks of c-Interact."""
    idle = {"questions": 0, "max_questions": 0, "free_questions": 0}
    more = {"execute_sql": settings.execute_sql, "questions": settings.questions}
    return load_interact(settings, CInteractRules, idle, **more)


GAME = Game(
    "c-interact",
    SEATS,
    CInteractSettings,
    load,
    title="Ambiguous question -> dialogue -> SQL (BIRD-Interact)",
    study_title="A question to a database",
    players={1: "rule"},
    read_text=read_markup,
    markup_help=markup_help(("clarify", "submit_sql")),
    record_model=TaskRecord,
    measures=C_INTERACT,
    display=DISPLAY,
    with_people={"user": {"leak_guard": "log"}},
)
