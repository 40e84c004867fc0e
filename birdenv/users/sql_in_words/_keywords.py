"""Plain words for SQL: for its keywords, operators and constants (BIRD-Interact §3, the user's language).

A `Phrase` knows how tightly its words hold together, so that phrases can be joined without blurring
precedence.

`Wording` keeps the words of templates apart from the names that must not be said. A template such as "the
total of {}" is plain English, but a task's schema may have a table called `total`. The word would then look
like the name of the table. So every template goes through `Wording.say`, which replaces such a word by its
first free synonym.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as TypingLiteral
from typing import TypeAlias

from birdenv.users.sql_in_words._lexer import Token, split_words

CLAUSE_WORDS = frozenset(
    """SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT JOIN LEFT RIGHT INNER
    FULL CROSS NATURAL ON USING WITH WINDOW RETURNING VALUES INSERT UPDATE DELETE CREATE SET FETCH
    PARTITION""".split()
)
STOPS = CLAUSE_WORDS | frozenset("AS THEN WHEN ELSE END ASC DESC NULLS ) , ; ]".split())
CALLABLE_CLAUSES = frozenset({"LEFT", "RIGHT"})
ARITHMETIC = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "%": "modulo",
    "||": "joined with",
    "DIV": "divided by",
    "MOD": "modulo",
}
COMPARISONS = {
    "=": "equals",
    "==": "equals",
    "<>": "differs from",
    "!=": "differs from",
    ">": "is greater than",
    "<": "is less than",
    ">=": "is at least",
    "<=": "is at most",
    "~": "matches the pattern",
    "~*": "matches the pattern",
    "!~": "does not match the pattern",
    "!~*": "does not match the pattern",
    "LIKE": "matches the pattern",
    "ILIKE": "matches the pattern (in any letter case)",
    "GLOB": "matches the pattern",
    "REGEXP": "matches the pattern",
    "SIMILAR": "matches the pattern",
    "MATCH": "matches the pattern",
    "BETWEEN": "is between",
    "IN": "is one of",
    "@>": "contains",
    "<@": "is contained in",
}
NEGATED = {
    "LIKE": "does not match the pattern",
    "ILIKE": "does not match the pattern (in any letter case)",
    "GLOB": "does not match the pattern",
    "REGEXP": "does not match the pattern",
    "SIMILAR": "does not match the pattern",
    "BETWEEN": "is not between",
    "IN": "is not one of",
}
CONSTANTS = {
    "NULL": "null",
    "TRUE": "true",
    "FALSE": "false",
    "CURRENT_DATE": "the date of today",
    "CURRENT_TIME": "the time of today",
    "CURRENT_TIMESTAMP": "the date and time of today",
}
QUANTIFIERS = {"DISTINCT": "different", "ALL": "all", "ANY": "any", "SOME": "some"}
FRAME = {
    "ROWS": "over the neighbouring rows",
    "RANGE": "over the neighbouring cases",
    "GROUPS": "over the neighbouring groups",
    "BETWEEN": "between",
    "AND": "and",
    "UNBOUNDED": "everything",
    "PRECEDING": "before",
    "FOLLOWING": "after",
    "CURRENT": "the current",
    "ROW": "one",
}
ARROWS = frozenset({"->", "->>", "#>", "#>>"})

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
        alias: the output name.
    """

    text: str
    bond: int = ATOM
    condition: bool = False
    literal: Literal = ""
    counted: str = ""
    alias: str = ""

    def inside(self, limit: int) -> str:
        """The text, in brackets if it holds together less tightly than `limit`."""
        return f"({self.text})" if self.bond > limit and self.text else self.text

    def named(self) -> Phrase:
        """The phrase with its output name in brackets, as one of several."""
        if not self.alias:
            return self
        clear = self.bond < CHAIN or not ("," in self.text or self.condition)
        text = self.text if clear else f"({self.text})"
        return Phrase(f"{text} (called {self.alias})".strip(), min(self.bond, LOOSE), self.condition)


def name_words(token: Token) -> str:
    """A name in words. A quoted name with spaces or signs, which is no identifier, is kept as it is."""
    if token.kind == "quoted" and not token.text.replace("_", "a").replace("$", "a").isalnum():
        return token.text.replace("_", " ").strip()
    return split_words(token.text)


def side(phrase: Phrase) -> str:
    """One side of a comparison; in brackets if it is an enumeration or a condition, which would run on."""
    blurs = phrase.bond == LOOSE and (" and " in phrase.text or ", " in phrase.text)
    return phrase.inside(PREFIX) if blurs or phrase.condition else phrase.text


def _runs_on(text: str) -> bool:
    """True if the words have a condition outside of brackets: another condition would run into it."""
    depth = 0
    for i, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if not depth and text.startswith(" where ", i):
            return True
    return False


def connected(pieces: list[Phrase], links: list[str], dangling: str) -> Phrase:
    """Conditions joined by "and" and "or"; where both occur, what "and" joins is put in brackets."""
    if not pieces:
        return Phrase(f"{dangling} something else" if dangling else "")
    if len(pieces) == 1 and not links[0] and not dangling:
        return pieces[0]
    mixed = "or" in links and "and" in links[1:]
    *front, last = pieces
    pieces = [Phrase(f"({piece.text})") if _runs_on(piece.text) else piece for piece in front] + [last]
    groups: list[list[int]] = []
    for i, link in enumerate(links):
        if i and mixed and link == "and":
            groups[-1].append(i)
        else:
            groups.append([i])
    words: list[str] = []
    for group in groups:
        if links[group[0]]:
            words.append(links[group[0]] if words else f"{links[group[0]]} also")
        run = [pieces[group[0]].text]
        for i in group[1:]:
            run += [links[i], pieces[i].text]
        words.append(f"({' '.join(filter(None, run))})" if len(group) > 1 else run[0])
    if dangling:
        words.append(f"{dangling} something else")
    conditions = len(pieces) > 1 or bool(links[0]) or pieces[0].condition
    return Phrase(" ".join(words), CHAIN, conditions)


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

    @property
    def cases(self) -> str:
        """What is counted where no table is in sight."""
        return self._counted or self.say("cases")

    def _free(self, word: str) -> str:
        if word.lower() not in self._taken:
            return word
        for synonym in _SYNONYMS.get(word.lower(), ()):
            if not self._taken.intersection(synonym.replace("-", " ").split()):
                return synonym
        return word


def quoted(text: str) -> str:
    """The text in single quotation marks, or in double ones if only single ones occur in it."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def enumerate_words(parts: list[str], last: str = "and") -> str:
    """Parts as an English enumeration: "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"
