"""Which questions a user does not answer: for SQL, database names, the answer, instructions, everything.

A question may name an annotated term and still ask for one of these ("give me the SQL for <term>"), so the
term's words are left out before it is asked here; a question *about* a term called "sql" is then not taken
for a request for SQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from birdenv.users._phrases import Phrases, any_of, read_phrases
from birdenv.users.understanding.vocabulary._kind_asked_for import KINDS, PHRASES

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
_NEVER_TOLD = frozenset({"secret", "SQL", "opinion", "results", "exercise", "tools"})
_FAIR = ("own work", "written", "sought by", "output columns")
"""What is no request for such things by itself: it is taken out before the rest is looked at."""

_CLAUSES = frozenset(name for name in _PHRASES if name.endswith(" clause"))
_FAIR_PATTERNS = {name: any_of(_PHRASES[name]) for name in _FAIR}
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

    def without(self, fair: str) -> Said:
        """The same without what is fair."""
        return Said.of(_FAIR_PATTERNS[fair].sub(" ", self.text)) if fair in self.found else self


def out_of_scope(said: Said, about_a_term: bool = False) -> bool:
    """Whether words ask for what a user never tells.

    An asker's remark about its own work ("to write the query, ..") is no request; which columns the output
    should have is a fair question. In a question `about_a_term` a mention of columns does no harm, if it does
    not ask which of them holds the term: the answer is the term's meaning in plain words.
    """
    said = said.without("own work")
    if not said.found.isdisjoint(_NEVER_TOLD) or _ORDER_TO_WRITE.match(said.text):
        return True
    said = said.without("written").without("sought by").without("output columns")
    return "column of" in said.found or (not about_a_term and "names" in said.found)


def asks_for_output(said: Said) -> bool:
    """Whether words ask for the columns of the output, which is a fair question."""
    return "output columns" in said.found


def asks_for_names(said: Said) -> bool:
    """Whether words ask for names or the structure of the database.

    "Which columns?" alone may ask for them, so a question for the output is left out in longer ones only.
    """
    inside = Said(f" {said.text} ", said.found)
    fair = inside.without("sought by").without("output columns")
    return "names" in said.found and "names" in fair.found


_STRUCTURE = re.compile(r"\b(?:tables?|databases?|db|schemas?|keys?|json|join\w*)\b")


def asks_only_for_places(said: Said) -> bool:
    """Whether words are out of scope only for a mention of columns or names: that may yet be fair."""
    if asks_for_everything(said) or _ORDER_TO_WRITE.match(said.text) or _STRUCTURE.search(said.text):
        return False
    return said.without("own work").found.isdisjoint(_NEVER_TOLD)


def asks_for_everything(said: Said) -> bool:
    """Whether words ask for all there is to know, or for several kinds of clause at once."""
    return "everything" in said.found or len(said.found & _CLAUSES) > 2


def quotes_sql(question: str) -> bool:
    """Whether a question, as it was written, has keywords of SQL in capitals."""
    return _SHOUTED.search(question) is not None
