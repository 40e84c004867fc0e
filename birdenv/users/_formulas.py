"""Judge a proposal of a formula, such as "is it the cost divided by the price?"."""

from __future__ import annotations

import re
from collections.abc import Set

from birdenv.users.sql_in_words._names import GENERAL_WORDS
from birdenv.users.understanding._word_forms import (
    FRAME_STEMS,
    SYNONYMS,
    clean,
    content_words,
    stem,
    words,
)

_OPERATORS = {
    "divided by": "=div",
    "times": "=mul",
    "multiplied by": "=mul",
    "minus": "=sub",
    "less": "=sub",
    "over": "=div",
    "plus": "=add",
}
_AGGREGATES = {"total": "=sum", "sum": "=sum", "average": "=avg", "mean": "=avg", "number": "=count"}
_MARKS = _OPERATORS | _AGGREGATES | {"count": "=count"}
_PHRASE = re.compile(rf"\b(?:{'|'.join(_MARKS)})\b(?! than)")
_ASIDE = re.compile(
    r", or (?:null|\d+) if it (?:is 0|has no value)|, rounded to .*|\b1(?:00)?(?:\.0)? times (?=\()"
    r"|\btimes 100\b"
)
"""The text in a formula that a question may leave out."""

_GENERAL = "|".join(sorted(GENERAL_WORDS - {"number", "total"}))
_OWNER = re.compile(rf"\bthe ({_GENERAL}) of the \w+(?: (?!divided|times|minus|plus|is|or|of|by)\w+)?")
"""A column with the table that it belongs to, which a question may leave out or say before it."""

_NOT_PLAIN = re.compile(r"\b(?:if|where|only|here|among|otherwise|different)\b")
_ALL = re.compile(r"\b(?:all|each|every|per)\b")


def is_same_formula(asked: str, told: str, also: Set[str]) -> bool:
    """Return True if a question proposes exactly the formula that the user tells.

    Both must have the same operators and aggregates in the same order, and the question must name each
    operand, by a synonym at most. A formula with a condition is never the same.

    Args:
        asked: the cleaned question.
        told: the formula in words.
        also: the stems that the question may have beside those of the formula.

    >>> formula = "(the total of the cost) divided by the number of docks"
    >>> is_same_formula("is it the total repair cost divided by the number of docks?", formula, {"repair"})
    True
    >>> is_same_formula("is it the number of docks divided by the total cost?", formula, {"repair"})
    False
    """
    told = _OWNER.sub(r"the \1", _ASIDE.sub("", clean(told)))
    wanted, said = _marked(told), _marked(asked)
    is_wider = bool(_ALL.search(asked)) and not _ALL.search(told)
    if is_wider or _NOT_PLAIN.search(told) or not any(one.startswith("=") for one in wanted):
        return False
    before = ""
    for word in said:
        if wanted and (word == wanted[0] or wanted[0] in SYNONYMS.get(word, ())):
            wanted = wanted[1:]
        elif word not in also | FRAME_STEMS or before == "=count":
            return False
        before = word
    return not wanted


def _marked(text: str) -> list[str]:
    """Return the stems of a text's telling words, and marks for its operators and aggregates."""
    text = _PHRASE.sub(lambda match: f" {_MARKS[match[0]][1:]}mark ", text)
    return [f"={word[:-4]}" if word.endswith("mark") else stem(word) for word in content_words(words(text))]
