"""The rules of MutualFriends (He et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from birdenv.cocoa.files import Scenario
from birdenv.cocoa.games._settings import ScenarioSettings
from birdenv.cocoa.games._two_seats import MESSAGE, MESSAGE_WORDS, MOST_EVENTS, TwoSeats
from birdenv.dialogue import Action, Field, Move, Reply, Seat
from birdenv.dialogue.people import ActionWords, Panel, SeatWords, table_panel

MOST_ITEMS: Final = 20
"""Friends in one list, at most."""

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
    "both lists. Find out which by messages. `message` says something; `select` selects one of your friends "
    "and may be repeated, and your partner sees it. You both win when your last selections are equal."
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
    """One episode. It ends when the last selections of both seats are equal."""

    seats = SEATS

    def __init__(self, scenario: Scenario, settings: ScenarioSettings) -> None:
        super().__init__(scenario.kbs, settings.cross_talk, settings.max_events)
        self._names = [attribute.name for attribute in scenario.attributes]
        self._selected: list[Any] = [None, None]
        if not all(0 < len(kb) <= MOST_ITEMS and all(map(self._is_item, kb)) for kb in self.kbs):
            raise ValueError(f"a list has 1 to {MOST_ITEMS} friends, with text for {', '.join(self._names)}")

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
