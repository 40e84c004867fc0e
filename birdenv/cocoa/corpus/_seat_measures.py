"""Measures for single seats: margins, lengths, dialogue acts, named values and stated facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from birdenv.cocoa.corpus._acts import acts_of, is_question
from birdenv.cocoa.corpus._dialogue_measures import FRIENDS, NO_TYPING, MeasuredDialogue, Metric
from birdenv.cocoa.corpus._entities import COUNTS, agreed_price
from birdenv.cocoa.corpus._text_statistics import tokens
from birdenv.statistics import Ratio, number


def _texts(reading: MeasuredDialogue, seat: int) -> list[str]:
    return reading.dialogue.texts(seat)


def _words_a_message(reading: MeasuredDialogue, seat: int) -> Ratio:
    texts = _texts(reading, seat)
    return Ratio(float(sum(len(tokens(text)) for text in texts)), float(len(texts)))


def _act(name: str) -> Callable[[MeasuredDialogue, int], Ratio]:
    def value(reading: MeasuredDialogue, seat: int) -> Ratio:
        found = _messages_acts(reading, seat)
        return Ratio(float(sum(name in acts for acts in found)), float(len(found)))

    return value


def _messages_acts(reading: MeasuredDialogue, seat: int) -> list[tuple[str, ...]]:
    return [acts_of(each, reading.entities, reading.listing) for each in reading.dialogue.said(seat)]


def _multi_act(reading: MeasuredDialogue, seat: int) -> Ratio:
    found = _messages_acts(reading, seat)
    return Ratio(float(sum(len(acts) > 1 for acts in found)), float(len(found)))


def _points(reading: MeasuredDialogue, seat: int) -> float | None:
    """Return the points in DealOrNoDeal, or the margin in Bargain."""
    reward = reading.dialogue.outcome.get("reward")
    if isinstance(reward, Mapping):
        return number(reward.get(str(seat), reward.get(seat)))
    return None


def _points_agreed(reading: MeasuredDialogue, seat: int) -> float | None:
    return _points(reading, seat) if reading.success else None


def _margin(reading: MeasuredDialogue, seat: int) -> float | None:
    price = agreed_price(reading.dialogue)
    return None if price is None or reading.listing is None else reading.listing.margin(seat, price)


def _typing_speed(reading: MeasuredDialogue, seat: int) -> Ratio | None:
    """Return the number of characters that a seat typed per second."""
    if not reading.dialogue.has_typing:
        return None
    typed = [
        (len(each.data), each.time - each.start_time)
        for each in reading.dialogue.of(seat)
        if isinstance(each.data, str) and each.start_time is not None
    ]
    return Ratio(float(sum(size for size, _ in typed)), sum(time for _, time in typed))


def _in_the_ad(reading: MeasuredDialogue, seat: int) -> Ratio | None:
    """Return the share of a seat's words that also occur in the advertisement."""
    if reading.listing is None:
        return None
    words = [word for text in _texts(reading, seat) for word in tokens(text)]
    return Ratio(float(sum(word in reading.listing.words for word in words)), float(len(words)))


def _entities(reading: MeasuredDialogue, seat: int) -> Ratio:
    texts = _texts(reading, seat)
    return Ratio(float(sum(len(reading.entities.mentions(text)) for text in texts)), float(len(texts)))


def _repeated(reading: MeasuredDialogue, seat: int) -> Ratio:
    """Return the share of the values in a seat's messages that the seat had named before."""
    named = [m.value for text in _texts(reading, seat) for m in reading.entities.mentions(text)]
    return Ratio(float(len(named) - len(set(named))), float(len(named)))


def _types(reading: MeasuredDialogue, seat: int) -> float:
    return float(
        len({m.attribute for text in _texts(reading, seat) for m in reading.entities.mentions(text)})
    )


def _first_mention(reading: MeasuredDialogue, seat: int) -> tuple[str, dict[str, int]] | None:
    """Return the attribute that a seat names first, and the number of distinct values of each attribute.

    Only values in the seat's own list are counted.
    """
    first = next((m for text in _texts(reading, seat) for m in reading.entities.mentions(text)), None)
    distinct = reading.entities.distinct(seat)
    return None if first is None or not distinct.get(first.attribute) else (first.attribute, distinct)


def _first_is(most: bool) -> Callable[[MeasuredDialogue, int], bool | None]:
    """Return a measure: does the seat first name the attribute that has the most (or fewest) values?"""

    def value(reading: MeasuredDialogue, seat: int) -> bool | None:
        found = _first_mention(reading, seat)
        if found is None or len(set(found[1].values())) < 2:
            return None
        return found[1][found[0]] == (max if most else min)(found[1].values())

    return value


def _first_size(reading: MeasuredDialogue, seat: int) -> float | None:
    found = _first_mention(reading, seat)
    return None if found is None else found[1][found[0]] / max(found[1].values())


def _facts(reading: MeasuredDialogue, seat: int) -> Ratio:
    """Return the share of stated counts ("two at Google") that agree with the speaker's list of items."""
    right = checked = 0
    for text in _texts(reading, seat):
        if is_question(text):
            continue
        last = 0
        for mention in reading.entities.mentions(text):
            clause = _CLAUSE.split(text[last : mention.start])[-1]
            said = [_counted(word) for word in tokens(clause)[-_REACH:]]
            numbers = [number for number in said if number is not None]
            last = mention.start + len(mention.value)
            if numbers:
                checked += 1
                right += numbers[-1] == reading.entities.count(seat, mention.attribute, mention.value)
    return Ratio(float(right), float(checked))


_CLAUSE: Final = re.compile(r"[.!?;,:]\s")
_REACH: Final = 5
"""The number of words before a value in which a count of the value is looked for."""


def _counted(word: str) -> int | None:
    return int(word) if word.isdigit() and len(word) < 4 else COUNTS.get(word)


def _several(reading: MeasuredDialogue, seat: int) -> Ratio:
    texts = _texts(reading, seat)
    return Ratio(float(sum(len(reading.entities.mentions(text)) > 1 for text in texts)), float(len(texts)))


def _measures() -> Iterator[Metric]:
    bargain = ("bargain",)
    yield Metric("margin", "Margin of deals", "Outcome", _margin)
    yield Metric("points", "Points, all dialogues", "Outcome", _points)
    yield Metric("points_agreed", "Points, valid deals", "Outcome", _points_agreed)
    yield Metric("seat_moves", "Moves", "Length", lambda r, s: float(len(r.dialogue.of(s))))
    yield Metric("seat_messages", "Messages", "Length", lambda r, s: float(len(_texts(r, s))))
    yield Metric("words", "Words per message", "Length", _words_a_message)
    yield Metric("typing", "Characters typed per second", "Time", _typing_speed, missing=NO_TYPING)
    for name in ("question", "answer", "greeting", "apology", "other"):
        yield Metric(f"act_{name}", f"Messages with: {name}", "Acts", _act(name), True)
    yield Metric("act_inform", "Messages with: inform", "Acts", _act("inform"), True, FRIENDS)
    yield Metric("act_price", "Messages with: price", "Acts", _act("price"), True, bargain)
    yield Metric("act_side_offer", "Messages with: side offer", "Acts", _act("side offer"), True, bargain)
    yield Metric("multi_act", "Messages with several acts", "Acts", _multi_act, True)
    yield Metric("in_the_ad", "Words from the advertisement", "Text", _in_the_ad, True, bargain)
    yield Metric("entities", "Values named per message", "Strategy", _entities, games=FRIENDS)
    yield Metric("several_entities", "Messages with several values", "Strategy", _several, True, FRIENDS)
    yield Metric("repeated_entities", "Values named before", "Strategy", _repeated, True, FRIENDS)
    yield Metric("entity_types", "Attributes named in a dialogue", "Strategy", _types, games=FRIENDS)
    for name, most in (("most", True), ("least", False)):
        title = f"Begins with the {name} uniform attribute"
        yield Metric(f"first_{name}_uniform", title, "Strategy", _first_is(most), True, FRIENDS)
    title = "Size of the first attribute, relative to the largest"
    yield Metric("first_domain", title, "Strategy", _first_size, games=FRIENDS)
    yield Metric("facts", "Correct facts", "Strategy", _facts, True, FRIENDS, "no message names a number")


SEAT_MEASURES: Final = tuple(_measures())
"""The measures of one seat of a dialogue."""
