"""Compute tables for a whole corpus: words, dialogue acts, lengths, and prices over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from birdenv.cocoa.corpus._acts import act_statistics, acts_of, sequence
from birdenv.cocoa.corpus._dialogue_measures import MeasuredDialogue
from birdenv.cocoa.corpus._entities import agreed_price
from birdenv.cocoa.corpus._text_statistics import (
    characteristic_words,
    text_statistics,
    tokens,
    trigram_perplexity,
)

_PARTS: Final = 10
"""The number of equally long parts into which a bargain is divided."""


def text_tables(readings: Sequence[MeasuredDialogue]) -> dict[str, Any]:
    """Return message statistics for all dialogues, and by seat and player, category, result and act."""
    texts: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for reading in readings:
        dialogue = reading.dialogue
        for seat, player in enumerate(dialogue.players):
            said = [(text, reading.entities.template(text)) for text in dialogue.texts(seat)]
            texts["all"]["all"] += said
            texts["by_seat"][f"{dialogue.seats[seat]}: {player}"] += said
            if reading.listing is not None and reading.listing.category:
                texts["by_category"][reading.listing.category] += said
            margin = winner_of(reading)
            if margin is not None:
                texts["by_result"]["winner" if margin == seat else "loser"] += said
    made: dict[str, Any] = {
        kind: {name: text_statistics(*_columns(said)) for name, said in groups.items()}
        for kind, groups in texts.items()
    }
    made["characteristic"] = {
        kind: characteristic_words({name: [text for text, _ in said] for name, said in groups.items()})
        for kind, groups in texts.items()
        if len(groups) > 1
    }
    made["by_act"] = _by_act(readings)
    return {"all": {}, "by_seat": {}, **made}


def winner_of(reading: MeasuredDialogue) -> int | None:
    """Return the seat with the larger margin in a bargain, or None if there was a tie or no deal."""
    price = agreed_price(reading.dialogue)
    if price is None or reading.listing is None:
        return None
    margins = [reading.listing.margin(seat, price) for seat in range(2)]
    if margins[0] is None or margins[1] is None or margins[0] == margins[1]:
        return None
    return 0 if margins[0] > margins[1] else 1


def _columns(said: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [text for text, _ in said], [template for _, template in said]


def _by_act(readings: Sequence[MeasuredDialogue]) -> dict[str, Any]:
    """Return the number and the perplexity of messages with the same acts, for the most frequent acts."""
    texts: dict[str, list[list[str]]] = defaultdict(list)
    for reading in readings:
        for event in reading.dialogue.said():
            acts = acts_of(event, reading.entities, reading.listing)
            texts[" + ".join(acts)].append(tokens(event.data))
    most = sorted(texts.items(), key=lambda item: (-len(item[1]), item[0]))[:_PARTS]
    return {
        name: {"messages": len(said), "trigram_perplexity": trigram_perplexity(said)} for name, said in most
    }


def act_tables(readings: Sequence[MeasuredDialogue]) -> dict[str, Any]:
    """Return statistics about acts and act sequences for all dialogues, and by seat and player."""
    by_seat: dict[str, list[list[str]]] = defaultdict(list)
    for reading in readings:
        for seat, player in enumerate(reading.dialogue.players):
            name = f"{reading.dialogue.seats[seat]}: {player}"
            by_seat[name].append(sequence(reading.dialogue, reading.entities, reading.listing, seat))
    whole = [sequence(each.dialogue, each.entities, each.listing, None) for each in readings]
    return {
        "all": act_statistics(whole),
        "by_seat": {name: act_statistics(found) for name, found in by_seat.items()},
    }


def length_table(readings: Sequence[MeasuredDialogue]) -> list[dict[str, int]]:
    """Return a row for each length in moves, with the number of dialogues and of successful dialogues."""
    counts: Counter[int] = Counter()
    successes: Counter[int] = Counter()
    for reading in readings:
        moves = len(reading.dialogue.moves)
        counts[moves] += 1
        successes[moves] += reading.success is True
    return [
        {"moves": moves, "dialogues": counts[moves], "successes": successes[moves]}
        for moves in sorted(counts)
    ]


def price_table(readings: Sequence[MeasuredDialogue]) -> dict[str, list[dict[str, float]]]:
    """Return the mean price that each role names in each tenth of a bargain.

    Prices are scaled: 0 is the buyer's target, and 1 is the seller's target.
    """
    named: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for reading in readings:
        listing, moves = reading.listing, reading.dialogue.moves
        if listing is None or "seller" not in listing.roles:
            continue
        seller = listing.roles.index("seller")
        for place, event in enumerate(moves):
            price = listing.named(event)
            margin = None if price is None else listing.margin(seller, price)
            if margin is not None and event.agent < len(listing.roles):
                part = place * _PARTS // len(moves)
                named[listing.roles[event.agent]][part].append((margin + 1) / 2)
    return {
        role: [
            {"part": part, "mean": sum(found) / len(found), "prices": len(found)}
            for part, found in sorted(parts.items())
        ]
        for role, parts in sorted(named.items())
    }
