"""What speaks for and against each reading of a question: one short list of numbers a candidate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from birdenv.users.understanding._candidates import Candidate, Index
from birdenv.users.understanding._kinds import KINDS, asked_kinds
from birdenv.users.understanding._scope import asks_for_names
from birdenv.users.understanding._thesaurus import SYNONYMS
from birdenv.users.understanding._words import (
    ASIDE_STEMS,
    FRAME_STEMS,
    clean,
    content_words,
    stem,
    trigrams,
    words,
)

Vector: TypeAlias = list[tuple[int, float]]
"""The numbers that are not zero, each with its place among the features."""

_POINT = ("covers_term", "term", "sql", "notes", "whole_term", "named", "quoted", "literal", "best", "second")
_GROUPS = ("critical", "knowledge", "non_critical", "part", "open")
_CLAUSES = (
    "where",
    "having",
    "select",
    "output",
    "group",
    "order",
    "limit",
    "distinct",
    "join",
    "assign",
    "create",
)
_TECHNICAL = (
    r"tables?", r"columns?", r"fields?", r"schema|ddl|structure", r"join(?:s|ed|ing)?", r"(?:foreign |primary )?keys?",
    r"sql|cte|subquer\w+|select|where|having|group by|clause|window functions?|update|insert", r"quer(?:y|ies)|code",
    r"database|engine", r"data types?|integer|text|boolean|nullable|format", r"json|path", r"stored?|stores?|hold|holds"
    r"|contains?|linked|related|connected?|relations?", r"rows", r"index(?:es)?", r"names?", r"solution|answer|approach|way to",
    r"(?:possible|what|distinct) values",
)  # fmt: skip
_REFUSE = (
    "always", "names", "unknown", "nothing_known", "personal", "long", "wish",
    *(f"technical_{number}" for number in range(len(_TECHNICAL))),
)  # fmt: skip
_ASK = ("always", "no_content", "nothing_known", "short", "some_kind", "best")

FEATURES: tuple[str, ...] = (
    *(f"group:{name}" for name in _GROUPS),
    *(f"point:{name}" for name in _POINT),
    *(f"part:{name}" for name in _POINT),
    *(f"simple:{name}" for name in _POINT),
    *(f"asked_and_settled:{kind}" for kind in KINDS),
    *(f"asked_not_settled:{kind}" for kind in KINDS),
    *(f"clause:{name}" for name in _CLAUSES),
    *(f"open_asked:{name}" for name in ("yes", "best", "known")),
    *(f"refuse:{name}" for name in _REFUSE),
    *(f"ask_back:{name}" for name in _ASK),
)
"""The names of all features, in the order of the weights."""

_AT = {name: place for place, name in enumerate(FEATURES)}
_TECHNICAL_WORDS = tuple(re.compile(rf"\b(?:{words})\b") for words in _TECHNICAL)
_WISH = re.compile(
    r"\b(?:you (?:want|like|need|see|wish|prefer|mean|expect)|(?:result|output|list|report|figure)s? (?:\w+ )?(?:have|contain|include|show)"
    r"|in the (?:\w+ )?(?:result|output|list|report)s?|should (?:i|be|we) (?:show|list|include|display|report|return|shown|listed)\w*)\b"
)
_PERSONAL = re.compile(
    r"\b(?:why|who (?:are|is|else)|your (?:day|name|boss|opinion)|do you (?:think|know|like)|recommend|joke|weather"
    r"|capital|president|hello|thanks?|how are you|legal|fair|hint|steps)\b"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart: its text made comparable, its words and stems, and the kinds it asks for."""

    text: str
    spaced: str
    content: tuple[str, ...]
    kinds: frozenset[str]


def take_apart(question: str) -> Question:
    """Make a question comparable; beyond 2,000 characters it is not read."""
    text = clean(question[:2000])
    said = words(text)
    content = tuple(dict.fromkeys(map(stem, content_words(said))))
    return Question(text, f" {' '.join(said)} ", content, asked_kinds(" ".join(said)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The vectors of all candidates, then that of a refusal and that of asking back.

    `known[i]` is whether the question has a word of its own that candidate `i` has.
    """

    vectors: list[Vector]
    known: list[bool]


def evidence(index: Index, question: Question) -> Evidence:
    """Work out what speaks for each candidate."""
    size = len(index.candidates)
    overlap = [[0.0, 0.0, 0.0] for _ in range(size)]
    own = [False] * size
    total = unknown = 0.0
    for word in question.content:
        found = _meant(index, word)
        if not found:
            total += _unseen(size, word)
            unknown += _unseen(size, word)
            continue
        total += max(index.weight[other] for other, _ in found)
        plain = word in ASIDE_STEMS or word in FRAME_STEMS
        for other, share in found:
            weight = index.weight[other] * share
            for number, field in index.postings[other]:
                overlap[number][field] = overlap[number][field] + weight
                own[number] = own[number] or not plain or field == 0
    total = total or 1.0
    summed = [row[0] + 0.7 * row[1] + 0.4 * row[2] for row in overlap]
    best = max(summed, default=0.0)
    vectors = [
        _vector(candidate, question, overlap[i], total, index.term_weight[i], summed[i], best)
        for i, candidate in enumerate(index.candidates)
    ]
    vectors.append(_refusal(question, unknown / total, best))
    vectors.append(_asking_back(question, best / total))
    return Evidence(vectors, own)


def _unseen(size: int, word: str) -> float:
    return 0.25 if word in ASIDE_STEMS else 0.6 if size < 4 else 1.0


_SYNONYM = 0.6
_ALIKE = 0.58


def _meant(index: Index, word: str) -> list[tuple[str, float]]:
    """The words of the index that are meant, and how surely: itself, else its synonyms, else a spelling."""
    found: list[tuple[str, float]] = []
    if word in index.postings:
        found.append((word, 1.0))
        if word in index.spoken:
            return found
    synonyms = [other for other in SYNONYMS.get(word, ()) if other in index.spoken]
    found += [(other, _SYNONYM) for other in synonyms]
    if found or len(word) < 5:
        return found
    return _spelt(index, word)


def _spelt(index: Index, word: str) -> list[tuple[str, float]]:
    own = trigrams(word)
    shared: dict[str, int] = {}
    for letters in own:
        for other in index.spellings.get(letters, ()):
            shared[other] = shared.get(other, 0) + 1
    best, meant = 0.0, ""
    for other in sorted(shared):
        alike = 2 * shared[other] / (len(own) + len(other))
        if alike > best:
            best, meant = alike, other
    return [(meant, best)] if best >= _ALIKE else []


def _vector(
    candidate: Candidate,
    question: Question,
    overlap: list[float],
    total: float,
    term_weight: float,
    summed: float,
    best: float,
) -> Vector:
    vector: Vector = [(_AT[f"group:{candidate.group}"], 1.0)]
    if candidate.group == "open":
        if candidate.clause in question.kinds:
            vector.append((_OPEN_YES, 1.0))
        vector += [(_OPEN_BEST, best / total), (_OPEN_KNOWN, float(best > 0))]
        return vector
    start = _STARTS[candidate.group]
    term, sql, notes = overlap
    if summed:
        vector += [(start + 2, sql / total), (start + 3, notes / total)]
        if term:
            covered = term / term_weight if term_weight else 0.0
            vector += [(start, covered), (start + 1, term / total)]
            if covered > 0.95:
                vector.append((start + 4, 1.0))
        vector.append((start + 8, summed / best))
        if summed < best:
            vector.append((start + 9, 1.0))
    if any(f" {name} " in question.spaced for name in candidate.names):
        vector.append((start + 5, 1.0))
        if any(f"'{name}'" in question.text for name in candidate.names):
            vector.append((start + 6, 1.0))
    if any(f" {literal} " in question.spaced for literal in candidate.literals):
        vector.append((start + 7, 1.0))
    for kind in question.kinds:
        vector.append(((_SETTLED if kind in candidate.kinds else _MISSED)[kind], 1.0))
    if candidate.clause in _CLAUSE_AT:
        vector.append((_CLAUSE_AT[candidate.clause], 1.0))
    return vector


_STARTS = {
    "critical": _AT["point:covers_term"],
    "knowledge": _AT["point:covers_term"],
    "non_critical": _AT["simple:covers_term"],
    "part": _AT["part:covers_term"],
}
_SETTLED = {kind: _AT[f"asked_and_settled:{kind}"] for kind in KINDS}
_MISSED = {kind: _AT[f"asked_not_settled:{kind}"] for kind in KINDS}
_CLAUSE_AT = {name: _AT[f"clause:{name}"] for name in _CLAUSES}
_OPEN_YES, _OPEN_BEST, _OPEN_KNOWN = (_AT[f"open_asked:{name}"] for name in ("yes", "best", "known"))


def _refusal(question: Question, unknown: float, best: float) -> Vector:
    values = (
        1.0,
        float(asks_for_names(question.spaced)),
        unknown,
        float(not best),
        float(_PERSONAL.search(question.spaced) is not None),
        float(len(question.content) > 8),
        float(_WISH.search(question.spaced) is not None),
        *(float(pattern.search(question.spaced) is not None) for pattern in _TECHNICAL_WORDS),
    )
    return [(_AT["refuse:always"] + i, value) for i, value in enumerate(values) if value]


def _asking_back(question: Question, best: float) -> Vector:
    telling = [word for word in question.content if word not in ASIDE_STEMS and word not in FRAME_STEMS]
    values = (
        1.0,
        float(not telling),
        float(not best),
        float(len(question.spaced.split()) < 6),
        float(bool(question.kinds)),
        best,
    )
    return [(_AT["ask_back:always"] + i, value) for i, value in enumerate(values) if value]
