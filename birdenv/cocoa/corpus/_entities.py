"""Find what messages name: values of a scenario's items, figures, and numbers in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from birdenv.cocoa.corpus._corpus import CorpusDialogue

_NUMBER: Final = re.compile(r"(?<![\w.,])\$?\d[\d,]*(?:\.\d+)?(?!\w)")
_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
)
_NONE: Final = {"no": 0, "none": 0, "nobody": 0}
COUNTS: Final = {word: number for number, word in enumerate(_NUMBER_WORDS)} | _NONE
"""Numbers in words."""


class Mention(NamedTuple):
    """A value in a message: its position, its attribute, and the value as the scenario spells it."""

    start: int
    attribute: str
    value: str


class Entities:
    """Finds the values of both seats' lists in messages, long values before short ones.

    A value that belongs to two attributes counts for the first one.
    """

    def __init__(self, dialogue: CorpusDialogue) -> None:
        self.lists = item_lists(dialogue.scenario)
        self.attributes: list[str] = []
        self._found: dict[str, list[Mention]] = {}
        self._known: dict[str, tuple[str, str]] = {}
        for item in (item for each in self.lists for item in each):
            for name, value in item.items():
                if isinstance(value, str) and value.strip():
                    self._known.setdefault(value.lower(), (name, value))
                    if name not in self.attributes:
                        self.attributes.append(name)
        joined = "|".join(re.escape(each) for each in sorted(self._known, key=lambda v: (-len(v), v)))
        self._pattern = re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE) if joined else None

    def mentions(self, text: str) -> list[Mention]:
        """Return the values in a message, in the order of the text."""
        if text not in self._found:
            found = self._pattern.finditer(text) if self._pattern is not None else ()
            named = ((m.start(), self._known.get(m.group().lower())) for m in found)
            self._found[text] = [Mention(start, *known) for start, known in named if known is not None]
        return self._found[text]

    def template(self, text: str) -> str:
        """Return a message with slots: `{Company}` for a value, `{price}` and `{number}` for figures."""
        if self._pattern is not None:
            text = self._pattern.sub(self._slot, text)
        return _NUMBER.sub(lambda m: "{price}" if m.group().startswith("$") else "{number}", text)

    def _slot(self, found: re.Match[str]) -> str:
        known = self._known.get(found.group().lower())  # the pattern alone takes ı for i
        return found.group() if known is None else f"{{{known[0]}}}"

    def count(self, seat: int, attribute: str, value: str) -> int:
        """Return how many items of a seat's list have a value."""
        items = self.lists[seat] if seat < len(self.lists) else []
        return sum(str(item.get(attribute, "")).lower() == value.lower() for item in items)

    def distinct(self, seat: int) -> dict[str, int]:
        """Return how many different values each attribute has in a seat's list."""
        items = self.lists[seat] if seat < len(self.lists) else []
        return {name: len({str(item[name]) for item in items if name in item}) for name in self.attributes}


def item_lists(scenario: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """Return the item lists of both seats, which are empty for scenarios without items."""
    kbs = scenario.get("kbs")
    return [
        [item for item in kb if isinstance(item, Mapping)] if isinstance(kb, list) else []
        for kb in (kbs if isinstance(kbs, list) else [])
    ]


def figures(text: str) -> list[float]:
    """Return the numbers that are written in digits in a message.

    >>> figures("How about $1,200 or 1100.50?")
    [1200.0, 1100.5]
    """
    return [float(found.strip("$").replace(",", "")) for found in _NUMBER.findall(text)]
