"""DealOrNoDeal (Lewis et al. 2017): two seats divide things whose values differ between the seats."""

from __future__ import annotations

from random import Random
from typing import Annotated, Any, Final

import pydantic
from pydantic import BaseModel

from birdenv.cocoa.files import Scenario
from birdenv.cocoa.games._measures import DEAL_OR_NO_DEAL, knowledge_display
from birdenv.cocoa.games._shared_rules import (
    MESSAGE,
    MESSAGE_WORDS,
    MOST_EVENTS,
    ScenarioSettings,
    ScenarioTasks,
    TwoSeats,
    column,
    new_id,
)
from birdenv.dialogue import Action, Event, Field, Game, Move, Reply, Seat
from birdenv.dialogue.people import ActionWords, Panel, SeatWords, table_panel

THINGS: Final = ("book", "hat", "ball")
MOST_OF_ONE: Final = 10
POINTS: Final = 10
"""The value of all things together for each seat."""

SELECT: Final = Action(
    "select",
    tuple(Field(thing, "integer", 0, MOST_OF_ONE) for thing in THINGS),
    "Say which things you take. The other player does not see this until both of you have selected.",
)
QUIT: Final = Action("quit", (), "Walk away. Nobody gets anything then.")
GUIDE: Final = (
    "You and your partner divide some books, hats and balls. Each thing is worth a different number of "
    "points to each of you, and you see only your own. Talk until you agree who takes what; then both of you "
    "say what you take. If the two shares do not fit together, nobody gets any points."
)

_WORDS: Final = SeatWords(
    {
        MESSAGE.name: MESSAGE_WORDS,
        SELECT.name: ActionWords(
            "Say what you take",
            "Say it when you have agreed. Your partner does not see it until both of you have said it.",
            done="chose what to take: {book} books, {hat} hats, {ball} balls",
            fields={"book": "Books", "hat": "Hats", "ball": "Balls"},
            question="Take these? You cannot change this later.",
        ),
        QUIT.name: ActionWords(
            "Walk away", done="walked away", question="Walk away? Then nobody gets anything."
        ),
    },
    {"agent_0": "Partner", "agent_1": "Partner"},
    {
        "completed": "Your shares fit together.",
        "no deal": "You have no deal: somebody walked away, or your shares do not fit together.",
        "event limit": "The conversation is over without a deal: no more messages can be sent.",
    },
)


def _seat(name: str, other: str) -> Seat:
    gauges = {"events_left": MOST_EVENTS}
    return Seat(name, (MESSAGE, SELECT, QUIT), (other, "judge"), gauges, guide=GUIDE, words=_WORDS)


SEATS: Final = (_seat("agent_0", "agent_1"), _seat("agent_1", "agent_0"))


class DealRules(TwoSeats):
    """The rules and state of a DealOrNoDeal episode.

    The episode ends when both seats have selected a share, or when a seat walks away.
    """

    seats = SEATS

    def __init__(self, scenario: Scenario, settings: ScenarioSettings) -> None:
        super().__init__(scenario.kbs, settings.cross_talk, settings.max_events)
        self._values = [{item["Name"]: int(item["Value"]) for item in kb} for kb in self.kbs]
        self._counts, others = ({item["Name"]: int(item["Count"]) for item in kb} for kb in self.kbs)
        self._claims: list[dict[str, int] | None] = [None, None]
        if self._counts != others or set(self._counts) != set(THINGS):
            raise ValueError(f"both seats must have the same counts of {', '.join(THINGS)}")

    def legal(self, seat: int) -> tuple[str, ...]:
        return ("message", "select", "quit") if self._claims == [None, None] else ("select", "quit")

    def panels(self, seat: int) -> tuple[Panel, ...]:
        things = [
            {"": item["Name"], "how many": item["Count"], "points each": item["Value"]}
            for item in self.kbs[seat]
        ]
        return (table_panel("Things", things),)

    def instruction(self, seat: int) -> str:
        lines = [f"{item['Count']} x {item['Name']}, {item['Value']} points each" for item in self.kbs[seat]]
        return "\n".join([GUIDE, "", "What there is, and what it is worth to you:", *lines])

    def decide(self, seat: int, move: Move) -> Reply:
        if move.action == "quit":
            self.status = "no deal"
            return Reply()
        if any(move.data[thing] > count for thing, count in self._counts.items()):
            there = ", ".join(f"{thing} {count}" for thing, count in self._counts.items())
            return Reply(f"Not done: there are not that many things. There are: {there}.", refused=True)
        self._claims[seat] = dict(move.data)
        if None not in self._claims:
            fits = self._fits()
            self.status = "completed" if fits else "no deal"
            self.rewards = (self._points(0), self._points(1)) if fits else (0.0, 0.0)
        return Reply()

    def shown(self, seat: int, event: Event) -> Event | None:
        """Return an event without the partner's selection, which the seat may not see."""
        hidden = event.action == "select" and event.agent != seat
        return event._replace(data=None) if hidden else event

    def outcome(self) -> dict[str, Any]:
        return {
            "reward": {str(seat): int(reward) for seat, reward in enumerate(self.rewards)},
            "item_split": list(self._claims),
            "valid_deal": self._fits(),
            "agreed": None not in self._claims,
        }

    def _fits(self) -> bool:
        mine, theirs = self._claims
        if mine is None or theirs is None:
            return False
        return all(mine[thing] + theirs[thing] == count for thing, count in self._counts.items())

    def _points(self, seat: int) -> float:
        claim = self._claims[seat] or {}
        return float(sum(self._values[seat][thing] * taken for thing, taken in claim.items()))


_LEAST_THINGS: Final = 5
_MOST_THINGS: Final = 7
_MOST_DRAWN: Final = 4
_MOST_VALUE: Final = 1000


class Kind(BaseModel):
    """A kind of thing, with its name, its count, and the value of one such thing to the seat."""

    Name: str
    Count: Annotated[int, pydantic.Field(strict=True, ge=0, le=MOST_OF_ONE)]
    Value: Annotated[int, pydantic.Field(strict=True, ge=0, le=_MOST_VALUE)]


class DealSettings(ScenarioSettings):
    """Settings for DealOrNoDeal."""

    def generated(self) -> list[Scenario]:
        return generate(self.number, self.scenario_seed)


def generate(number: int, seed: int = 0) -> list[Scenario]:
    """Generate scenarios with 5 to 7 things, whose total value is 10 points for each seat.

    As in Lewis et al. (2017), at least one thing has a value for both seats, and every thing has a value for
    at least one seat.
    """
    rng = Random(seed)
    return [_scenario(rng) for _ in range(number)]


def _scenario(rng: Random) -> Scenario:
    while True:
        counts = [rng.randint(1, _MOST_DRAWN) for _ in THINGS]
        if not _LEAST_THINGS <= sum(counts) <= _MOST_THINGS:
            continue
        possible = [
            (a, b, c)
            for a in range(POINTS + 1)
            for b in range(POINTS + 1)
            for c in range(POINTS + 1)
            if a * counts[0] + b * counts[1] + c * counts[2] == POINTS
        ]
        first, second = rng.choice(possible), rng.choice(possible)
        both = any(a and b for a, b in zip(first, second, strict=True))
        if both and all(a or b for a, b in zip(first, second, strict=True)):
            break
    kbs = [
        [{"Name": name, "Count": n, "Value": v} for name, n, v in zip(THINGS, counts, values, strict=True)]
        for values in (first, second)
    ]
    attributes = [column("Name", "item"), column("Count", "integer"), column("Value", "integer")]
    return Scenario(uuid=new_id(rng, "FB_"), attributes=attributes, kbs=kbs)


def load(settings: Any) -> ScenarioTasks:
    """Load the tasks from a scenario file, or generate scenarios if the settings name no file.

    Raises:
        InputError: a file or a setting cannot be used.
    """
    return ScenarioTasks(settings.read(), settings, DealRules, list[Kind])


GAME = Game(
    "deal-or-no-deal",
    SEATS,
    DealSettings,
    load,
    title="Divide books, hats and balls (DealOrNoDeal)",
    study_title="Divide some things",
    players={0: "rulebased", 1: "rulebased"},
    record_model=Scenario,
    measures=DEAL_OR_NO_DEAL,
    display=knowledge_display("Divide books, hats and balls.", SEATS),
)
