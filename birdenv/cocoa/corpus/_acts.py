"""Classify moves as dialogue acts, with rules like those of CoCoA's analysis."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from birdenv.cocoa.corpus._corpus import SQL_ACTIONS, CorpusDialogue
from birdenv.cocoa.corpus._entities import Entities, PricedListing
from birdenv.cocoa.corpus._text_statistics import entropy, tokens
from birdenv.dialogue.move import Event

_ASKS: Final = frozenset(
    {"do", "does", "did", "what", "which", "any", "anyone", "who", "how", "is", "are", "can"}
)
_ANSWERS: Final = frozenset({"yes", "yeah", "yep", "yup", "no", "nope", "none", "neither", "nah", "sure"})
_GREETS: Final = frozenset({"hi", "hello", "hey", "hiya", "howdy", "greetings"})
_APOLOGY: Final = frozenset({"sorry", "apologies", "apologize", "oops", "whoops"})
_SIDES: Final = re.compile(
    r"\b(?:deliver\w*|cash|throw(?:ing)? in|pick(?:ing)? (?:it )?up|include\w*)\b", re.IGNORECASE
)
TOP: Final = 15
"""The number of sequences that are listed."""


def is_question(text: str) -> bool:
    """Return True if a message ends in `?` or begins with a question word."""
    words = tokens(text)
    return text.rstrip().endswith("?") or (bool(words) and words[0] in _ASKS)


def acts_of(event: Event, entities: Entities, listing: PricedListing | None) -> tuple[str, ...]:
    """Return the dialogue acts of a move in alphabetical order, or only `other` if no rule applies.

    A message can have several acts: `question`, `answer` (yes or no), `greeting`, `apology`, `inform` (the
    message names a value), `price` and `side offer`. Any other move has one act, the name of its action.
    """
    if not isinstance(event.data, str) or event.action in SQL_ACTIONS:
        return (event.action,)
    text, words = event.data, set(tokens(event.data))
    found = {
        "question": is_question(text),
        "answer": bool(words & _ANSWERS),
        "greeting": bool(words & _GREETS),
        "apology": bool(words & _APOLOGY),
        "inform": bool(entities.mentions(text)),
        "price": listing is not None and listing.price_in(text) is not None,
        "side offer": listing is not None and bool(_SIDES.search(text)),
    }
    return tuple(sorted(name for name, holds in found.items() if holds)) or ("other",)


def act_statistics(sequences: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return frequencies and entropies of acts and act sequences.

    Args:
        sequences: a list for each dialogue, with one string per move that names the move's acts, such as
            `greeting + question`.
    """
    acts = Counter(act for each in sequences for act in each)
    pairs = Counter(pair for each in sequences for pair in zip(("<start>", *each), each, strict=False))
    before = Counter(first for each in sequences for first in ("<start>", *each[:-1]) if each)
    whole = Counter(" > ".join(each) for each in sequences)
    total = sum(pairs.values())
    following = [entropy({b: n for (a, b), n in pairs.items() if a == first}) for first in before]
    weighted = sum(n * (bits or 0.0) for n, bits in zip(before.values(), following, strict=True))
    return {
        "acts": _top(acts),
        "act_entropy_bits": entropy(acts),
        "next_act_entropy_bits": weighted / total if total else None,
        "pairs": _top(Counter({f"{a} > {b}": n for (a, b), n in pairs.items()})),
        "sequences": _top(whole),
        "sequence_entropy_bits": entropy(whole),
    }


def _top(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:TOP]


def sequence(
    dialogue: CorpusDialogue, entities: Entities, listing: PricedListing | None, seat: int | None
) -> list[str]:
    """Return the names of each move's acts as one string, such as `greeting + question`.

    Only the moves of `seat` are included, or the moves of all seats if `seat` is None.
    """
    return [
        " + ".join(acts_of(each, entities, listing))
        for each in dialogue.moves
        if seat is None or each.agent == seat
    ]
