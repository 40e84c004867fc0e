"""People's ratings of the dialogues in a corpus, and correlations between ratings and measures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from birdenv.cocoa.corpus._dialogue_measures import DIALOGUE_MEASURES, Unit
from birdenv.cocoa.corpus._seat_measures import SEAT_MEASURES
from birdenv.statistics import Ratio, correlation

RatedUnit: TypeAlias = tuple[str, str, str]
"""A dialogue, a seat, and the player in this seat. The seat or the player is empty if a rating omits it."""


class CorpusRatings(Protocol):
    """An object with rating statistics, such as inter-rater agreement."""

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""
        ...

    def text(self) -> str:
        """Return the statistics as a table."""
        ...


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings that people gave to the dialogues in a corpus.

    Attributes:
        report: statistics about the ratings; None if there are no ratings.
        answers: the numeric answers to each question, keyed by the rated dialogue, seat and player.
    """

    report: CorpusRatings | None = None
    answers: Mapping[str, Mapping[RatedUnit, Sequence[float]]] = field(default_factory=dict)


def correlations(
    units: Sequence[Unit],
    seats: Sequence[Unit],
    answers: Mapping[str, Mapping[RatedUnit, Sequence[float]]],
) -> list[dict[str, Any]]:
    """Return Pearson correlations between answers to questions and measures, strongest first.

    Answers about a seat are compared with the measures of the seat and of the whole dialogue. Undefined
    correlations are left out. About 5% of the confidence intervals exclude 0 by chance.
    """
    named: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        named[unit.reading.dialogue.name].append(unit)
    of_seat = {(u.reading.dialogue.id, _seat_name(u)): u.values for u in seats}

    def measured(dialogue: str, seat: str, system: str) -> Mapping[str, Ratio]:
        """Return the measures of the dialogue that a rating is about; empty if several dialogues fit."""
        found = [u for u in named[dialogue] if system in ("", *u.reading.dialogue.players)]
        if len(found) != 1:
            return {}
        return {**found[0].values, **of_seat.get((found[0].reading.dialogue.id, seat), {})}

    titles = {each.name: each.title for each in (*DIALOGUE_MEASURES, *SEAT_MEASURES)}
    made = []
    for question, given in answers.items():
        both = [(sum(values) / len(values), measured(*rated)) for rated, values in given.items()]
        for name, title in titles.items():
            pairs = [
                (mean, ratio.above / ratio.below)
                for mean, values in both
                if (ratio := values.get(name)) is not None
            ]
            found = correlation(pairs)
            if found.value is not None:
                made.append({"question": question, "measure": title, "n": len(pairs), **found.to_json()})
    return sorted(made, key=lambda each: (-abs(each["value"]), each["question"], each["measure"]))


def _seat_name(unit: Unit) -> str:
    return unit.reading.dialogue.seats[unit.seat or 0]
