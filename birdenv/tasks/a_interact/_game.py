"""a-Interact as a registered game."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from birdenv.dialogue import Game
from birdenv.tasks.a_interact._rules import SEATS, AInteractRules
from birdenv.tasks.interact._record import TaskRecord
from birdenv.tasks.interact._task_list import InteractSettings, InteractTasks, load_interact
from birdenv.tasks.interact.display import DISPLAY
from birdenv.tasks.interact.measures import A_INTERACT
from birdenv.tasks.interact.profile import MAX_PATIENCE, PATIENCE
from birdenv.tasks.sql.markup_reading import markup_help, read_markup


class AInteractSettings(InteractSettings):
    """Settings of a-Interact."""

    profile: Literal["strict", "adk"] = Field(
        "strict",
        description="How submissions are judged: strict (ours) or adk (as in the reference implementation).",
    )
    patience: int = Field(
        PATIENCE,
        ge=0,
        le=MAX_PATIENCE,
        strict=True,
        description="Each adds 2 to the budget of 6 and 2 an ambiguity.",
    )


def load(settings: AInteractSettings) -> InteractTasks:
    """Load the tasks of a-Interact."""
    idle = {"budget": 0, "budget_used": 0.0, "calls": {}, "malformed": 0}
    return load_interact(settings, AInteractRules, idle)


GAME = Game(
    "a-interact",
    SEATS,
    AInteractSettings,
    load,
    title="Ambiguous question -> tools on a budget -> SQL (BIRD-Interact)",
    study_title="A question to a database, on a budget",
    players={1: "rule"},
    read_text=read_markup,
    markup_help=markup_help(SEATS[0].kinds),
    record_model=TaskRecord,
    measures=A_INTERACT,
    display=DISPLAY,
    with_people={"user": {"leak_guard": "log"}},
)
