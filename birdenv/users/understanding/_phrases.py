"""Find what a question asks for: kinds of thing (`kinds_asked_for.txt`) and secrets (`scope.txt`).

Its form, such as a proposal, is found in the same way (`forms.txt`).

A phrase is a regular expression for words with single spaces between them. For speed, it is matched only at
words that begin with the same letters as the phrase.

A question can quote an annotated term and still ask for a secret ("give me the SQL for '<term>'"), so callers
remove what is in quotation marks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from birdenv.users.identifiers import read_sections

_LETTERS: Final = 3
"""Letters of a word by which the phrases that begin with it are found."""

_ANY, _NUMERIC = "", "0"
_FROM = r"(?:from|up to|starting at|starting from|after|beyond|until|which|what) (?:\w+ ){0,3}?"
_GRADE = (
    "(?:low|high|large|small|big|long|short|good|bad|poor|heavy|late|early|old|new|young|strong|weak|rare)"
)
_NUMBER = r"(?:\d[\d.,]{0,20}|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)"


def split_phrases(phrases: str) -> list[str]:
    """Split a text into phrases, at line ends and at ` | `."""
    text = phrases.strip()
    for name, pattern in (("NUMBER", _NUMBER), ("FROM", _FROM), ("GRADE", _GRADE)):
        text = text.replace(name, pattern)
    return re.split(r"\s+\|\s+|\s*\n\s*", text)


def read_phrases(package: str, file: str) -> dict[str, str]:
    """Read groups of phrases from a package's file, in the format of `read_sections`.

    A line such as `WHICH = (?:which|what)` defines an abbreviation for the group's phrases.
    """
    groups = read_sections(package, file)
    for name, phrases in groups.items():
        for word, pattern in _MEANT.findall(phrases):
            groups[name] = groups[name].replace(f"{word} = {pattern}\n", "").replace(word, pattern)
    return groups


_MEANT = re.compile(r"(?m)^([A-Z]+) = (.+)$")


def any_of(phrases: str) -> re.Pattern[str]:
    """Return a compiled pattern that matches any of the phrases."""
    return re.compile(rf"\b(?:{'|'.join(split_phrases(phrases))})\b")


class Phrases:
    r"""Named groups of phrases to search for in texts.

    >>> groups = Phrases({"order": r"sort\w* | order(?:ed)? by", "limit": "how many rows | top"})
    >>> sorted(groups.found_in("sorted by what, and how many rows"))
    ['limit', 'order']
    """

    def __init__(self, groups: Mapping[str, str]) -> None:
        self.groups = groups
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._marks = {f"_{number}": name for number, name in enumerate(groups)}

    @cached_property
    def _begun(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Return the phrases by the letters that they begin with ("" for any), and then by mark."""
        begun: dict[str, dict[str, list[str]]] = {}
        for mark, name in self._marks.items():
            for phrase in split_phrases(self.groups[name]):
                for letters, form in by_beginning(phrase):
                    found = form if letters or form.startswith("^") else rf".*?\b(?:{form})"
                    begun.setdefault(letters, {}).setdefault(mark, []).append(found)
        return begun

    def found_in(self, text: str) -> set[str]:
        """Return the names of the groups with a phrase that occurs in the text, which is words only."""
        patterns, begun, marks = self._patterns, self._begun, self._marks
        found, at = set[str](), -1
        for word in ["", *text.split(" ")]:
            letters = _NUMERIC if word[:1].isdigit() else word[:_LETTERS]
            if letters in begun:
                match = (patterns.get(letters) or self._compiled(letters)).match(text, at)
                if match and match.lastindex:
                    found.update(marks[mark] for mark, said in match.groupdict().items() if said == "")
            at += len(word) + 1
        return found

    def _compiled(self, letters: str) -> re.Pattern[str]:
        """Return the pattern for the phrases that begin with these letters, compiled when it is first needed.

        It looks for each group of phrases in turn, and sets an empty mark where it finds one.
        """
        groups = self._begun[letters].items()
        looks = (rf"(?:(?=(?:{'|'.join(phrases)})\b(?P<{mark}>))|)" for mark, phrases in groups)
        pattern = self._patterns[letters] = re.compile("".join(looks))
        return pattern


_HEAD_OF = re.compile(r"(\^?(?:\(\?<![^()]*\))*)(?:\(\?:(?P<choices>[^()]+)\)(?![?*+{])|(?!\())")
_AHEAD = r"\(\?[!=](?:[^()]|\([^()]*\))*\)"
_LITERAL = re.compile(
    rf"[a-z]{{{_LETTERS}}}(?![?*{{])|[a-z]{{1,2}}(?=(?:{_AHEAD})?(?:\$?$| (?![?*+{{])))"
    r"|(?P<digit>\\d|[0-9])(?![?*{])"
)


def by_beginning(phrase: str) -> Iterator[tuple[str, str]]:
    """Yield the choices that a phrase begins with, each as a phrase, with the letters that it begins with.

    The letters are three, those of a shorter word, "0" for any digit, or empty for anything. Only choices
    without a nested group are taken apart.

    >>> list(by_beginning("(?:by|each) type")), list(by_beginning("(?:by|sort(?:ed)? by) type"))
    ([('by', 'by type'), ('eac', 'each type')], [('', '(?:by|sort(?:ed)? by) type')])
    """
    head = _HEAD_OF.match(phrase)
    if head is None:
        yield _ANY, phrase
        return
    for choice in (head["choices"] or "").split("|"):
        begun = choice + phrase[head.end() :]
        match = _LITERAL.match(begun)
        letters = _ANY if match is None else _NUMERIC if match["digit"] else match[0]
        yield letters, head[1] + begun


PHRASES: Final[Mapping[str, str]] = read_phrases(__package__ or "", "kinds_asked_for.txt")
"""For each kind of thing, the phrases that ask for it, in the format of `read_phrases`."""

KINDS: tuple[str, ...] = tuple(PHRASES)
"""All kinds of thing that a question can ask for, in the order of the weights."""

PLAIN_KINDS = frozenset(KINDS) - {"threshold", "period", "extreme"}
"""Kinds that can be asked for without naming anything."""

_PHRASES = read_phrases(__package__ or "", "scope.txt")
_SHOUTED = re.compile(
    r"\b(?:SELECT|WHERE|JOIN|HAVING|GROUP BY|UNION|EXISTS|CASE WHEN|INSERT|UPDATE|DELETE"
    r"|BETWEEN|LIKE|NULLIF|CHECK|OVER|GROUP_CONCAT|ROW_NUMBER|WITH \w+ AS|ROUND (?:go|give|return|work)\w*)\b"
)
_ORDER_TO_WRITE = re.compile(
    r"^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:just )?"
    r"(?:write(?! off)|compose|paste|draft|formulate"
    r"|spell out (?:it|this|that|everything|exactly|(?:\w ){3})"
    r"|code (?:it|this|that|the|me|up))\b(?!.*\bmeans?\b)"
)
NEVER_TOLD = frozenset({"secret", "everything"})
"""Groups of phrases that make the user refuse a question, whatever else it says."""

_OUT_OF_SCOPE = frozenset({"all details", "SQL", "opinion", "results", "exercise", "tools"})
"""Groups of phrases that make the user refuse a question, unless the ranking is sure of a candidate."""

_NAMES = frozenset({"names", "column of"})

_FAIR_PATTERNS = {name: any_of(_PHRASES[name]) for name in ("own work", "sought by", "output columns")}
"""Phrases that only seem to ask for such things. They are removed before the remaining text is checked."""

FORMS = read_phrases(__package__, "forms.txt")
"""For each form of a question, its phrases."""

ALL_PHRASES = Phrases({**PHRASES, **_PHRASES, **FORMS})
_KINDS = frozenset(KINDS)


@dataclass(frozen=True, slots=True)
class Said:
    """The text of a question in lower case, with single spaces, and the groups of phrases found in it."""

    text: str
    found: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Said:
        """Find the groups of phrases that occur in a text."""
        return cls(text, frozenset(ALL_PHRASES.found_in(text)))

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of thing that the text asks for."""
        return self.found & _KINDS

    def without(self, *fair: str) -> Said:
        """Return a copy without the groups `fair`, which a question may legitimately mention."""
        text = self.text
        for name in fair:
            if name in self.found:
                text = _FAIR_PATTERNS[name].sub(" ", text)
        return self if text == self.text else Said.of(text)


def is_never_answered(said: Said) -> bool:
    """Return True if a text asks for secrets, such as the SQL, or for everything at once.

    Remarks about the agent's own work ("to write the query, ..") are ignored.
    """
    return bool(_ORDER_TO_WRITE.match(said.text)) or _mentions(said, NEVER_TOLD, "own work")


def is_out_of_scope(said: Said) -> bool:
    """Return True if a text mentions something that a user does not reveal, such as how the query is built.

    Questions about the output columns, or about the columns of an index or an order, are in scope. The
    question is answered nevertheless if the ranking is nearly certain of a candidate.
    """
    fair_names = ("own work", "sought by", "output columns")
    return _mentions(said, _OUT_OF_SCOPE, "own work") or _mentions(said, _NAMES, *fair_names)


def _mentions(said: Said, groups: frozenset[str], *fair: str) -> bool:
    """Return whether a text has phrases of some groups, also if `fair` phrases are removed."""
    return not (said.found.isdisjoint(groups) or said.without(*fair).found.isdisjoint(groups))


def asks_for_output(said: Said) -> bool:
    """Return True if a text asks for the output columns, which the user may reveal."""
    return "output columns" in said.found


def quotes_sql(question: str) -> bool:
    """Return True if the original text of a question contains SQL keywords in capitals."""
    return not question[1:].islower() and _SHOUTED.search(question) is not None
