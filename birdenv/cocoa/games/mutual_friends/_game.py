"""MutualFriends as a registered game."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field, field_validator

from birdenv.cocoa.files import Scenario, Schema
from birdenv.cocoa.games._display import knowledge_display
from birdenv.cocoa.games._measures import MUTUAL_FRIENDS
from birdenv.cocoa.games._scenario_tasks import ScenarioTasks
from birdenv.cocoa.games._settings import SchemaSettings
from birdenv.cocoa.games.mutual_friends._draw_scenarios import ALPHAS, generate
from birdenv.cocoa.games.mutual_friends._rules import MOST_ITEMS, SEATS, MutualFriendsRules
from birdenv.cocoa.games.mutual_friends._schema import SCHEMA
from birdenv.dialogue import Game
from birdenv.errors import InputError

_LEAST_ALPHA: Final = 0.001
_MOST_ALPHA: Final = 1000
"""Beyond these every list has one value, or all values, and their weights are no numbers any more."""


class MutualFriendsSettings(SchemaSettings):
    """Settings of MutualFriends."""

    cross_talk: bool = Field(True, description="Both may speak at any time; else not twice in a row.")
    items: tuple[int, int] = Field((5, 12), description="Least and largest number of friends in a list.")
    attributes: tuple[int, int] = Field((3, 3), description="Least and largest number of attributes.")
    alphas: tuple[float, ...] = Field(ALPHAS, min_length=1, description="How evenly values are spread.")

    @field_validator("items", "attributes", mode="after")
    @classmethod
    def _is_range(cls, value: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= value[0] <= value[1] <= MOST_ITEMS:
            raise ValueError(f"must be two numbers from 1 to {MOST_ITEMS}, the smaller one first")
        return value

    @field_validator("alphas", mode="after")
    @classmethod
    def _are_positive(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not all(_LEAST_ALPHA <= each <= _MOST_ALPHA for each in value):
            raise ValueError(f"must be numbers from {_LEAST_ALPHA} to {_MOST_ALPHA}")
        return value

    def read_schema(self) -> Schema:
        return super().read_schema() or SCHEMA


def load(settings: Any) -> ScenarioTasks:
    """Load or generate scenarios.

    Raises:
        InputError: a file or a setting cannot be used.
    """
    scenarios = settings.read()
    if scenarios is None:
        schema = settings.read_schema()
        try:
            scenarios = generate(
                schema,
                settings.number,
                settings.scenario_seed,
                settings.items,
                settings.attributes,
                settings.alphas,
            )
        except InputError as error:
            raise InputError(f"{settings.schema_file or 'our own schema'}: {error}") from None
    return ScenarioTasks(scenarios, settings, MutualFriendsRules, list[dict[str, str]])


GAME = Game(
    "mutual-friends",
    SEATS,
    MutualFriendsSettings,
    load,
    title="Find the one friend that you both have (MutualFriends)",
    study_title="Find the friend that you both have",
    players={0: "rulebased", 1: "rulebased"},
    record_model=Scenario,
    measures=MUTUAL_FRIENDS,
    display=knowledge_display("Find the one friend that you both have.", SEATS),
)
