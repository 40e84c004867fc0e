"""Plain words for SQL: for its operators and constants (BIRD-Interact §3, the user's language).

A `Phrase` knows how tightly its words hold together, so that phrases can be joined without blurring
precedence.

`Wording` keeps the words of templates apart from the names that must not be said. A template such as "the
total of {}" is plain English, but a task's schema may have a table called `total`. The word would then look
like the name of the table. So every template goes through `Wording.say`, which replaces such a word by its
first free synonym.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as TypingLiteral
from typing import TypeAlias

MISSING = "is empty (has no value)"
PRESENT = "has a value (is not empty)"
ARITHMETIC = {
    "Add": "plus",
    "Sub": "minus",
    "Mul": "times",
    "Div": "divided by",
    "IntDiv": "divided by",
    "Mod": "modulo",
    "DPipe": "joined with",
}
COMPARISONS = {
    "EQ": "equals",
    "NEQ": "differs from",
    "GT": "is greater than",
    "LT": "is less than",
    "GTE": "is at least",
    "LTE": "is at most",
    "Is": "is",
    "NullSafeEQ": "is not different from",
    "NullSafeNEQ": "is different from",
    "Like": "matches the pattern",
    "ILike": "matches the pattern (in any letter case)",
    "Glob": "matches the pattern",
    "RegexpLike": "matches the pattern",
    "RegexpILike": "matches the pattern (in any letter case)",
    "SimilarTo": "matches the pattern",
    "ArrayContainsAll": "contains",
    "ArrayContainedBy": "is contained in",
}
AMOUNTS = {"GT": "more than", "LT": "fewer than", "GTE": "at least", "LTE": "at most"}
DATES = {"GT": "is after", "LT": "is before", "GTE": "is on or after", "LTE": "is on or before"}
TIMES = {**DATES, "GTE": "is at or after", "LTE": "is at or before"}
CONSTANTS = {"EQ": "is", "NEQ": "is not"}
FRAME_WORDS = {
    "ROWS": "over the neighbouring rows",
    "RANGE": "over the neighbouring cases",
    "GROUPS": "over the neighbouring groups",
    "UNBOUNDED": "everything",
    "PRECEDING": "before",
    "FOLLOWING": "after",
    "CURRENT ROW": "the current one",
}

ATOM, PREFIX, LOOSE, CHAIN = range(4)
"""How tightly words hold together: `ATOM` most, `CHAIN` least."""

Literal: TypeAlias = TypingLiteral["number", "string", "date", "time", ""]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words for a piece of SQL.

    Attributes:
        text: the words.
        bond: how tightly they hold together, from `ATOM` to `CHAIN`.
        condition: True if they state a condition.
        literal: the kind of a constant; empty for all else.
        counted: the words for an amount of it ("{} seats"); empty if it cannot be counted.
    """

    text: str
    bond: int = ATOM
    condition: bool = False
    literal: Literal = ""
    counted: str = ""

    def inside(self, limit: int) -> str:
        """Return the text, in brackets if it holds together less tightly than `limit`."""
        return f"({self.text})" if self.bond > limit and self.text else self.text


def side(phrase: Phrase) -> str:
    """Return one side of a comparison, in brackets if it is an enumeration or a condition."""
    blurs = phrase.bond == LOOSE and (" and " in phrase.text or ", " in phrase.text)
    return phrase.inside(PREFIX) if blurs or phrase.condition else phrase.text


def runs_on(text: str) -> bool:
    """Return whether the words have a condition outside brackets, into which another one would run."""
    depth = 0
    for i, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if not depth and text.startswith(" where ", i):
            return True
    return False


_WORD = re.compile(r"\{\}|[^\W\d_]+")

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "average": ("mean",),
    "cases": ("instances", "occurrences"),
    "change": ("alter", "modify"),
    "characters": ("letters", "signs"),
    "date": ("day", "calendar day"),
    "different": ("distinct", "non-repeated"),
    "entry": ("item", "element"),
    "entries": ("items", "elements"),
    "figure": ("quantity", "amount"),
    "first": ("foremost", "leading"),
    "format": ("form", "shape"),
    "group": ("bunch", "set"),
    "groups": ("bunches", "sets"),
    "highest": ("largest", "greatest"),
    "length": ("size", "extent"),
    "list": ("collection", "enumeration"),
    "lowest": ("smallest", "least"),
    "month": ("calendar month",),
    "number": ("count", "quantity"),
    "order": ("sequence", "succession"),
    "part": ("piece", "portion"),
    "pattern": ("mask", "wildcard"),
    "position": ("place", "spot"),
    "rank": ("ranking", "place"),
    "records": ("rows", "lines"),
    "result": ("outcome", "output"),
    "running": ("consecutive", "sequential"),
    "rows": ("lines", "records"),
    "show": ("present", "display"),
    "table": ("grid", "sheet"),
    "text": ("string", "wording"),
    "time": ("moment", "clock time"),
    "today": ("now", "this day"),
    "total": ("sum", "overall amount"),
    "value": ("content", "figure"),
    "view": ("perspective", "saved list"),
    "week": ("calendar week",),
    "year": ("calendar year",),
}


class Wording:
    """Fills templates, and says none of the `taken` names in them.

    Args:
        taken: the names that must not be said, in lower case.
        nouns: words for tables that may be said, by the table's name.
        counted: what COUNT(*) counts where a fragment does not tell.
    """

    def __init__(
        self, taken: frozenset[str], nouns: Mapping[str, str] | None = None, counted: str = ""
    ) -> None:
        self._taken = taken
        self.nouns = nouns or {}
        self._counted = counted

    def say(self, template: str, *parts: str) -> str:
        """Return the template with free synonyms for taken words; `parts` replace each `{}` in turn."""
        filled = iter(parts)

        def replace(match: re.Match[str]) -> str:
            return next(filled, "") if match.group() == "{}" else self._free(match.group())

        return _WORD.sub(replace, template)

    def may_say(self, word: str) -> bool:
        """Return whether a word may be said: it is not one of the names to withhold."""
        return word.lower() not in self._taken

    @property
    def cases(self) -> str:
        """Return what is counted where no table is in sight."""
        return self._counted or self.say("cases")

    def _free(self, word: str) -> str:
        if self.may_say(word):
            return word
        for synonym in _SYNONYMS.get(word.lower(), ()):
            if not self._taken.intersection(synonym.replace("-", " ").split()):
                return synonym
        return word


def quoted(text: str) -> str:
    """Return the text in single quotation marks, or in double ones if only single ones occur in it."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def enumerate_words(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as an English enumeration: "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"
