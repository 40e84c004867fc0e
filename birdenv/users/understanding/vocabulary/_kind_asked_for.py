"""What kind of thing a question asks for, by its phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from birdenv.users._phrases import read_phrases

PHRASES: Final[Mapping[str, str]] = read_phrases(__package__, "kinds_asked_for.txt")
"""For each kind the phrases that ask for it, as `users._phrases` reads them."""

KINDS: tuple[str, ...] = tuple(PHRASES)
"""All kinds of thing that are asked for or settled, in the order of the weights."""

PLAIN_KINDS = frozenset(
    {
        "order",
        "round",
        "null",
        "distinct",
        "limit",
        "output",
        "group",
        "unmatched",
        "name",
        "change",
        "tie",
        "scale",
        "filter",
        "extent",
        "together",
    }
)
"""Kinds that can be asked for without naming anything."""


_FOREMOST = (
    (
        "tie",
        re.compile(
            r"\bties?\b|\btied\b|\btie ?break|\bsame (?:\w+ )?(?:ratio|score|value|rank|place|number)s?\b"
        ),
        frozenset("scale count period extreme threshold order category formula group null output".split()),
    ),
    (
        "round",
        re.compile(r"\bround\w*|\bdecimals?\b|\bdigits?\b"),
        frozenset("count threshold limit extreme formula order period".split()),
    ),
)
"""Kinds that are asked for where they are spoken of at all, and what is then spoken of by the way."""


def foremost(kinds: frozenset[str], text: str) -> frozenset[str]:
    """Return the kinds without those that a cleaned text only speaks of by the way."""
    for kind, said, by_the_way in _FOREMOST:
        if kind in kinds and said.search(text):
            kinds -= by_the_way
    return kinds


_NOT_SHOWN = "am|are|be|can|do|does|has|have|i|if|in|is|it|must|not|on|or|out|should|that|when|where|who|you"
_UP_TO_FOUR = rf"(?:(?!(?:{_NOT_SHOWN})\b)[\w'][\w'-]*+ ?){{1,4}}"
_ITEM = rf"(?>{_UP_TO_FOUR})"
_LISTED = re.compile(
    r"^(?:(?:so|just|only|columns?|cols|show|and)\W+){0,6}"
    rf"(?:{_ITEM}(?>, ?(?:and )?)){{2,}}{_ITEM}(?:$|[?:.-]|(?<=-))"
    rf"|^(?:so )?(?:just|only) {_UP_TO_FOUR} ?(?:\+|plus|and|&) {_UP_TO_FOUR}\W*$"
)


def lists_columns(text: str) -> bool:
    """Return whether a cleaned text proposes what is shown: "name, city and total - nothing else?".

    >>> lists_columns("just the name and the rate?"), lists_columns("is it a, b or c?")
    (True, False)
    """
    return (text.count(",") > 1 or text.startswith(("just ", "only ", "so "))) and bool(_LISTED.search(text))


_SPELT: Final = """alphabetical ascending average calculate category columns condition count decimal decimals
    definition descending different distinct duplicates exactly excluded figures first formula
    grouped grouping highest identical include included largest latest limit lowest maximum minimum
    missing number order ordered percent percentage period quantity ranking right rounded rounding
    several should sorted sorting status threshold together unique values which without"""


def _misspelt(word: str) -> Iterator[str]:
    """A word with two letters swapped, or with one left out: only inside, and of longer words only."""
    for i in range(1, len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        if len(word) > 6:
            yield word[:i] + word[i + 1 :]


SLIPS = {slip: word for word in _SPELT.split() for slip in _misspelt(word) if slip != word}
"""What is meant by slips in words about kinds of thing."""

_WORDS = re.compile(r"[a-z]{5,}")


def respelt(text: str) -> str:
    """Return a cleaned text with slips in words about kinds of thing put right: "decimls", "rigth"."""
    return _WORDS.sub(lambda match: SLIPS.get(match[0], match[0]), text)
