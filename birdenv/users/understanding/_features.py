"""What speaks for and against each reading of a question: one short list of numbers a candidate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import NamedTuple, TypeAlias

from birdenv.users.understanding._candidates import FIELDS, GROUPS, Candidate
from birdenv.users.understanding._index import Index
from birdenv.users.understanding._question import SHORT_NAME, Question, called, overlap
from birdenv.users.understanding.vocabulary._kind_asked_for import KINDS, PLAIN_KINDS
from birdenv.users.understanding.vocabulary._scope import asks_for_names
from birdenv.users.understanding.vocabulary._subjects import SUBJECTS, count_subjects
from birdenv.users.understanding.vocabulary._word_forms import GENERIC_STEMS, stem

Vector: TypeAlias = list[tuple[int, float]]
"""The numbers that are not zero, each with its place among the features."""

_IDENTIFIER = re.compile(r"\b[a-z]+_(?:[a-z]+_)*[a-z0-9]+\b|= '")
_WORDS = (
    "covers_term",
    *FIELDS,
    "whole_term",
    "named",
    "literal",
    "best",
    "second",
    "only",
    "restricted",
    "unexplained",
    "unknown",
    "condition",
    "condition_unknown",
)
_FIELD_WEIGHTS = (1.0, 0.7, 0.4, 0.6)
_MIXED = ("overlap_settled", "overlap_missed", "covers_settled", "covers_missed", "elsewhere")
_PLAIN = ("asked", "not_asked", "asked_alone", "asked_and_known")
_NEARLY = ("point", "part")
_CLAUSES = ("where", "having", "select", "join", "assign", "create")
_REFUSE = (
    "always",
    "names",
    "identifier",
    "unknown",
    "nothing_known",
    "personal",
    "long",
    "wish",
    "plain_kind",
    "best",
    "subjects",
    "share_of_subjects",
    *SUBJECTS,
    *(f"more_{name}" for name in SUBJECTS),
)
_ASK = ("always", "no_content", "nothing_known", "short", "some_kind", "plain_kind", "best")

FEATURES: tuple[str, ...] = (
    *(f"group:{name}" for name in GROUPS),
    *(f"point:{name}" for name in _WORDS),
    *(f"aside:{name}" for name in _WORDS),
    *(f"part:{name}" for name in _WORDS),
    *(f"open:{name}" for name in _WORDS),
    *(f"point_kind:{name}" for name in _MIXED),
    *(f"aside_kind:{name}" for name in _MIXED),
    *(f"part_kind:{name}" for name in _MIXED),
    *(f"open_kind:{name}" for name in _MIXED),
    *(f"plain:{name}" for name in _PLAIN),
    *(f"plain_kind:{name}" for name in sorted(PLAIN_KINDS)),
    *(f"plain_elsewhere:{name}" for name in sorted(PLAIN_KINDS)),
    *(f"asked_and_settled:{kind}" for kind in KINDS),
    *(f"asked_not_settled:{kind}" for kind in KINDS),
    *(f"{family}_{how}:{kind}" for family in _NEARLY for how in ("met", "missed") for kind in KINDS),
    *(f"clause:{name}" for name in _CLAUSES),
    *(f"refuse:{name}" for name in _REFUSE),
    *(f"ask_back:{name}" for name in _ASK),
)
"""The names of all features, in the order of the weights."""

_AT = {name: place for place, name in enumerate(FEATURES)}
_SETTLED = {kind: _AT[f"asked_and_settled:{kind}"] for kind in KINDS}
_MISSED = {kind: _AT[f"asked_not_settled:{kind}"] for kind in KINDS}
_MET = {
    (family, how, kind): _AT[f"{family}_{how}:{kind}"]
    for family in _NEARLY
    for how in ("met", "missed")
    for kind in KINDS
}
_CLAUSE = {name: _AT[f"clause:{name}"] for name in _CLAUSES}
_GROUP = {name: _AT[f"group:{name}"] for name in GROUPS}
_KIND = {name: _AT[f"plain_kind:{name}"] for name in PLAIN_KINDS}
_ELSEWHERE = {name: _AT[f"plain_elsewhere:{name}"] for name in PLAIN_KINDS}
_FAMILIES = {"non_critical": "aside", "part": "part", "open": "open", "said": "open"}
_START = {family: _AT[f"{family}:covers_term"] for family in ("point", "aside", "part", "open")}
_START_KIND = {family: _AT[f"{family}_kind:overlap_settled"] for family in _START}
_PLAIN_START = _AT["plain:asked"]
_NOT_ASKED = (_PLAIN_START + 1, 1.0)
_NAMED, _LITERAL = _WORDS.index("named"), _WORDS.index("literal")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each candidate beside what stands, then what does for a refusal and for asking back.

    `allowed[i]` is true if the question may be about candidate `i`: it has a word of it, or it asks for its
    kind of thing, and that is one that has no words of its own (an order, a rounding ..). `only` is the
    number of the one candidate whose term has most of the question's words, -1 if there are several or none.
    `names` is false if the question has no word of the request or of a candidate, nor any other telling word.
    """

    beside: list[Vector]
    allowed: list[bool]
    only: int
    names: bool


def evidence(index: Index, question: Question) -> Evidence:
    """Work out what speaks for each candidate."""
    found = overlap(index, question)
    summed = [sum(map(mul, _FIELD_WEIGHTS, shares)) if any(shares) else 0.0 for shares in found.by_field]
    shared = [(one, found.by_field[i]) for i, one in enumerate(index.candidates) if summed[i]]
    best = max(summed, default=0.0)
    only = len(shared) == 1
    elsewhere = _elsewhere(index, question)
    restricted = _restricted(shared) / found.total
    unexplained, unknown = 1 - _explained(shared) / found.total, found.unknown / found.total
    named, of_value = called(index.names, question), called(index.literals, question)
    at_length = [i for i in named if _named_at_length(index.candidates[i], question)]
    names_a_point = any(index.candidates[i].items for i in at_length)
    conditions = index.conditions
    of_open = _numbers(
        _START["open"] + _WORDS.index("restricted"),
        (restricted, unexplained, unknown, conditions > 0, bool(conditions) * unknown),
    )
    of_open += _numbers(_START["open"] + _NAMED, (names_a_point,))
    of_conditions: Vector = []
    if not question.kinds.isdisjoint(_WHO):
        values = (unknown, conditions == 1, unknown * (conditions == 1))
        of_conditions = _numbers(_START["part"] + _WORDS.index("unknown"), values)
    beside = []
    for number, candidate in enumerate(index.candidates):
        vector: Vector = []
        if not question.kinds.isdisjoint(candidate.main_kinds):
            vector = _plain(candidate.main_kinds, question, found.known[number])
        elif candidate.main_kinds:
            vector.append(_NOT_ASKED)
        family = _FAMILIES.get(candidate.group, "point")
        start = _START[family]
        if summed[number]:
            shares = [value / found.total for value in found.by_field[number]]
            covered = found.by_field[number][0] / (index.term_weight[number] or 1.0)
            near = summed[number] / best
            vector += _numbers(
                start, (covered, *shares, covered > 0.95, 0, 0, near, summed[number] < best, only)
            )
            share = _share_settled(candidate, question)
            rest = 1 - share
            vector += _numbers(
                _START_KIND[family],
                (share * near, rest * near, share * covered, rest * covered, number in elsewhere),
            )
            if family in _NEARLY:
                vector += [
                    (_MET[family, "met" if kind in candidate.kinds else "missed", kind], near)
                    for kind in question.kinds
                ]
        if number in named:
            vector.append((start + _NAMED, 1.0))
        if number in of_value:
            vector.append((start + _LITERAL, 1.0))
        if candidate.group == "open":
            vector += of_open
        elif candidate.clause in _CONDITIONS and candidate.group == "part":
            vector += of_conditions
        beside.append(vector)
    plain = not index.plain_kinds.isdisjoint(question.kinds)
    beside.append(_refusal(index, question, found.unknown / found.total, best / found.total, plain))
    beside.append(_asking_back(question, best / found.total, plain))
    guesses = question.guesses and not at_length
    is_known, asked_alone = any(found.known), question.kinds - {"filter", "extent"}
    may_limit = is_known or "extent" in question.kinds or _is_of_time(question)
    allowed = [
        ((known or found.names) and not guesses)
        or (candidate.group == "said" and number in of_value)
        or not asked_alone.isdisjoint(candidate.main_kinds)
        or (candidate.group == "open" and (candidate.clause != "filter" or may_limit))
        for number, (candidate, known) in enumerate(zip(index.candidates, found.known, strict=True))
    ]
    kinds = question.kinds & PLAIN_KINDS
    if kinds:
        allowed = [
            may and not _is_of_another_kind(candidate, kinds)
            for may, candidate in zip(allowed, index.candidates, strict=True)
        ]
    of_term = [i for i, (term, *_) in enumerate(found.by_field) if term and found.known[i] and not guesses]
    alone = len(of_term) == 1 and 2 * found.by_field[of_term[0]][0] > found.total
    lone = of_term[0] if alone and "personal" not in question.said.found else -1
    names = found.names or is_known or not _CLAUSE_STEMS.issuperset(question.content)
    return Evidence(beside, allowed, lone, names)


def _is_of_another_kind(candidate: Candidate, kinds: frozenset[str]) -> bool:
    """Whether a question for plain kinds of thing cannot be about a candidate, whatever words they share."""
    if candidate.clause == "output":
        return kinds == {"order"}
    whole = candidate.answer and candidate.group in ("open", "said")
    return bool(whole) and kinds.isdisjoint(candidate.main_kinds or kinds)


class Standing(NamedTuple):
    """What speaks for a candidate, whatever the words are: always, and if a kind of thing is asked for."""

    always: Vector
    asked: Mapping[str, Vector]


@lru_cache(maxsize=256)
def standing(index: Index) -> tuple[Standing, ...]:
    """Return what stands for each candidate of a brief."""
    return tuple(_standing(candidate, index.plain_kinds) for candidate in index.candidates)


def _standing(candidate: Candidate, plain_kinds: frozenset[str]) -> Standing:
    always = [(_GROUP[candidate.group], 1.0)]
    asked: dict[str, Vector] = {kind: [] for kind in KINDS}
    for kind in plain_kinds - candidate.kinds:
        asked[kind].append((_ELSEWHERE[kind], 1.0))
    if candidate.group != "open":
        for kind in KINDS:
            asked[kind].append(((_SETTLED if kind in candidate.kinds else _MISSED)[kind], 1.0))
        if candidate.clause in _CLAUSE:
            always.append((_CLAUSE[candidate.clause], 1.0))
    return Standing(always, asked)


def vectors(index: Index, question: Question, found: Evidence) -> list[Vector]:
    """Return all that speaks for each candidate, for a refusal and for asking back."""
    whole = [
        [*one.always, *beside, *(feature for kind in question.kinds for feature in one.asked[kind])]
        for one, beside in zip(standing(index), found.beside, strict=False)
    ]
    return whole + found.beside[-2:]


def _is_of_time(question: Question) -> bool:
    """Whether a question asks for a range of dates, and says more than that."""
    return {"filter", "period"} <= question.kinds and not GENERIC_STEMS.issuperset(question.content)


_CONDITIONS = ("where", "having")
_WHO = frozenset({"filter", "category", "unmatched", "null"})

_CLAUSE_STEMS = GENERIC_STEMS | frozenset(
    map(
        stem,
        """aggregate alphabetical any appear arrange ascending blank break breakdown cap called
        decimal descending details digits distinct duplicate dupes else empty first grouped grouping included
        information last limited lines listed matches missing named none null one only ordered ordering
        output repeated return returned rounded rounding rows sequence several shown sorted sorting stand stay
        those top twice unique whole without""".split(),
    )
)
"""Words that a question about a kind of clause has in any task."""


def _restricted(shared: Iterable[tuple[Candidate, Sequence[float]]]) -> float:
    """How much of a question is about values that some condition allows or rules out."""
    conditions = (
        shares[1] + shares[3]
        for candidate, shares in shared
        if candidate.clause in _CONDITIONS or (candidate.items and "category" in candidate.kinds)
    )
    return max(conditions, default=0.0)


def _explained(shared: Iterable[tuple[Candidate, Sequence[float]]]) -> float:
    """How much of a question is about the one point or part that has most of its words."""
    return max((max(shares) for candidate, shares in shared if candidate.group != "open"), default=0.0)


def _numbers(start: int, values: Iterable[float]) -> Vector:
    return [(place, float(value)) for place, value in enumerate(values, start) if value]


def _plain(kinds: frozenset[str], question: Question, known: bool) -> Vector:
    """Whether a kind that can be asked for without naming anything is asked for."""
    asked = kinds & question.kinds
    alone = question.kinds & PLAIN_KINDS <= kinds
    return [(_KIND[min(asked)], 1.0), *_numbers(_PLAIN_START, (1.0, 0.0, alone, known))]


def _named_at_length(candidate: Candidate, question: Question) -> bool:
    return any(len(name) > SHORT_NAME and f" {name} " in question.spaced for name in candidate.names)


def _share_settled(candidate: Candidate, question: Question) -> float:
    if not question.kinds:
        return 0.5
    return len(question.kinds & candidate.kinds) / len(question.kinds)


_PURPOSES = frozenset({"threshold", "period", "category", "order", "limit", "group", "null"})


def _elsewhere(index: Index, question: Question) -> frozenset[int]:
    """Points that are named but do not settle what is asked about them, and the parts that do settle it.

    The threshold of an index is asked for: the index is a point, a part compares it with a number.
    """
    wanted = question.kinds & _PURPOSES
    found: set[int] = set()
    for part, point in index.linked if wanted else ():
        if wanted & index.candidates[part].kinds - index.candidates[point].kinds:
            found |= {part, point}
    return frozenset(found)


def _has_identifier(text: str) -> bool:
    return ("_" in text or "= '" in text) and _IDENTIFIER.search(text) is not None


def _refusal(index: Index, question: Question, unknown: float, best: float, plain: bool) -> Vector:
    own = [one for one in question.stems if one not in index.request and one not in index.spoken]
    subjects = count_subjects(own)
    all_in_all = sum(subjects)
    values: Sequence[float] = (
        1.0,
        asks_for_names(question.said),
        _has_identifier(question.text),
        unknown,
        not best and not plain,
        "personal" in question.said.found,
        len(question.content) > 8,
        "wish" in question.said.found,
        plain,
        best,
        min(all_in_all, 4) / 4,
        min(all_in_all / (len(question.content) or 1), 1.0),
        *(count > 0 for count in subjects),
        *(count > 1 for count in subjects),
    )
    return _numbers(_AT["refuse:always"], values)


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
    return _numbers(_AT["ask_back:always"], values)
