"""Which phrases a text has: every word is looked up once among the beginnings of all phrases.

A phrase is a regular expression for words with one space between. It is tried only where a word of the text
has the letters that the phrase begins with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import resources
from typing import Final

_LETTERS: Final = 3
"""Letters of a word by which the phrases that begin with it are found."""

_ANY: Final = "*"
_DIGIT: Final = "0"
_BEGINNING = re.compile(rf"\b\w{{1,{_LETTERS}}}")
_FROM = r"(?:from|up to|starting (?:at|from)|after|beyond|until|which|what) (?:\w+ ){0,3}?"
_GRADE = (
    "(?:low|high|large|small|big|long|short|good|bad|poor|heavy|late|early|old|new|young|strong|weak|rare)"
)
_NUMBER = r"(?:\d[\d.,]{0,20}|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)"


def split_phrases(phrases: str) -> list[str]:
    """Split phrases that stand on lines of their own or between ` | `."""
    text = phrases.strip()
    for name, pattern in (("NUMBER", _NUMBER), ("FROM", _FROM), ("GRADE", _GRADE)):
        text = text.replace(name, pattern)
    return re.split(r"\s+\|\s+|\s*\n\s*", text)


def read_phrases(package: str | None, file: str) -> dict[str, str]:
    """Read groups of phrases from a file of a package.

    A group begins with its name in brackets; lines such as `WHICH = (?:which|what)` say what a word in
    capitals stands for in the group's phrases; lines that begin with # are remarks.
    """
    found: dict[str, list[str]] = {}
    meant: list[tuple[str, str]] = []
    for line in resources.files(package or "").joinpath(file).read_text(encoding="utf-8").splitlines():
        if match := _HEAD.fullmatch(line):
            found[match[1]], meant = [], []
        elif match := _MEANT.fullmatch(line):
            meant.append((match[1], match[2]))
        elif line and not line.startswith("#"):
            for word, pattern in meant:
                line = line.replace(word, pattern)
            found[list(found)[-1]].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


_HEAD = re.compile(r"\[([\w ]+)\]")
_MEANT = re.compile(r"([A-Z]+) = (.+)")


def any_of(phrases: str) -> re.Pattern[str]:
    """Compile a pattern for any of the phrases."""
    return _any_of(split_phrases(phrases))


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b")


class Phrases:
    r"""Groups of phrases, to see which of the groups have one in a text.

    >>> groups = Phrases({"order": r"sort\w* | order(?:ed)? by", "limit": "how many rows | top"})
    >>> sorted(groups.found_in("sorted by what, and how many rows"))
    ['limit', 'order']
    """

    def __init__(self, groups: Mapping[str, str]) -> None:
        self.groups = groups

    @cached_property
    def _patterns(self) -> dict[str, Sequence[tuple[str, re.Pattern[str]]]]:
        """What was compiled so far, by the letters that it begins with."""
        return dict.fromkeys(self._begun, ())

    @cached_property
    def _begun(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The phrases by the letters that they begin with, then by group; "*" has those of any beginning."""
        begun: dict[str, dict[str, list[str]]] = {_ANY: {}}
        for name, phrases in self.groups.items():
            for phrase in split_phrases(phrases):
                for letters in beginnings(phrase):
                    key = letters if letters and _ANY not in letters else _ANY
                    begun.setdefault(key, {}).setdefault(name, []).append(phrase)
        return begun

    def found_in(self, text: str) -> set[str]:
        """Return the names of the groups that have a phrase in a text."""
        patterns = self._patterns
        found = {name for name, pattern in patterns[_ANY] or self._compiled(_ANY) if pattern.search(text)}
        for beginning in _BEGINNING.finditer(text):
            letters = beginning[0]
            if letters[0].isdecimal():
                letters = _DIGIT
            if letters in patterns:
                at = beginning.start()
                for name, pattern in patterns[letters] or self._compiled(letters):
                    if name not in found and pattern.match(text, at):
                        found.add(name)
        return found

    def _compiled(self, letters: str) -> Sequence[tuple[str, re.Pattern[str]]]:
        """The groups with phrases that begin with these letters, compiled when they are first needed."""
        begun = self._begun[letters].items()
        compiled = self._patterns[letters] = [(name, _any_of(phrases)) for name, phrases in begun]
        return compiled


_TOKEN = re.compile(r"\(\?<?[=!]|\(\?:|[()|^$]|\\.|\[[^]]*\]|(?:[?*+]|\{\d+(?:,\d*)?\})\??|.")
_REPEATED = re.compile(r"(?:[?*+]|\{\d+(?:,\d*)?\})\??")
_END: Final = " "


def beginnings(phrase: str) -> set[str]:
    """Return what the first words of a phrase may begin with: three letters, or a whole shorter word.

    A "0" stands for any number, and a "*" for any letters from there on.

    >>> sorted(beginnings(r"sort(?:ed|ing)?|(?:as )?calculat\\w*|un\\w+"))
    ['as', 'cal', 'sor', 'un*']
    """
    _, found = _alternatives(_TOKEN.findall(phrase), 0, {""})
    return {letters.rstrip(_END) for letters in found}


def _alternatives(tokens: Sequence[str], at: int, before: set[str]) -> tuple[int, set[str]]:
    """Read up to the end of a group: where that is, and what the text may begin with after it."""
    after, now = set[str](), before
    while at < len(tokens) and tokens[at] != ")":
        if tokens[at] == "|":
            after, now, at = after | now, before, at + 1
        else:
            at, now = _one(tokens, at, now)
    return at, after | now


def _one(tokens: Sequence[str], at: int, before: set[str]) -> tuple[int, set[str]]:
    token, at = tokens[at], at + 1
    if token.startswith("("):
        at, after = _alternatives(tokens, at, before)
        at += 1
    else:
        after = {one if _is_done(one) else one + more for one in before for more in _letters(token, one)}
    if token in _NO_LETTERS:
        after = before
    times = tokens[at] if at < len(tokens) and _REPEATED.fullmatch(tokens[at]) else ""
    if times and not times.startswith("?"):
        after = {one if _is_done(one) else one + _ANY for one in after}
    if times.startswith(("?", "*", "{0")):
        after = after | before
    return at + bool(times), after


_NO_LETTERS = frozenset({"^", "$", r"\b", "(?=", "(?!", "(?<=", "(?<!"})


def _is_done(letters: str) -> bool:
    return len(letters) == _LETTERS or letters.endswith((_ANY, _END))


def _letters(token: str, before: str) -> list[str]:
    """What a piece of a pattern adds to the letters before it."""
    signs = token[1:-1] if token.startswith("[") else token
    if token == r"\d" and not before:
        return [_DIGIT + _END]
    if "\\" in signs or token == "." or signs.startswith("^") or (token.startswith("[") and "-" in signs):
        return [_ANY]
    if not before:
        signs = "".join(_DIGIT if sign.isdecimal() else sign for sign in signs)
    return [
        sign + _END if sign == _DIGIT and not before else sign if sign.isalnum() or sign == "_" else _END
        for sign in signs
    ]
