"""Bargain (CraigslistBargain, He et al. 2018): its rules, and the registered game."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pydantic
from pydantic import BaseModel, field_validator

from birdenv.cocoa.files import Scenario
from birdenv.cocoa.games._measures import BARGAIN, knowledge_display
from birdenv.cocoa.games._shared_rules import (
    MESSAGE,
    MESSAGE_WORDS,
    MOST_EVENTS,
    ScenarioSettings,
    ScenarioTasks,
    SchemaSettings,
    TwoSeats,
)
from birdenv.cocoa.games.bargain._draw_scenarios import (
    DISCOUNTS,
    LISTINGS,
    MOST_PRICE,
    generate,
    read_listings,
)
from birdenv.dialogue import Action, Field, Game, Move, Reply, Seat
from birdenv.dialogue.people import ActionWords, Panel, SeatWords

NO_DEAL: Final = -0.5
"""The reward of both seats without a deal, as in CoCoA's training."""

OFFER: Final = Action(
    "offer",
    (Field("price", "number", 0, MOST_PRICE), Field("sides", optional=True, empty=True)),
    "Offer the price that you agreed on, and say what else is part of the deal. You can make only one offer.",
)
ACCEPT: Final = Action("accept", (), "Accept the offer, which makes the deal.")
REJECT: Final = Action("reject", (), "Reject the offer. The dialogue then ends without a deal.")
QUIT: Final = Action("quit", (), "Walk away. The dialogue then ends without a deal.")

ROLES: Final = ("buyer", "seller")
GUIDE: Final = {
    "buyer": "You want to buy the advertised item. Talk with the seller, and get a price as close to your "
    "target as you can; below it is even better. ",
    "seller": "You want to sell the advertised item. Talk with the buyer, and get a price as close to your "
    "target as you can; above it is even better. ",
}
_HOW: Final = (
    "When you agree on a price, one of you offers it, and the other accepts the offer. Only you know your "
    "target: do not reveal it."
)

_ACTION_WORDS: Final = {
    MESSAGE.name: MESSAGE_WORDS,
    OFFER.name: ActionWords(
        "Make an offer",
        "Offer the price that you agreed on. You can do this only once.",
        done="offered {price} dollars {sides}",
        fields={"price": "Price in dollars", "sides": "Extras, if any"},
        question="Only one offer can be made. Make this offer?",
    ),
    ACCEPT.name: ActionWords(
        "Accept the offer", done="accepted the offer", question="Accept the offer? Then the deal is made."
    ),
    REJECT.name: ActionWords(
        "Reject the offer", done="rejected the offer", question="Reject the offer? It ends without a deal."
    ),
    QUIT.name: ActionWords("Walk away", done="walked away", question="Walk away? It ends without a deal."),
}
_ENDS: Final = {
    "completed": "The offer was accepted: you have a deal.",
    "no deal": "The conversation ended without a deal.",
    "event limit": "The conversation is over without a deal: no more messages can be sent.",
}
_POINTS: Final = (
    "You earned {points} points: 1 means your own target, 0 halfway between both targets, and -1 your "
    "partner's target."
)


def _seat(role: str, other: str) -> Seat:
    actions = (MESSAGE, OFFER, ACCEPT, REJECT, QUIT)
    words = SeatWords(_ACTION_WORDS, {"buyer": "Buyer", "seller": "Seller"}, _ENDS, _POINTS)
    gauges = {"events_left": MOST_EVENTS}
    return Seat(role, actions, (other, "judge"), gauges, guide=GUIDE[role] + _HOW, words=words)


SEATS: Final = (_seat("buyer", "seller"), _seat("seller", "buyer"))


def margins(price: float, buyer_target: float, seller_target: float) -> tuple[float, float] | None:
    """Return the margins of the buyer and the seller at a price, or None if their targets are equal.

    A seat's margin is 1 at the seat's own target, 0 at the midpoint, and -1 at the partner's target.
    """
    half = (seller_target - buyer_target) / 2
    if not half:
        return None
    seller = (price - (seller_target + buyer_target) / 2) / half
    return 0.0 - seller, 0.0 + seller  # and no -0.0


class BargainRules(TwoSeats):
    """The rules and state of a Bargain episode.

    The episode ends when an offer is accepted or rejected, or when a seat walks away.
    """

    seats = SEATS

    def __init__(self, scenario: Scenario, settings: ScenarioSettings) -> None:
        by_role = {kb["personal"]["Role"]: kb for kb in scenario.kbs}  # in files, either role may come first
        if set(by_role) != set(ROLES):
            raise ValueError("one seat must be the buyer, and the other the seller")
        super().__init__([by_role[role] for role in ROLES], settings.cross_talk, settings.max_events)
        self._targets = [float(kb["personal"]["Target"]) for kb in self.kbs]
        self._offer: tuple[int, dict[str, Any]] | None = None

    def legal(self, seat: int) -> tuple[str, ...]:
        if self._offer is None:
            return ("message", "offer", "quit")
        return ("message", "quit") if self._offer[0] == seat else ("accept", "reject", "quit")

    def scale(self, seat: int) -> Mapping[str, float]:
        return {"price": 2.0 * self.kbs[seat]["item"]["Price"]}

    def panels(self, seat: int) -> tuple[Panel, ...]:
        item, target = self.kbs[seat]["item"], self.kbs[seat]["personal"]["Target"]
        facts = [item["Title"], f"{item['Category']}, advertised for {item['Price']} dollars"]
        about = "\n".join([*facts, "", *item["Description"]])
        return Panel("Your target", f"{target} dollars"), Panel("Advertisement", about)

    def instruction(self, seat: int) -> str:
        kb = self.kbs[seat]
        item, target = kb["item"], kb["personal"]["Target"]
        headline = f"{item['Title']} ({item['Category']}), {item['Price']} dollars"
        about = [headline, *item["Description"], f"Your target: {target} dollars."]
        return "\n".join([GUIDE[ROLES[seat]] + _HOW, "", *about])

    def decide(self, seat: int, move: Move) -> Reply:
        if move.action == "offer":
            terms = {"price": move.data["price"], "sides": move.data.get("sides") or ""}
            self._offer = seat, terms
            return Reply(data=terms)
        self.status = "completed" if move.action == "accept" else "no deal"
        made = margins(self._offer[1]["price"], *self._targets) if self._offer else None
        self.rewards = (made or (0.0, 0.0)) if move.action == "accept" else (NO_DEAL, NO_DEAL)
        return Reply()

    def stop(self, status: str) -> None:
        super().stop(status)
        self.rewards = (NO_DEAL, NO_DEAL)

    def outcome(self) -> dict[str, Any]:
        return {"reward": int(self.status == "completed"), "offer": self._offer[1] if self._offer else None}


class _Personal(BaseModel):
    Role: Literal["buyer", "seller"]
    Target: Annotated[float, pydantic.Field(strict=True, ge=0, le=MOST_PRICE)]


class _Item(BaseModel):
    Title: str
    Category: str
    Price: Annotated[float, pydantic.Field(strict=True, gt=0, le=MOST_PRICE)]
    Description: list[str]


class Knowledge(BaseModel):
    """The required fields of a seat's knowledge. Files can contain additional fields."""

    personal: _Personal
    item: _Item


class BargainSettings(SchemaSettings):
    """Settings for Bargain."""

    discounts: tuple[float, ...] = pydantic.Field(
        DISCOUNTS,
        min_length=1,
        description="The buyer's targets in generated scenarios, as shares of the advertised price.",
    )
    listings: str | None = pydantic.Field(
        None, description="File of advertisements for generated scenarios (default: built-in advertisements)."
    )

    @field_validator("discounts", mode="after")
    @classmethod
    def _are_shares(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 < each < 1 for each in value):
            raise ValueError("must be numbers between 0 and 1")
        return value

    def generated(self) -> list[Scenario]:
        schema = self.read_schema()
        return generate(
            self.number,
            self.scenario_seed,
            self.discounts,
            LISTINGS if self.listings is None else read_listings(Path(self.listings)),
            None if schema is None else schema.attributes,
        )


def load(settings: Any) -> ScenarioTasks:
    """Load the tasks from a scenario file, or generate scenarios if the settings name no file.

    Raises:
        InputError: a file or a setting cannot be used.
    """
    return ScenarioTasks(settings.read(), settings, BargainRules, Knowledge)


GAME = Game(
    "bargain",
    SEATS,
    BargainSettings,
    load,
    title="Agree on a price (CraigslistBargain)",
    study_title="Agree on a price",
    players={0: "rulebased", 1: "rulebased"},
    record_model=Scenario,
    measures=BARGAIN,
    display=knowledge_display("Agree on a price.", SEATS),
)
