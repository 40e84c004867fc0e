"""The ranking: a linear model that scores the user's possible replies.

The possible replies are an answer about each candidate, a refusal, and a request to rephrase. The features
are the words that a question shares with a candidate, the kinds of thing that the question asks for, and the
word sequences in the question (`_weights`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import mul

from birdenv.users.understanding._candidate import FIELDS, Candidate
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._left_open import TOGETHER
from birdenv.users.understanding._phrases import KINDS, PLAIN_KINDS, asks_for_output
from birdenv.users.understanding._question import Overlap, Question, called, overlap
from birdenv.users.understanding._weights import Features, Reply, Weights
from birdenv.users.understanding._word_forms import CLAUSE_STEMS, GENERIC_STEMS, stem

_FAMILY = {"non_critical": "aside", "part": "part", "open": "open", "said": "open"}
"""The family of a candidate's features for words, by its group; otherwise "point"."""

_SETTLED = [{kind: f"asked_{how}_settled:{kind}" for kind in KINDS} for how in ("not", "and")]

REFUSE, ASK_BACK = ("refuse",), ("ask back",)
"""The facets of a refusal and of a request to rephrase."""

_FIELD_WEIGHTS = (1.0, 0.7, 0.4)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The features of a question for each possible reply.

    Attributes:
        vectors: the features of an answer about each plausible candidate, by its index. A candidate is
            plausible if it shares a word with the question, or if the question asks for its kind of thing.
            The kind alone is enough only for kinds that people ask for without naming anything, such as
            sorting or rounding.
        refusal: the features of a refusal.
        asking_back: the features of a request to rephrase.
        names: False if the question mentions nothing from the request or from a candidate, only clauses such
            as sorting or grouping.
    """

    vectors: Mapping[int, Features]
    refusal: Features
    asking_back: Features
    names: bool


def evidence(index: Index, question: Question) -> Evidence:
    """Return the features of every possible reply."""
    found = overlap(index, question)
    total, kinds = found.total, question.kinds
    asked = sorted(kinds)  # so that sums are the same in every process
    summed = {number: sum(map(mul, _FIELD_WEIGHTS, shares)) for number, shares in found.by_field.items()}
    best = max(summed.values(), default=0.0)
    of_value = called(index.values, question)
    goes_on = index.follows and _GOES_ON.search(question.text) is not None
    confirmed = of_value if goes_on or (index.follows and question.guesses) else set[int]()
    vectors: dict[int, Features] = {}
    for number in _plausible(index, question, found, confirmed):
        candidate = index.candidates[number]
        vector, family = {f"group:{candidate.group}": 1.0}, _FAMILY.get(candidate.group, "point")
        if candidate.group != "open":
            for kind in asked:
                vector[_SETTLED[kind in candidate.kinds][kind]] = 1.0
        if candidate.main_kinds:
            if kinds.isdisjoint(candidate.main_kinds):
                vector["plain:not_asked"] = 1.0
            else:
                vector["plain:asked"] = 1.0
                vector["plain:asked_alone"] = float(kinds & PLAIN_KINDS <= candidate.main_kinds)
                vector["plain:asked_and_known"] = float(number in found.known)
        if number in summed:
            shared = found.by_field[number]
            for field, value in zip(FIELDS, shared, strict=True):
                if value:
                    vector[f"{family}:{field}"] = value / total
            vector[f"{family}:covers_term"] = shared[0] / (index.term_weight[number] or 1.0)
            vector[f"{family}:near_best"] = summed[number] / best
        if number in found.named:
            vector[f"{family}:named"] = 1.0
        if number in of_value:
            vector[f"{family}:value"] = 1.0
        if goes_on:
            vector[f"kept:{_kept(candidate)}"] = 1.0
        vectors[number] = vector
    plain = not index.plain_kinds.isdisjoint(kinds)
    refusal = _refusal(question, found.unknown / total, best / total, plain)
    names = found.names or bool(found.known or confirmed) or not CLAUSE_STEMS.issuperset(question.content)
    return Evidence(vectors, refusal, _asking_back(question, best / total, plain), names)


_GOES_ON = re.compile(
    r"\b(?:still|again|same|keeps?|stays?|remain\w*|as (?:before|in the \w+ \w+)|also here|here as well|too"
    r"|no longer|any ?more|this time|also|now|continue\w*|restrict\w*)\b"
)
"""Asks whether something from the first request still holds in a follow-up."""


def _is_free(candidate: Candidate) -> bool:
    return candidate.group == "open" and candidate.clause == "filter"


def _kept(candidate: Candidate) -> str:
    if candidate.clause in ("where", "having") and candidate.group == "part":
        return "condition"
    return "no_restriction" if _is_free(candidate) else "other"


def _plausible(index: Index, question: Question, found: Overlap, confirmed: Collection[int]) -> Iterator[int]:
    """Yield the indices of the candidates that a question may be about.

    The `confirmed` ones have a value that a question about what a follow-up keeps ("still 40?") mentions.
    """
    asked_alone = question.kinds - {"filter", "extent"}
    lacking = set(map(stem, _LACKING.findall(question.text))) & index.postings.keys() - {"such"}
    is_of_match = bool(lacking) and any(
        one.clause == "join" and lacking.issubset(one.stems["sql"]) for one in index.candidates
    )
    is_of_match |= "group" in index.plain_kinds and _OF_NONE.search(question.text) is not None
    may_limit = bool(found.known) or "extent" in question.kinds
    kinds = question.kinds & PLAIN_KINDS
    for number, candidate in enumerate(index.candidates):
        is_open = candidate.group == "open"
        is_free = _is_free(candidate)
        is_near = found.names or number in found.known or (is_open and (may_limit or not is_free))
        if (
            (
                (is_near and not question.guesses and candidate.answer != TOGETHER)
                or number in confirmed
                or not asked_alone.isdisjoint(candidate.main_kinds)
            )
            # "households without orders" is not about the join with shifts
            and not (candidate.clause == "join" and lacking - candidate.stems["sql"])
            and not (kinds and _is_of_another_kind(candidate, kinds))
            and not (is_free and (is_of_match or asks_for_output(question.said)))
            and not (is_free and not _is_unrestricted(index, question, found))
        ):
            yield number


_OF_NONE = re.compile(r"\b(?:(?:with|at|as) (?:an? )?(?:zero|0|nought)|no such)\b")
_LACKING = re.compile(r"\b(?:without|no) (?:an? |the |any )?(\w+)")


def _is_unrestricted(index: Index, question: Question, found: Overlap) -> bool:
    """Return whether "no restriction" may be the right answer.

    That is so if no condition is related to the question, or if the question names a dropped condition.
    """
    if not index.restricting or any(index.candidates[i].clause == "filter" for i in found.named):
        return True
    telling = set(question.content) - GENERIC_STEMS - index.subjects
    conditions = (index.candidates[i].stems["sql"] for i in index.restricting)
    names_one = not index.follows and not all(map(telling.isdisjoint, conditions))
    if not (names_one or question.kinds.isdisjoint(("extent", "period"))):
        # that a date is empty limits no period
        limits = (index.candidates[i].kinds for i in index.restricting)
        return not any("period" in kinds and kinds & {"threshold", "category"} for kinds in limits)
    if (
        not index.follows
        and "proposal" in question.said.found
        and index.unused.isdisjoint(telling - {"left", "out"})
    ):
        return False  # "are closed stations left out?"
    weights = {number: sum(shares) for number, shares in found.by_field.items()}
    free = (weight for number, weight in weights.items() if index.candidates[number].clause == "filter")
    return max(free, default=0.0) > max(weights.get(number, 0.0) for number in index.restricting)


def _is_of_another_kind(candidate: Candidate, kinds: frozenset[str]) -> bool:
    """Return whether a candidate's kind rules it out, whatever words it shares with the question.

    `kinds` are the kinds that the question asks for and that can be asked for without naming anything.
    """
    if candidate.group == "said":
        return not kinds <= candidate.main_kinds
    if candidate.clause == "output":
        return kinds == {"order"}
    return candidate.group == "open" and kinds.isdisjoint(candidate.main_kinds or kinds)


_IDENTIFIER = re.compile(r"\b[a-z]+_(?:[a-z]+_)*[a-z0-9]+\b|= '")


def _refusal(question: Question, unknown: float, best: float, plain: bool) -> Features:
    text, said = question.text, question.said.found
    return {
        "refuse:always": 1.0,
        "refuse:identifier": float("_" in text or "= '" in text) and float(bool(_IDENTIFIER.search(text))),
        "refuse:unknown": unknown,
        "refuse:nothing_known": float(not best and not plain),
        "refuse:long": float(len(question.content) > 8),
        "refuse:plain_kind": float(plain),
        "refuse:best": best,
        "refuse:names": float("names" in said),
        "refuse:personal": float("personal" in said),
        "refuse:wish": float("wish" in said),
    }


def _asking_back(question: Question, best: float, plain: bool) -> Features:
    telling = any(word not in GENERIC_STEMS for word in question.content)
    return {
        "ask_back:always": 1.0,
        "ask_back:no_content": float(not telling and not plain),
        "ask_back:short": float(len(question.words) < 6),
        "ask_back:some_kind": float(bool(question.kinds)),
        "ask_back:plain_kind": float(plain),
        "ask_back:best": best,
    }


def probabilities(index: Index, asked: Question, found: Evidence, weights: Weights) -> list[float]:
    """Return the probability of each candidate, then those of a refusal and a request to rephrase.

    The probabilities are rounded so that they are identical on all machines.
    """
    replies: list[Reply] = [(vector, index.facets[number]) for number, vector in found.vectors.items()]
    replies += [(found.refusal, REFUSE), (found.asking_back, ASK_BACK)]
    scores = weights.scores(index, asked, replies)
    top = max(scores)
    odds = [math.exp(score - top) for score in scores]
    whole = sum(odds)
    shares = [0.0] * len(index.candidates)
    for number, odd in zip(found.vectors, odds, strict=False):
        shares[number] = round(odd / whole, 6)
    return [*shares, *(round(odd / whole, 6) for odd in odds[-2:])]
