"""Which act a move is: its action, and what its sentences are for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_MOST_PARTS: Final = 8
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_KINDS: Final = {"$": "price", "~": "nearer price"}
"""Prices by the first sign of their slot."""

_INTENTS: Final = {
    "ask": r"\?|^\W*(?:(?:hi|hello|hey|ok|and|so|well)\W+)*(?:do|does|did|any|anyone|anybody|who|what|which|"
    r"how|where|is|are|can|could|would|will)\b",
    "refuse": r"\b(?:no|not|none|nobody|nope|nah|neither|nor|never|nothing|cannot|\w+n['’]?t|too (?:low|high|"
    r"much)|sorry)\b",
    "all": r"\b(?:all|every|everyone|everybody|each|both|only|must)\b",
    "agree": r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|fine|great|alright|perfect)\b|\b(?:deal|agreed?|sounds "
    r"(?:good|great|fair|fine)|works for me|that works)\b",
    "greet": r"^\W*(?:hi|hiya|hello|hey|howdy|good (?:morning|evening|afternoon))\b",
}
"""How sentences with an intent look; the first one that fits counts."""
_CUES: Final = {name: re.compile(cue, re.IGNORECASE) for name, cue in _INTENTS.items()}


class Act(NamedTuple):
    """A move without the names, values and prices of its episode.

    Attributes:
        action: the action.
        parts: what its sentences are for, each with what it names: `ask Company`, `agree`.
    """

    action: str
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}: {', '.join(self.parts)}" if self.parts else self.action


def intent_of(sentence: str) -> str:
    """Return what a sentence is for: `ask`, `refuse`, `all`, `agree`, `greet` or `tell`."""
    return next((name for name, cue in _CUES.items() if cue.search(sentence)), "tell")


def parts_of(text: str) -> tuple[str, ...]:
    """Return the parts of a text with slots, each once, in the order of the alphabet."""
    found = {part for sentence in _SENTENCE.split(text) if sentence.strip() for part in _parts(sentence)}
    return tuple(sorted(found)[:_MOST_PARTS])


def _parts(sentence: str) -> Iterator[str]:
    intent = intent_of(_SLOT.sub("it", sentence))
    slots = {
        _KINDS.get(slot[0]) or {"own": "own price", "theirs": "their price"}.get(slot, slot)
        for slot in _SLOT.findall(sentence)
    }
    yield from (f"{intent} {slot}" for slot in slots)
    if not slots:
        yield intent
