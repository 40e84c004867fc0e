"""Words of a request, an answer or a statement in comparable forms; a request's phrases, and questions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from birdenv.sql import tokens

USELESS: Final = "Is there anything else that I should know?"
"""The question about nothing."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9'’]*(?:-[A-Za-z0-9]+)*")
_TOKEN: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d+(?:\.\d+)?|[a-z]+")
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+")
_PIECE: Final = re.compile(r"[,.;:!?()\"“”]|\s[-–—]\s")
_ENDINGS: Final = ("ies", "es", "s", "ing", "ed")
_LONGEST: Final = 4  # words of a phrase; of longer runs the last ones

_OPERATORS: Final = {
    "<": ("less",),
    ">": ("more",),
    "<=": ("less", "equal"),
    ">=": ("more", "equal"),
    "<>": ("not", "equal"),
    "!=": ("not", "equal"),
    "+": ("plus",),
    "-": ("minus",),
    "/": ("divid",),
    "*": ("tim",),
}
_ONE_FORM: Final = {
    "desc": "descending",
    "asc": "ascending",
    "avg": "average",
    "mean": "average",
    "count": "number",
    "sum": "total",
    "max": "highest",
    "most": "highest",
    "maximum": "highest",
    "largest": "highest",
    "latest": "highest",
    "min": "lowest",
    "minimum": "lowest",
    "smallest": "lowest",
    "earliest": "lowest",
    "greater": "more",
    "above": "more",
    "over": "more",
    "after": "more",
    "since": "more",
    "below": "less",
    "under": "less",
    "before": "less",
    "fewer": "less",
    "null": "empty",
    "missing": "empty",
    "different": "distinct",
}
_BOUNDS: Final = tuple(  # as people say what SQL writes >= and <=
    (re.compile(rf"\b(?:{said})\b"), meant)
    for said, meant in (
        ("at least|no fewer than|no less than", "more equal"),
        ("at most|no more than|up to", "less equal"),
        ("(?:on|at) or after", "more equal"),
        ("(?:on|at) or before", "less equal"),
    )
)
_SILENT: Final = frozenset(
    """select from as on join inner where and or by then end when case group exists in a an the of is that it
    with i mean for this""".split()
)
STOP: Final = frozenset(
    """a about above according across after all also among an and any are as at average based be been before
    below between both but by can calculate compute could count determine do does each else every find first
    following for from get give given group grouped has have having highest how i if in into is it its last
    least less let like list lowest make many maximum me mean median minimum more most much must my need next
    no not number of on one only or order ordered our out over per please provide remaining rest result
    results same second set should show sort sorted such sum tell than that the their them then there these
    they this those to top total two under up us use using want was we were what when where which while who
    whose will with within would you your add create delete insert remove update record mark change drop
    called named name names include including along together display report identify rank ranked ascending
    descending other latter since through we're don't""".split()
)
"""Words that are no part of a phrase."""


class RequestPhrase(NamedTuple):
    """A phrase of a request, and where it stands.

    Attributes:
        text: the phrase as it is written.
        sentence: its sentence's place, from 0.
        after: the word before it, in lower case; empty at the start.
        number_after: a number or a date follows in the same clause.
    """

    text: str
    sentence: int
    after: str
    number_after: bool


@lru_cache(maxsize=4096)
def phrases(request: str) -> tuple[RequestPhrase, ...]:
    """Return the runs of content words of a request, without repeats, in its order."""
    found: dict[str, RequestPhrase] = {}
    for place, sentence in enumerate(_SENTENCE.split(request)):
        for clause in _PIECE.split(sentence):
            runs: list[tuple[list[re.Match[str]], str]] = []
            run: list[re.Match[str]] = []
            before = after = ""
            for word in _WORD.finditer(clause):
                text = word.group().lower()
                apart = run and any(c.isdigit() for c in clause[run[-1].end() : word.start()])
                if text in STOP or apart:
                    runs.append((run, after))
                    run = []
                if text not in STOP:
                    if not run:
                        after = before
                    run.append(word)
                before = text
            for words, previous in [*runs, (run, after)]:
                if words:
                    last = words[-_LONGEST:]
                    text = clause[last[0].start() : last[-1].end()]
                    number = any(c.isdigit() for c in clause[last[-1].end() :])
                    found.setdefault(text.lower(), RequestPhrase(text, place, previous, number))
    return tuple(found.values())


def question_about(span: str) -> str:
    """Return the question about a span of the request."""
    return f"What do you mean by '{span}'?"


@lru_cache(maxsize=65536)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in comparable forms; what says nothing is left out."""
    broken = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    for said, meant in _BOUNDS:
        broken = said.sub(meant, broken)
    return frozenset(form for word in _TOKEN.findall(broken) if (form := _form(word)) not in _SILENT)


@lru_cache(maxsize=65536)
def words_of_sql(sql: str) -> frozenset[str]:
    """Return the words of a statement: names, literals and operators, in the same forms."""
    found: set[str] = set()
    for token in tokens(sql):
        if token.kind == "symbol":
            found.update(_OPERATORS.get(token.text, ()))
        else:
            found |= words_of(token.text[1:-1] if token.kind == "string" else token.text)
    return frozenset(found)


def _form(word: str) -> str:
    if word[0].isdigit():
        return word.rstrip("0").rstrip(".") if "." in word else word
    if word in _ONE_FORM:
        return _ONE_FORM[word]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word
