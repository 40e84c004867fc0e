"""a-Interact as a registered game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birdenv.dialogue import Game
from birdenv.tasks.a_interact._rules import PROFILES, SEATS, AInteractRules
from birdenv.tasks.interact._interact_task_list import InteractSettings, InteractTasks, load_interact
from birdenv.tasks.interact._record import TaskRecord
from birdenv.tasks.interact.display import DISPLAY
from birdenv.tasks.interact.measures import A_INTERACT
from birdenv.tasks.sql._markup_reading import markup_help, read_markup


class AInteractSettings(InteractSettings):
    """Settings of a-Interact."""

    @classmethod
    def profiles(cls) -> Mapping[str, Any]:
        return PROFILES


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
    players={1: "rule"},
    read_text=read_markup,
    markup_help=markup_help(SEATS[0].kinds),
    record_model=TaskRecord,
    measures=A_INTERACT,
    display=DISPLAY,
    with_people={"user": {"leak_guard": "log"}},
)
