"""DealOrNoDeal as a registered game. Its dialogues are not ours to ship: scenarios are drawn."""

from __future__ import annotations

from random import Random
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from birdenv.cocoa.files import Scenario
from birdenv.cocoa.games._display import knowledge_display
from birdenv.cocoa.games._measures import DEAL_OR_NO_DEAL
from birdenv.cocoa.games._scenario_tasks import ScenarioTasks, column, new_id
from birdenv.cocoa.games._settings import ScenarioSettings
from birdenv.cocoa.games.deal_or_no_deal._rules import MOST_OF_ONE, POINTS, SEATS, THINGS, DealRules
from birdenv.dialogue import Game

_LEAST_THINGS: Final = 5
_MOST_THINGS: Final = 7
_MOST_DRAWN: Final = 4
_MOST_VALUE: Final = 1000


class Kind(BaseModel):
    """One kind of things: how many there are, and what one is worth to the seat."""

    Name: str
    Count: Annotated[int, Field(strict=True, ge=0, le=MOST_OF_ONE)]
    Value: Annotated[int, Field(strict=True, ge=0, le=_MOST_VALUE)]


class DealSettings(ScenarioSettings):
    """Settings of DealOrNoDeal."""


def generate(number: int, seed: int = 0) -> list[Scenario]:
    """Return scenarios of 5 to 7 things; to each seat all of them are worth 10 points together.

    As in Lewis et al. (2017), something is worth points to both, and everything to somebody.
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
    """Load or generate scenarios.

    Raises:
        InputError: a file or a setting cannot be used.
    """
    scenarios = settings.read()
    if scenarios is None:
        scenarios = generate(settings.number, settings.scenario_seed)
    return ScenarioTasks(scenarios, settings, DealRules, list[Kind])


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
