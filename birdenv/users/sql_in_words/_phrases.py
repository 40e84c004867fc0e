"""Plain words for SQL operators, and phrases made from them.

A `Phrase` records how tightly its words bind, so that phrases can be joined without changing precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as TypingLiteral
from typing import TypeAlias

from birdenv.users.identifiers import read_sections

MISSING = "is empty (has no value)"
PRESENT = "has a value (is not empty)"
_PHRASEBOOK = read_sections("birdenv.users.sql_in_words", "phrasebook.txt")


def phrases(section: str) -> dict[str, str]:
    """Read a section of `phrasebook.txt`, which maps operators, functions or nodes to words."""
    lines = _PHRASEBOOK[section].splitlines()
    entries = (line.split(": ", 1) for line in lines if line and line[0] != "#")
    return {name: words for names, words in entries for name in names.split(", ")}


ARITHMETIC = phrases("arithmetic")
COMPARISONS = phrases("comparisons")
AMOUNTS = phrases("amounts")
_CONSTANTS = phrases("comparisons with a constant")
BY_LITERAL = {
    "number": _CONSTANTS,
    "string": _CONSTANTS,
    "date": _CONSTANTS | phrases("comparisons with a date"),
    "time": _CONSTANTS | phrases("comparisons with a time"),
}
"""The words for comparisons with a constant, by its kind, where they differ from `COMPARISONS`."""

ATOM, PREFIX, LOOSE, CHAIN = range(4)
"""How tightly words hold together: `ATOM` most, `CHAIN` least."""

Literal: TypeAlias = TypingLiteral["number", "string", "date", "time", ""]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words for a piece of SQL.

    Attributes:
        text: the words.
        bond: how tightly the words bind, from `ATOM` (tightest) to `CHAIN`.
        condition: True if the words state a condition.
        literal: the kind of constant, such as a date; empty if the phrase is not a constant.
        counted: the plural noun for what an amount counts, such as "seats"; empty if the phrase is no amount.
    """

    text: str
    bond: int = ATOM
    condition: bool = False
    literal: Literal = ""
    counted: str = ""

    def inside(self, limit: int) -> str:
        """Return the text, in brackets if it binds less tightly than `limit`."""
        return f"({self.text})" if self.bond > limit and self.text else self.text

    @property
    def side(self) -> str:
        """The text for one side of a comparison, in brackets if it could be taken for more than a side."""
        runs_on = self.bond == CHAIN and (self.counted or re.search(", | if ", self.text))
        return f"({self.text})" if self.condition or runs_on else self.text


def bare(text: str) -> str:
    """Return a text without the article at its beginning."""
    return text.removeprefix("the ")


def quoted(text: str) -> str:
    """Return a text in single quotation marks, or in double ones if it contains only single ones."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def enumerate_words(parts: Iterable[str], last: str = "and") -> str:
    """Join parts that are not empty to an English enumeration: "a", "a and b", "a, b and c"."""
    *front, end = [part for part in parts if part] or [""]
    return f"{', '.join(front)} {last} {end}" if front else end
