"""What a question's phrases ask for: kinds of thing, and what a user never tells.

A question may name an annotated term and still ask for what is never told ("give me the SQL for <term>"), so
the term's words are left out before it is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from birdenv.users._phrases import Phrases, any_of, read_phrases

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

_PHRASES = read_phrases(__package__, "scope.txt")
_SHOUTED = re.compile(
    r"\b(?:SELECT|WHERE|JOIN|HAVING|GROUP BY|UNION|EXISTS|CASE WHEN|INSERT|UPDATE|DELETE"
    r"|BETWEEN|LIKE|NULLIF|CHECK|OVER|GROUP_CONCAT|ROW_NUMBER|WITH \w+ AS|ROUND (?:go|give|return|work)\w*)\b"
    r"|\b(?i:substr|strftime|julianday|json_extract|coalesce)\b"
)
_ORDER_TO_WRITE = re.compile(
    r"^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:just )?"
    r"(?:write(?! off)|compose|paste|draft|formulate|spell out(?! (?:how|what|which|when))"
    r"|code (?:it|this|that|the|me|up))\b(?!.*\bmeans?\b)"
)
NEVER_TOLD = ("secret", "everything")
"""Groups of phrases by which a question is refused, whatever else it says."""

_OUT_OF_SCOPE = frozenset({"SQL", "opinion", "results", "exercise", "tools"})
"""Groups of phrases by which a question is refused, unless the ranking is sure that it is fair."""

_NAMES = frozenset({"names", "column of"})
SPEAKS_FOR_REFUSING = ("names", "personal", "wish")
"""Groups of phrases that speak for or against a refusal, as much as the weights say."""

_FAIR_PATTERNS = {
    name: any_of(_PHRASES[name]) for name in ("own work", "written", "sought by", "output columns")
}
"""What is no request for such things by itself: it is taken out before the rest is looked at."""

ALL_PHRASES = Phrases({**PHRASES, **_PHRASES})
_KINDS = frozenset(KINDS)


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a question, in lower case with one space between, and the groups of phrases in them."""

    text: str
    found: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Said:
        """Find what words ask for."""
        return cls(text, frozenset(ALL_PHRASES.found_in(text)))

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of thing that are asked for."""
        return self.found & _KINDS

    def without(self, *fair: str) -> Said:
        """The same without what is fair."""
        text = self.text
        for name in fair:
            if name in self.found:
                text = _FAIR_PATTERNS[name].sub(" ", text)
        return self if text == self.text else Said.of(text)


def is_never_answered(said: Said) -> bool:
    """Return whether words ask for SQL, for the tables and keys it is made of, for secrets or for everything.

    An asker's remark about its own work ("to write the query, ..") is no request.
    """
    if _ORDER_TO_WRITE.match(said.text):
        return True
    if not said.found.isdisjoint(NEVER_TOLD) and not said.without("own work").found.isdisjoint(NEVER_TOLD):
        return True
    return bool(_STRUCTURE.search(said.text)) and _speaks_of_names(said)


_STRUCTURE = re.compile(r"\b(?:tables?|databases?|db|schemas?|keys?|json|join\w*)\b")


def is_out_of_scope(said: Said, about_a_term: bool = False) -> bool:
    """Return whether words speak of what a user does not tell; a ranking that is sure may know better.

    Which columns the output should have is a fair question, and so is what is written into a column. In a
    question `about_a_term` a mention of columns does no harm, if it does not ask which one holds the term.
    """
    if said.found.isdisjoint(_OUT_OF_SCOPE | _NAMES):
        return False
    if not said.found.isdisjoint(_OUT_OF_SCOPE) and not said.without("own work").found.isdisjoint(
        _OUT_OF_SCOPE
    ):
        return True
    return _speaks_of_names(said, _NAMES - {"names"} if about_a_term else _NAMES)


def _speaks_of_names(said: Said, names: frozenset[str] = _NAMES) -> bool:
    """Whether words speak of columns or other names of the database, and not of what the result shows."""
    if said.found.isdisjoint(names):
        return False
    return not said.without("own work", "written", "sought by", "output columns").found.isdisjoint(names)


def asks_for_output(said: Said) -> bool:
    """Return whether words ask for the columns of the output, which is a fair question."""
    return "output columns" in said.found


def quotes_sql(question: str) -> bool:
    """Whether a question, as it was written, has keywords of SQL in capitals."""
    return _SHOUTED.search(question) is not None
