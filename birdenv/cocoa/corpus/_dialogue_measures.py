"""Measures for whole dialogues: outcome, length, time, effort, clarification and strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeAlias

from birdenv.cocoa.corpus._corpus import CALLS, CorpusDialogue
from birdenv.cocoa.corpus._entities import Entities, PricedListing, agreed_price, stages
from birdenv.statistics import Ratio, number

NO_TYPING: Final = "no start times of typing were recorded with the same clock"
FRIENDS: Final = ("mutual-friends",)


@dataclass(frozen=True)
class MeasuredDialogue:
    """A dialogue to measure. Values that several measures need are cached."""

    dialogue: CorpusDialogue

    @cached_property
    def entities(self) -> Entities:
        """Return the object that finds the scenario's values in messages."""
        return Entities(self.dialogue)

    @cached_property
    def listing(self) -> PricedListing | None:
        """Return the item for sale and its prices, or None if the game is not Bargain."""
        known = self.dialogue
        return PricedListing(known.scenario) if known.game == "bargain" and known.scenario else None

    @cached_property
    def success(self) -> bool | None:
        """Return True if the dialogue reached the game's goal, and None if the result is unknown."""
        return succeeded(self.dialogue)


Value: TypeAlias = Ratio | float | bool | None
"""The value of a measure for one dialogue, or None if the dialogue has no value."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure for dialogues or seats.

    Attributes:
        name: the key of the measure in JSON.
        title: the name of the measure in tables.
        group: the heading under which the measure is listed.
        value: a function that computes the value from a dialogue, or from a dialogue and a seat.
        is_rate: True if the value is a share from 0 to 1.
        games: the names of the games that have this measure; empty for all games.
        missing: the reason to show if no dialogue has a value, or a function that returns the reason for the
            given dialogues. If this is empty, a measure without values is not shown.
    """

    name: str
    title: str
    group: str
    value: Callable[..., Value]
    is_rate: bool = False
    games: tuple[str, ...] = ()
    missing: str | Callable[[Sequence[MeasuredDialogue]], str] = ""

    def why_missing(self, readings: Sequence[MeasuredDialogue]) -> str:
        """Return the reason why no dialogue in `readings` has a value for the measure."""
        why = self.missing if isinstance(self.missing, str) else self.missing(readings)
        return why or "no dialogue has this measure"

    def of(self, reading: MeasuredDialogue, *seat: int) -> Ratio | None:
        """Return the value for a dialogue or for a seat in it, or None if there is no value."""
        if not self.fits(reading):
            return None
        value = self.value(reading, *seat)
        if value is None or isinstance(value, Ratio):
            return value if value is not None and value.below else None
        return Ratio(float(value))

    def fits(self, reading: MeasuredDialogue) -> bool:
        """Return True if the measure applies to a dialogue's game."""
        return not self.games or reading.dialogue.game in self.games


@dataclass(frozen=True)
class Unit:
    """A dialogue, or one seat in a dialogue, with measured values and group names.

    Attributes:
        reading: the dialogue.
        seat: the seat; None for the whole dialogue.
        values: the values of the measures, keyed by name; measures without a value are missing.
        groups: the name of the group for each criterion, such as `outcome`.
    """

    reading: MeasuredDialogue
    seat: int | None
    values: Mapping[str, Ratio]
    groups: Mapping[str, str]


def succeeded(dialogue: CorpusDialogue) -> bool | None:
    """Return True if a dialogue reached the game's goal, and None if the result is unknown.

    In text-to-SQL games, the goal is a correct answer to the first question.
    """
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
    """Return the graded submissions in a dialogue, each with a `reward`, or None if none were recorded."""
    found = dialogue.outcome.get("attempts")
    if not isinstance(found, list):
        return None
    graded = [each for each in found if isinstance(each, Mapping)]
    return [{**each, "reward": number(each.get("reward")) or 0.0} for each in graded]


_SQL: Final = ("c-interact", "a-interact", "bird")
_ASKING: Final = ("c-interact", "a-interact")
_DIVIDING: Final = ("deal-or-no-deal",)


def _passed(phase: int, attempt: str = "") -> Callable[[MeasuredDialogue], bool | None]:
    def value(reading: MeasuredDialogue) -> bool | None:
        made = attempts(reading.dialogue)
        tried = [each for each in made or () if each.get("phase") == phase]
        if made is None or (phase > 1 and not tried):
            return None
        if attempt == "first":
            tried = tried[:1]
        return any(each["reward"] > 0 for each in tried)

    return value


def _moves(*actions: str) -> Callable[[MeasuredDialogue], float]:
    return lambda reading: float(reading.dialogue.count(*actions))


def _per(
    above: Callable[[MeasuredDialogue], Value], below: Callable[[MeasuredDialogue], Value]
) -> Callable[[MeasuredDialogue], Value]:
    def value(reading: MeasuredDialogue) -> Value:
        first, second = above(reading), below(reading)
        if first is None or second is None or isinstance(first, Ratio) or isinstance(second, Ratio):
            return None
        return Ratio(float(first), float(second))

    return value


def _length(reading: MeasuredDialogue) -> float:
    return float(len(reading.dialogue.moves))


def _succeeded(reading: MeasuredDialogue) -> bool | None:
    return reading.success


def _seconds(reading: MeasuredDialogue) -> float | None:
    """Return the seconds between the first and the last move, for dialogues that succeed."""
    moves = reading.dialogue.moves
    if not reading.success or not reading.dialogue.has_clock or len(moves) < 2:
        return None
    return moves[-1].time - moves[0].time


def _no_seconds(readings: Sequence[MeasuredDialogue]) -> str:
    successful = [each.dialogue for each in readings if each.success]
    if not successful:
        return "no dialogues were successful"
    if not any(each.has_clock for each in successful):
        return "times are not in seconds"
    return "no successful dialogue has two moves"


def _no_questions(readings: Sequence[MeasuredDialogue]) -> str:
    if any(each.dialogue.counts for each in readings):
        return "the simulated user answered no question"
    return "questions are recorded only in the private records of runs"


def _cross_talk(reading: MeasuredDialogue) -> Ratio | None:
    """Return the share of replies that somebody began to type before the partner's move was sent."""
    if not reading.dialogue.has_typing:
        return None
    moves = reading.dialogue.moves
    pairs = [(a, b) for a, b in pairwise(moves) if a.agent != b.agent]
    crossed = sum(b.start_time is not None and b.start_time < a.time for a, b in pairs)
    return Ratio(float(crossed), float(len(pairs)))


def _count(name: str) -> Callable[[MeasuredDialogue], float | None]:
    def value(reading: MeasuredDialogue) -> float | None:
        found = reading.dialogue.counts.get(name)
        return None if found is None else float(found)

    return value


def _price(reading: MeasuredDialogue) -> float | None:
    """Return the final price on a scale from the buyer's target (0) to the seller's (1)."""
    price, listing = agreed_price(reading.dialogue), reading.listing
    if price is None or listing is None or "seller" not in listing.roles:
        return None
    margin = listing.margin(listing.roles.index("seller"), price)
    return None if margin is None else (margin + 1) / 2


def _stage(number: int) -> Callable[[MeasuredDialogue], Value]:
    def value(reading: MeasuredDialogue) -> Value:
        if reading.listing is None:
            return None
        return Ratio(
            float(stages(reading.dialogue, reading.listing)[number]), float(len(reading.dialogue.moves))
        )

    return value


def _reward(reading: MeasuredDialogue) -> float | None:
    return number(reading.dialogue.outcome.get("reward"))


def _completed(reading: MeasuredDialogue) -> bool | None:
    status = reading.dialogue.status
    return status == "completed" if status else reading.success


def _flag(reading: MeasuredDialogue, name: str) -> bool | None:
    found = reading.dialogue.outcome.get(name)
    return None if found is None else bool(found)


def _mismatch(reading: MeasuredDialogue) -> bool | None:
    agreed, valid = _flag(reading, "agreed"), _flag(reading, "valid_deal")
    return None if agreed is None or valid is None else agreed and not valid


def _measures() -> Iterator[Metric]:
    yield Metric("success", "Success", "Outcome", lambda r: r.success, True, missing="no outcome is recorded")
    yield Metric("completed", "Completed", "Outcome", _completed, True)
    yield Metric("agreed", "Agreed", "Outcome", lambda r: _flag(r, "agreed"), True, _DIVIDING)
    yield Metric("mismatch", "Agreed on shares that do not fit", "Outcome", _mismatch, True, _DIVIDING)
    yield Metric("phase_1_first", "Phase 1, first try", "Outcome", _passed(1, "first"), True)
    yield Metric("phase_1", "Phase 1", "Outcome", _passed(1), True)
    yield Metric("phase_2", "Phase 2, of reached", "Outcome", _passed(2), True)
    yield Metric("reward", "Reward", "Outcome", _reward)
    yield Metric("price", "Final price (buyer's target 0, seller's 1)", "Outcome", _price)
    yield Metric("events", "Moves in a dialogue", "Length", _length)
    yield Metric("messages", "Messages in a dialogue", "Length", lambda r: float(len(r.dialogue.texts())))
    yield Metric("refused", "Refused moves", "Length", lambda r: float(r.dialogue.refused))
    yield Metric("seconds", "Seconds, successful dialogues", "Time", _seconds, missing=_no_seconds)
    yield Metric("cross_talk", "Cross-talk", "Time", _cross_talk, True, missing=NO_TYPING)
    yield Metric("success_per_event", "Success per move", "Effort", _per(_succeeded, _length), True)
    selections = _moves("select")
    yield Metric("selections", "Selections", "Effort", selections, games=FRIENDS)
    per_selection = _per(_succeeded, selections)
    yield Metric("success_per_selection", "Success per selection", "Effort", per_selection, True, FRIENDS)
    yield from _clarification()
    yield Metric("executions", "Statements executed", "SQL", _moves("execute_sql"), games=_SQL)
    yield Metric("submissions", "Statements submitted", "SQL", _moves("submit_sql"), games=_SQL)
    for place, name in enumerate(("inquire", "discuss the price", "conclude")):
        key, title = name.split()[0], f"Moves that {name}"
        yield Metric(key, title, "Strategy", _stage(place), True, games=("bargain",))


def _clarification() -> Iterator[Metric]:
    asked, known = _moves("clarify"), _count("ambiguities")
    yield Metric("questions", "Questions", "Clarification", asked, games=_ASKING)
    shares = {
        f"questions_{call}": (f"Questions that are {call}", _per(_count(call), asked)) for call in CALLS
    }
    for name, title, value, is_rate in (
        ("ambiguities", "Ambiguities", known, False),
        ("questions_per_ambiguity", "Questions per ambiguity", _per(asked, known), False),
        ("disclosed", "Ambiguities disclosed", _per(_count("disclosed"), known), True),
        *((name, title, value, True) for name, (title, value) in shares.items()),
    ):
        yield Metric(name, title, "Clarification", value, is_rate, _ASKING, _no_questions)


DIALOGUE_MEASURES: Final = tuple(_measures())
"""The measures of a whole dialogue."""
