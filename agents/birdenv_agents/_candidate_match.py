"""Rank candidate statements by how well they fit the request and the user's answers.

Only words that differ between the candidates are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from random import Random

from birdenv.sql import tokens

__all__ = ["rank"]

_OPERATORS = {
    "<": ("less",),
    ">": ("greater",),
    "<=": ("less", "equal"),
    ">=": ("greater", "equal"),
    "<>": ("not", "equal"),
    "!=": ("not", "equal"),
    "+": ("plus",),
    "-": ("minus",),
    "/": ("divided",),
    "*": ("times",),
}
_SYNONYMS = {
    "desc": "descending",
    "asc": "ascending",
    "avg": "average",
    "count": "number",
    "sum": "total",
    "max": "highest",
    "min": "lowest",
    "null": "null",
}
_SILENT = frozenset("select from as on join inner where and by t1 t2 t3 then end when".split())

ANSWER_WEIGHT = 3.0
"""The weight of words in the user's answers, relative to words of the ambiguous request."""

UNSAID = 0.5
"""The loss of a candidate for each word that was not said, if `rank` is called with `complete`."""


def rank(
    candidates: Sequence[str], wording: str, answers: Sequence[str], rng: Random, *, complete: bool
) -> list[str]:
    """Return the candidates sorted from the best to the worst fit.

    Each word of a candidate that also occurs in the request or in an answer adds to the score of the
    candidate. Words that fewer candidates contain add more.

    Args:
        candidates: the candidates to sort.
        wording: the text of the request.
        answers: the user's answers.
        rng: the random generator that breaks ties.
        complete: True if the request and the answers mention everything that the statement needs. Then a
            candidate loses points for each word that occurs in neither.
    """
    loss = UNSAID if complete else 0.0
    bags = [_bag(reading) for reading in candidates]
    spread = Counter(word for bag in bags for word in bag)
    said: dict[str, float] = {}
    for text, weight in [(wording, 1.0), *((answer, ANSWER_WEIGHT) for answer in answers)]:
        for word in set(_words(text)):
            said[word] = max(said.get(word, 0.0), weight)

    def fit(bag: frozenset[str]) -> float:
        total = 0.0
        for word in sorted(bag):
            rarity = log(len(bags) / spread[word])
            total += rarity * said.get(word, -loss)
        return total

    order = list(range(len(candidates)))
    rng.shuffle(order)
    order.sort(key=lambda number: -fit(bags[number]))
    return [candidates[number] for number in order]


def _bag(sql: str) -> frozenset[str]:
    words: list[str] = []
    for token in tokens(sql):
        if token.kind == "string":
            literal = token.text[1:-1]
            words += [literal.lower(), *_words(literal)]
        elif token.kind == "symbol":
            words += _OPERATORS.get(token.text, ())
        else:
            words += _words(token.text)
    return frozenset(word for word in words if word not in _SILENT)


def _words(text: str) -> list[str]:
    broken = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    words = []
    for word in re.findall(r"\d+(?:\.\d+)?|[a-z]+", broken):
        words.append(_number(word) if word[0].isdigit() else _SYNONYMS.get(word, _stem(word)))
    return words


def _stem(word: str) -> str:
    for ending in ("ies", "es", "s", "ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _number(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
