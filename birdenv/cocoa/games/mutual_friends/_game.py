"""MutualFriends (He et al. 2017): its rules, and the registered game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pydantic
from pydantic import field_validator

from birdenv.cocoa.files import Scenario, Schema
from birdenv.cocoa.games._measures import MUTUAL_FRIENDS, knowledge_display
from birdenv.cocoa.games._shared_rules import (
    MESSAGE,
    MESSAGE_WORDS,
    MOST_EVENTS,
    ScenarioSettings,
    ScenarioTasks,
    SchemaSettings,
    TwoSeats,
)
from birdenv.cocoa.games.mutual_friends._draw_scenarios import ALPHAS, SCHEMA, generate
from birdenv.dialogue import Action, Field, Game, Move, Reply, Seat
from birdenv.dialogue.people import ActionWords, Panel, SeatWords, table_panel
from birdenv.errors import InputError

MOST_ITEMS: Final = 20
"""The maximum number of friends in a list."""

SELECT: Final = Action(
    "select", (Field("item", "item"),), "Select the friend of yours that you think is on both lists."
)
GUIDE: Final = (
    "You and your partner each have a list of friends. Exactly one friend is on both lists. Talk with your "
    "partner to find out who it is, and choose that friend. You succeed when both of you have chosen the "
    "same friend. Do not read out your whole list: ask, tell and answer as you would in a chat."
)
_WORDS: Final = SeatWords(
    {
        MESSAGE.name: MESSAGE_WORDS,
        SELECT.name: ActionWords(
            "Choose this friend",
            "Choose the friend that you think is on both lists. You may choose again.",
            "panel",
            done="chose {item}",
        ),
    },
    {"agent_0": "Partner", "agent_1": "Partner"},
    {
        "completed": "You and your partner chose the same friend. Well done!",
        "event limit": "The conversation is over: no more messages can be sent.",
    },
    points="",
)
_LEAD: Final = (
    "You and your partner each have a list of friends. Exactly one friend, equal in all attributes, is on "
    "both lists. Find out which one by exchanging messages. `message` says something; `select` selects one "
    "of your friends. Your partner sees your selection, and you may select again. You both win as soon as "
    "your latest selections are equal."
)


def _seat(name: str, other: str) -> Seat:
    gauges = {"events_left": MOST_EVENTS}
    return Seat(
        name,
        (MESSAGE, SELECT),
        (other, "judge"),
        gauges,
        waits=True,
        items=MOST_ITEMS,
        guide=GUIDE,
        words=_WORDS,
    )


SEATS: Final = (_seat("agent_0", "agent_1"), _seat("agent_1", "agent_0"))


class MutualFriendsRules(TwoSeats):
    """The rules and state of a MutualFriends episode.

    The episode ends when the latest selection of each seat is the same friend.
    """

    seats = SEATS

    def __init__(self, scenario: Scenario, settings: ScenarioSettings) -> None:
        super().__init__(scenario.kbs, settings.cross_talk, settings.max_events)
        self._names = [attribute.name for attribute in scenario.attributes]
        self._selected: list[Any] = [None, None]
        if not all(0 < len(kb) <= MOST_ITEMS and all(map(self._is_item, kb)) for kb in self.kbs):
            names = ", ".join(self._names)
            raise ValueError(f"a list must have 1 to {MOST_ITEMS} friends, each with strings for {names}")

    def _is_item(self, item: Any) -> bool:
        return all(isinstance(item.get(name), str) for name in self._names)

    def legal(self, seat: int) -> tuple[str, ...]:
        return self.seats[seat].kinds

    def choices(self, seat: int) -> Sequence[Any]:
        return self.kbs[seat]  # type: ignore[no-any-return]

    def panels(self, seat: int) -> tuple[Panel, ...]:
        friends = [{name: item[name] for name in self._names} for item in self.kbs[seat]]
        return (table_panel("Your friends", friends, SELECT.name),)

    def instruction(self, seat: int) -> str:
        rows = [self._names, *([item[name] for name in self._names] for item in self.kbs[seat])]
        return "\n".join([_LEAD, "", "Your friends:", *(" | ".join(row) for row in rows)])

    def decide(self, seat: int, move: Move) -> Reply:
        self._selected[seat] = move.data
        if self._selected[0] == self._selected[1]:
            self.status, self.rewards = "completed", (1.0, 1.0)
        return Reply()

    def outcome(self) -> dict[str, Any]:
        return {"reward": int(self.rewards[0])}


_LEAST_ALPHA: Final = 0.001
_MOST_ALPHA: Final = 1000
"""Outside this range, lists have one value or all values, and the weights can overflow."""


class MutualFriendsSettings(SchemaSettings):
    """Settings for MutualFriends."""

    cross_talk: bool = pydantic.Field(True, description="Let both seats speak at any time, not only in turn.")
    items: tuple[int, int] = pydantic.Field(
        (5, 12), description="Minimum and maximum number of friends in a list."
    )
    attributes: tuple[int, int] = pydantic.Field(
        (3, 3), description="Minimum and maximum number of attributes."
    )
    alphas: tuple[float, ...] = pydantic.Field(
        ALPHAS, min_length=1, description="Dirichlet parameters; a larger one spreads values more evenly."
    )

    @field_validator("items", "attributes", mode="after")
    @classmethod
    def _is_range(cls, value: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= value[0] <= value[1] <= MOST_ITEMS:
            raise ValueError(f"must be two numbers from 1 to {MOST_ITEMS}, the smaller number first")
        return value

    @field_validator("alphas", mode="after")
    @classmethod
    def _are_positive(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not all(_LEAST_ALPHA <= each <= _MOST_ALPHA for each in value):
            raise ValueError(f"must be numbers from {_LEAST_ALPHA} to {_MOST_ALPHA}")
        return value

    def read_schema(self) -> Schema:
        return super().read_schema() or SCHEMA

    def generated(self) -> list[Scenario]:
        schema = self.read_schema()
        try:
            return generate(schema, self.number, self.scenario_seed, self.items, self.attributes, self.alphas)
        except InputError as error:
            raise InputError(f"{self.schema_file or 'the built-in schema'}: {error}") from None


def load(settings: Any) -> ScenarioTasks:
    """Load the tasks from a scenario file, or generate scenarios if the settings name no file.

    Raises:
        InputError: a file or a setting cannot be used.
    """
    return ScenarioTasks(settings.read(), settings, MutualFriendsRules, list[dict[str, str]])


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
