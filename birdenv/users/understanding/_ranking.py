"""The ranking: a linear model that scores the user's possible replies.

The possible replies are an answer about each candidate, a refusal, and a request to rephrase. The features
are the words that a question shares with a candidate, the kinds of thing that the question asks for, and the
word sequences in the question (`_weights`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeAlias

from birdenv.users.understanding._candidate import GROUPS, Candidate
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._phrases import KINDS, PLAIN_KINDS, SPEAKS_FOR_REFUSING
from birdenv.users.understanding._question import NOTHING, Overlap, Question, called, overlap
from birdenv.users.understanding._weights import (
    PLACE_OF,
    Weights,
    facet_scores,
)
from birdenv.users.understanding._word_forms import CLAUSE_STEMS, GENERIC_STEMS

Vector: TypeAlias = list[tuple[int, float]]
"""A sparse feature vector: pairs of a feature's index and its value, which is not zero."""

_FAMILY = {"non_critical": "aside", "part": "part", "open": "open", "said": "open"}
_GROUP = {group: PLACE_OF[f"group:{group}"] for group in GROUPS}
_SETTLED = [{kind: PLACE_OF[f"asked_{how}_settled:{kind}"] for kind in KINDS} for how in ("not", "and")]
_NOT_ASKED = (PLACE_OF["plain:not_asked"], 1.0)
_FIELD_WEIGHTS = (1.0, 0.7, 0.4)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The features of a question for each possible reply, and which candidates it may be about.

    Attributes:
        vectors: one feature vector per possible reply: an answer about each candidate, then a refusal, then a
            request to rephrase.
        allowed: for each candidate, True if it is a plausible target: it shares a word with the question, or
            the question asks for its kind of thing. The kind alone is enough only for kinds that people ask
            for without naming anything, such as sorting or rounding.
        names: False if the question mentions nothing from the request or from a candidate, only clauses such
            as sorting or grouping.
    """

    vectors: list[Vector]
    allowed: list[bool]
    names: bool


def evidence(index: Index, question: Question) -> Evidence:
    """Return the features of every possible reply, and the candidates that the question may be about."""
    found = overlap(index, question)
    total, kinds = found.total, question.kinds
    summed = [
        0.0 if shares is NOTHING else sum(map(mul, _FIELD_WEIGHTS, shares)) for shares in found.by_field
    ]
    best = max(summed, default=0.0)
    named = called(index.names, question)
    unknown = found.unknown / total
    vectors = []
    for number, candidate in enumerate(index.candidates):
        vector: Vector = [(_GROUP[candidate.group], 1.0)]
        if candidate.group != "open":
            vector += [(_SETTLED[kind in candidate.kinds][kind], 1.0) for kind in kinds]
        if candidate.main_kinds:
            if kinds.isdisjoint(candidate.main_kinds):
                vector.append(_NOT_ASKED)
            else:
                alone = kinds & PLAIN_KINDS <= candidate.main_kinds
                vector += _numbers("plain:asked", (1.0, 0.0, alone, found.known[number]))
        if summed[number]:
            fields = found.by_field[number]
            covered = fields[0] / (index.term_weight[number] or 1.0)
            shared = (covered, *(value / total for value in fields), summed[number] / best)
            vector += _numbers(f"{_FAMILY.get(candidate.group, 'point')}:covers_term", shared)
        vectors.append(vector)
    plain = not index.plain_kinds.isdisjoint(kinds)
    vectors.append(_refusal(question, unknown, best / total, plain))
    vectors.append(_asking_back(question, best / total, plain))
    unrestricted = _is_unrestricted(index, question, found.by_field, named)
    allowed = _allowed(index, question, found, unrestricted)
    names = found.names or any(found.known) or not CLAUSE_STEMS.issuperset(question.content)
    return Evidence(vectors, allowed, names)


def _allowed(
    index: Index,
    question: Question,
    found: Overlap,
    unrestricted: bool,
) -> list[bool]:
    """Return, for each candidate, whether a question may be about it."""
    asked_alone = question.kinds - {"filter", "extent"}
    may_limit = any(found.known) or "extent" in question.kinds
    kinds = question.kinds & PLAIN_KINDS
    return [
        (
            ((is_known or found.names) and not question.guesses)
            or not asked_alone.isdisjoint(candidate.main_kinds)
            or (candidate.group == "open" and (candidate.clause != "filter" or may_limit))
        )
        and (unrestricted or candidate.group != "open" or candidate.clause != "filter")
        and not (kinds and _is_of_another_kind(candidate, kinds))
        for candidate, is_known in zip(index.candidates, found.known, strict=True)
    ]


def _is_unrestricted(
    index: Index, question: Question, by_field: Sequence[Sequence[float]], named: Iterable[int]
) -> bool:
    """Return whether "no restriction" may be the right answer.

    That is so if no condition is related to the question, or if the question names a dropped condition.
    """
    if not index.restricting or any(index.candidates[i].clause == "filter" for i in named):
        return True
    if not question.kinds.isdisjoint(("extent", "period")):
        return all("period" not in index.candidates[i].kinds for i in index.restricting)
    free = max(
        (sum(by_field[i]) for i, one in enumerate(index.candidates) if one.clause == "filter"), default=0
    )
    return free > max(sum(by_field[i]) for i in index.restricting)


def _is_of_another_kind(candidate: Candidate, kinds: frozenset[str]) -> bool:
    """Return whether a candidate's kind rules it out, whatever words it shares with the question.

    `kinds` are the kinds that the question asks for and that can be asked for without naming anything.
    """
    if candidate.group == "said":
        return not kinds <= candidate.main_kinds
    if candidate.clause == "output":
        return kinds == {"order"}
    return candidate.group == "open" and kinds.isdisjoint(candidate.main_kinds or kinds)


def _numbers(first: str, values: Iterable[float]) -> Vector:
    return [(place, float(value)) for place, value in enumerate(values, PLACE_OF[first]) if value]


_IDENTIFIER = re.compile(r"\b[a-z]+_(?:[a-z]+_)*[a-z0-9]+\b|= '")


def _refusal(question: Question, unknown: float, best: float, plain: bool) -> Vector:
    text = question.text
    values: Sequence[float] = (
        1.0,
        ("_" in text or "= '" in text) and _IDENTIFIER.search(text) is not None,
        unknown,
        not best and not plain,
        len(question.content) > 8,
        plain,
        best,
        *(name in question.said.found for name in SPEAKS_FOR_REFUSING),
    )
    return _numbers("refuse:always", values)


def _asking_back(question: Question, best: float, plain: bool) -> Vector:
    telling = any(word not in GENERIC_STEMS for word in question.content)
    values: Sequence[float] = (
        1.0,
        not telling and not plain,
        not best and not plain,
        len(question.words) < 6,
        bool(question.kinds),
        plain,
        best,
    )
    return _numbers("ask_back:always", values)


def probabilities(index: Index, asked: Question, found: Evidence, weights: Weights) -> list[float]:
    """Return the probability of each candidate, then those of a refusal and a request to rephrase.

    The probabilities are rounded so that they are identical on all machines.
    """
    values = weights.values
    of_words = facet_scores(index, asked, weights.known, weights.of_runs)
    scores = [
        sum([values[place] * value for place, value in vector], said)
        for vector, said in zip(found.vectors, of_words, strict=True)
    ]
    allowed = [*found.allowed, True, True]
    top = max(score for score, may in zip(scores, allowed, strict=True) if may)
    odds = [math.exp(score - top) if may else 0.0 for score, may in zip(scores, allowed, strict=True)]
    whole = sum(odds)
    return [round(odd / whole, 6) for odd in odds]
