"""Bargain as a registered game."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, field_validator

from birdenv.cocoa.files import Scenario
from birdenv.cocoa.games._display import knowledge_display
from birdenv.cocoa.games._measures import BARGAIN
from birdenv.cocoa.games._scenario_tasks import ScenarioTasks
from birdenv.cocoa.games._settings import SchemaSettings
from birdenv.cocoa.games.bargain._draw_scenarios import DISCOUNTS, generate
from birdenv.cocoa.games.bargain._listings import LISTINGS, read_listings
from birdenv.cocoa.games.bargain._rules import MOST_PRICE, SEATS, BargainRules
from birdenv.dialogue import Game
from birdenv.files import file_identity


class _Personal(BaseModel):
    Role: Literal["buyer", "seller"]
    Target: Annotated[float, Field(strict=True, ge=0, le=MOST_PRICE)]


class _Item(BaseModel):
    Title: str
    Category: str
    Price: Annotated[float, Field(strict=True, gt=0, le=MOST_PRICE)]
    Description: list[str]


class Knowledge(BaseModel):
    """What a seat knows: files may tell more."""

    personal: _Personal
    item: _Item


class BargainSettings(SchemaSettings):
    """Settings of Bargain."""

    discounts: tuple[float, ...] = Field(
        DISCOUNTS,
        min_length=1,
        description="The buyer's targets, as shares of the price, where generated.",
    )
    listings: str | None = Field(
        None, description="File of advertisements to generate scenarios from; default: ours."
    )

    def identity(self) -> Hashable:
        return super().identity(), file_identity(None if self.listings is None else Path(self.listings))

    @field_validator("discounts", mode="after")
    @classmethod
    def _are_shares(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 < each < 1 for each in value):
            raise ValueError("must be numbers between 0 and 1")
        return value


def load(settings: Any) -> ScenarioTasks:
    """Load or generate scenarios.

    Raises:
        InputError: a file or a setting cannot be used.
    """
    scenarios = settings.read()
    if scenarios is None:
        schema = settings.read_schema()
        scenarios = generate(
            settings.number,
            settings.scenario_seed,
            settings.discounts,
            LISTINGS if settings.listings is None else read_listings(Path(settings.listings)),
            None if schema is None else schema.attributes,
        )
    return ScenarioTasks(scenarios, settings, BargainRules, Knowledge)


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
