"""A dialogue with what is worked out of it once, and the form of the figures that are read off it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from birdenv.cocoa.corpus._bargain_prices import PricedListing, listing_of
from birdenv.cocoa.corpus._corpus import CorpusDialogue
from birdenv.cocoa.corpus._entities import Entities
from birdenv.statistics import Ratio, number

NO_TYPING: Final = "nothing tells by the same clock when typing began"
FRIENDS: Final = ("mutual-friends",)


@dataclass(frozen=True)
class MeasuredDialogue:
    """A dialogue with what is worked out of it once."""

    dialogue: CorpusDialogue

    @cached_property
    def entities(self) -> Entities:
        """Values of its lists."""
        return Entities(self.dialogue)

    @cached_property
    def listing(self) -> PricedListing | None:
        """What is sold in it."""
        return listing_of(self.dialogue)

    @cached_property
    def success(self) -> bool | None:
        """True if it reached its aim; None where nothing tells."""
        return succeeded(self.dialogue)


Value: TypeAlias = Ratio | float | bool | None
"""A number counts one dialogue; None has no say."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure.

    Attributes:
        name: its key.
        title: its name for people.
        group: the heading that it stands under.
        value: of a dialogue, or of a seat of it.
        is_rate: it is a share, from 0 to 1.
        games: the games that have it; empty for all.
        missing: what a corpus lacks in which no dialogue has it; without it the figure is left out there.
    """

    name: str
    title: str
    group: str
    value: Callable[..., Value]
    is_rate: bool = False
    games: tuple[str, ...] = ()
    missing: str = ""

    def of(self, reading: MeasuredDialogue, *seat: int) -> Ratio | None:
        """Return what a dialogue, or a seat of it, gives."""
        if not self.fits(reading):
            return None
        value = self.value(reading, *seat)
        if value is None or isinstance(value, Ratio):
            return value if value is not None and value.below else None
        return Ratio(float(value))

    def fits(self, reading: MeasuredDialogue) -> bool:
        """Return True for a dialogue of a game that has it."""
        return not self.games or reading.dialogue.game in self.games


@dataclass(frozen=True)
class Unit:
    """A dialogue, or one seat of it, with its values and the groups that it is in."""

    reading: MeasuredDialogue
    seat: int | None
    values: Mapping[str, Ratio]
    groups: Mapping[str, str]


def succeeded(dialogue: CorpusDialogue) -> bool | None:
    """Return whether a dialogue reached the aim of its game; of two SQL phases the first."""
    outcome = dialogue.outcome
    if dialogue.game == "deal-or-no-deal":
        valid = outcome.get("valid_deal")
        return None if valid is None else bool(valid)
    if dialogue.game == "bird" and "ex" in outcome:
        return bool(outcome["ex"])
    made = attempts(dialogue)
    if made is not None:
        return any(each.get("phase") == 1 and each["reward"] > 0 for each in made)
    reward = outcome.get("reward")
    return reward > 0 if isinstance(reward, int | float) else None


def attempts(dialogue: CorpusDialogue) -> list[Mapping[str, Any]] | None:
    """Return the graded submissions of a dialogue, each with its `reward`; None in games without any."""
    found = dialogue.outcome.get("attempts")
    if not isinstance(found, list):
        return None
    graded = [each for each in found if isinstance(each, Mapping)]
    return [{**each, "reward": number(each.get("reward")) or 0.0} for each in graded]
