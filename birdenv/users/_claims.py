"""Read what a question claims: amounts and their bounds, and whether something is in or out.

The phrases are in `understanding/follow_ups.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from birdenv.users._facts import Value
from birdenv.users.understanding._phrases import FORMS, Phrases, read_phrases
from birdenv.users.understanding._word_forms import NUMBERS, stem, stem_list, words

_GROUPS = read_phrases("birdenv.users.understanding", "follow_ups.txt")
PART_STEMS, LIST_STEMS, UNIT_STEMS = map(stem_list, ("part words", "list words", "units"))
_CONTRAST = re.compile(_GROUPS.pop("contrast"))
_PHRASES = Phrases({**_GROUPS, **FORMS})
SIGNS = {"at least": ">=", "at most": "<=", "more than": ">", "less than": "<"}


def says(text: str) -> Set[str]:
    """Return the groups of phrases in a cleaned text."""
    return _PHRASES.found_in(" ".join(words(text)))


@dataclass(frozen=True, slots=True)
class Claims:
    """What a question claims.

    Attributes:
        said: the groups of phrases in the question. Where it offers a choice, nothing is proposed as a bound
            or as all that counts.
        amounts: the numbers, dates and times, each with True if it is a percentage.
        spaced: the stems of all words, with a single space before and after each.
        after: the stems after the last amount, as in "so 3 days are late?".
        noun: the first one of these; empty if there is none.
        units: the units.
    """

    said: Set[str]
    amounts: Sequence[tuple[Value, bool]]
    spaced: str
    after: frozenset[str]
    noun: str
    units: frozenset[str]

    @property
    def sign(self) -> str:
        """Return the sign of the bound that the question proposes; empty if there is none."""
        return next((sign for name, sign in SIGNS.items() if name in self.said), "")

    @property
    def keeps(self) -> bool | None:
        """Return whether the question proposes that something is in, or None if it proposes neither."""
        if "choice" in self.said or self.said.isdisjoint(("in", "out", "shown", "hidden")):
            return None
        return self.said.isdisjoint(("out", "hidden"))


@lru_cache(maxsize=64)
def claims_of(text: str, topic: str = "", *, months: bool = False) -> Claims:
    """Return the claims in a cleaned text.

    Args:
        text: the question. Of "at least 2 and not 3", only the first half counts.
        topic: a text to which the question's pronouns refer. Its amounts and values count, and nothing is
            decided if it has a bound.
        months: whether the name of a month is its number.

    >>> claims = claims_of("does a trip of at least 25 percent count?")
    >>> claims.amounts, claims.sign, claims.keeps
    (((Decimal('25'), True),), '>=', True)
    """
    if topic:
        own, before = claims_of(text, months=months), claims_of(topic, months=months)
        said = own.said | ({"missing", "unmatched", "exact", "edge"} & before.said)
        said |= {"turned"} if before.sign else set()
        return replace(before, said=said, after=frozenset(), noun="")
    spaced = f" {' '.join(map(stem, words(text)))} "
    contrast = _CONTRAST.match(text)
    text = contrast[1] if contrast else text
    amounts: list[tuple[Value, bool]] = []

    def noted(match: re.Match[str]) -> str:
        value = _value(match, months)
        if value is None:
            return match[0]
        amounts.append((value, bool(match["percent"])))
        return " 0 "

    rest = words(_AMOUNT.sub(noted, text))
    said = _PHRASES.found_in(" ".join(rest)) | ({"contrast"} if contrast else set())
    said -= {*SIGNS, "only"} if "choice" in said else set()
    stems = list(map(stem, rest))
    after = stems[len(rest) - rest[::-1].index("0") :] if amounts else []
    units = UNIT_STEMS.intersection(stems)
    return Claims(said, tuple(amounts), spaced, frozenset(after), "".join(after[:1]), units)


SPELT = {"zero": "0", "one": "1", **{word: number for number, word in NUMBERS.items()}}
"""The numbers from zero to twelve, by their words."""

_MONTHS = "january february march april may june july august september october november december".split()
_ONE = (  # in other places, "one" is a pronoun
    r"(?:(?<=exactly )|(?<=precisely )|(?<=least )|(?<=most )|(?<=than )|(?<=only )|(?<=just ))one"
    r"|one(?= (?:hour|minute|day|week|month|year|percent|decimal|digit|(?:is )?(?:enough|count|suffic)))"
)
_AMOUNT = re.compile(
    r"(?<![\w.:])(?:(?P<date>\d{4}-\d\d-\d\d)|(?P<time>\d\d?:\d\d)"
    rf"|(?:(?P<day>\d\d?)(?:st|nd|rd|th)? (?:of )?)?\b(?P<month>{'|'.join(_MONTHS)})\b(?: (?P<year>\d{{4}}))?"
    r"|(?P<minus>minus |[-\u2013\u2212](?=\d)|\u2212 )?(?:(?P<digits>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"
    rf"(?!st\b|nd\b|rd\b|th\b)"
    rf"|(?P<spelt>\b(?<!the )(?:{'|'.join(NUMBERS.values())}|zero|{_ONE})\b(?! of\b))))"
    r"(?= ?(?P<percent>%|per ?cent\b)?)"
)


def _value(match: re.Match[str], months: bool) -> Value | None:
    if match["date"] or match["time"]:
        return match["date"] or match["time"].zfill(5)
    if match["month"]:
        month = _MONTHS.index(match["month"]) + 1
        if months:
            return Decimal(month)
        return f"{match['year']}-{month:02}-{match['day']:0>2}" if match["day"] and match["year"] else None
    number = Decimal(match["digits"].replace(",", "") if match["digits"] else SPELT[match["spelt"]])
    return -number if match["minus"] else number
