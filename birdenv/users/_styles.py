"""Other ways to word an answer, with the same content (the setting `user_style`)."""

from __future__ import annotations

from random import Random
from typing import Final

_OPENINGS: Final = (
    "Sure!",
    "Good that you ask.",
    "Ah, right, I should have said that.",
    "Let me think... yes.",
    "Of course.",
    "Happy to explain.",
)
_ENDINGS: Final = (
    "",
    "I hope that helps!",
    "Just ask if anything else is unclear.",
    "Thanks for checking.",
)


def bare(words: str, is_condition: bool = False) -> str:
    """The words alone, as one sentence.

    >>> bare("there are at least 40 seats", is_condition=True)
    'At least 40 seats.'
    """
    words = words.removeprefix("there are ") if is_condition else words
    return f"{words[0].upper()}{words[1:]}."


def chatty(text: str, rng: Random) -> str:
    """`text` with small talk around it; the same state of `rng` gives the same words."""
    return " ".join(filter(None, (rng.choice(_OPENINGS), text, rng.choice(_ENDINGS))))
