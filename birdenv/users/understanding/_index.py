"""The index of a task: everything that a question may be about, and where each word occurs."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from birdenv.users._brief import Brief
from birdenv.users.understanding._candidate import FIELDS, Candidate, facets_of
from birdenv.users.understanding._candidate_words import stems_in, subject_stems
from birdenv.users.understanding._candidates import candidates_of
from birdenv.users.understanding._left_open import mentioned_in
from birdenv.users.understanding._word_forms import (
    ASIDE_STEMS,
    MEASURE_WORDS,
    NAMING_STEMS,
    SYNONYMS,
    clean,
    stem,
    trigrams,
    words,
)

ITSELF, SYNONYM = 1.0, 0.6
"""The certainty that one word means another: 1 for the word itself, less for a synonym."""

Calls: TypeAlias = Mapping[str, tuple[tuple[str, int], ...]]
"""Names or values by first word, each with spaces around it and with the index of its candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The candidates for a task, and where each stem occurs in them.

    Attributes:
        candidates: everything that a question can be about.
        postings: for each stem, the places where it occurs, as pairs of a candidate's index and an index in
            `FIELDS`.
        meant: for each stem that is not in `spoken`, the stems that it may mean and how surely, from 0 to 1.
        names: the forms of the candidates' terms, by their first words.
        literals: the values in the candidates' SQL, by their first words.
        weight: how distinctive each stem is.
        term_weight: for each candidate, the total weight of the words in its term.
        spoken: the stems in annotated terms and in SQL.
        unused: the stems from columns that the gold SQL does not use.
        request: the stems in the request.
        named: everyday words that occur in the request and therefore refer to something in this task.
        measures: words for measures that occur in the request.
        spellings: the spoken stems by first letter, with their sequences of three letters, to interpret
            misspelt words.
        plain_kinds: the kinds of thing that a question about this task can ask for without naming anything.
        mentioned: the kinds of thing that the request mentions.
        facets: for each candidate, the indices of its facets in `FACETS`.
        restricting: the indices of the candidates that restrict which rows count.
        subjects: the stems of the words for what the request lists (see `subject_stems`).
        follows: True if the task is a follow-up.
    """

    candidates: tuple[Candidate, ...]
    postings: Mapping[str, tuple[tuple[int, int], ...]]
    meant: Mapping[str, tuple[tuple[str, float], ...]]
    names: Calls
    literals: Calls
    weight: Mapping[str, float]
    term_weight: tuple[float, ...]
    spoken: frozenset[str]
    unused: frozenset[str]
    request: frozenset[str]
    named: frozenset[str]
    measures: frozenset[str]
    spellings: Mapping[str, Sequence[tuple[str, frozenset[str]]]]
    plain_kinds: frozenset[str]
    mentioned: frozenset[str]
    facets: tuple[tuple[int, ...], ...]
    restricting: tuple[int, ...]
    subjects: frozenset[str]
    follows: bool


def _meant(spoken: Iterable[str], others: Iterable[str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the possible meanings of words that are not `spoken`. Words in `others` also mean themselves."""
    alike: dict[str, list[tuple[str, float]]] = {word: [(word, ITSELF)] for word in others}
    for word in sorted(spoken):
        for other in SYNONYMS.get(word, ()):
            alike.setdefault(other, []).append((word, SYNONYM))
    return {word: tuple(found) for word, found in alike.items()}


def _calls(called: Iterable[Iterable[str]]) -> Calls:
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, forms in enumerate(called):
        for form in forms:
            found[form.partition(" ")[0]].append((f" {form} ", number))
    return {word: tuple(calls) for word, calls in found.items()}


def _restricts(candidate: Candidate) -> bool:
    """Return whether a candidate is a condition, annotated or not."""
    if candidate.items:
        missing = any(sql.upper().endswith(" IS NOT NULL") for sql in candidate.sql)
        return missing or not candidate.kinds.isdisjoint(("category", "threshold", "period"))
    return candidate.group == "part" and candidate.clause in ("where", "having")


@lru_cache(maxsize=256)
def index_of(brief: Brief) -> Index:
    """Return the index for `brief`, which is built on the first call and then cached."""
    found, request = candidates_of(brief), brief.request
    holders: dict[str, set[tuple[int, int]]] = defaultdict(set)
    spread: Counter[str] = Counter()
    for number, (_, fields) in enumerate(found):
        for place, field in enumerate(FIELDS):
            for word in fields.get(field, ()):
                holders[word].add((number, place))
        spread.update(set[str]().union(*fields.values()))
    many = max(len(found), 2)
    weight = {
        word: round(math.log(1 + many / times) * (0.35 if word in ASIDE_STEMS else 1.0), 6)
        for word, times in spread.items()
    }
    is_open = [candidate.group == "open" for candidate, _ in found]
    spoken = frozenset(
        word
        for word, places in holders.items()
        if any(place < 2 and not is_open[number] for number, place in places)
    )
    unused = frozenset(
        word for word, places in holders.items() if all(is_open[number] for number, _ in places)
    )
    spellings: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for word in sorted(spoken):
        if len(word) > 3:
            spellings[word[0]].append((word, trigrams(word)))
    terms = tuple(
        round(sum(weight[word] for word in sorted(fields.get("term", ()))), 6) for _, fields in found
    )
    return Index(
        candidates=tuple(candidate for candidate, _ in found),
        postings={word: tuple(sorted(places)) for word, places in holders.items()},
        meant=_meant(spoken, holders.keys() - spoken),
        names=_calls(candidate.names for candidate, _ in found),
        literals=_calls(candidate.literals for candidate, _ in found),
        weight=weight,
        term_weight=terms,
        spoken=spoken,
        unused=unused,
        request=frozenset(stems_in(request)),
        named=NAMING_STEMS & frozenset(map(stem, words(clean(request)))),
        measures=MEASURE_WORDS.intersection([*words(clean(request)), *_YEARS * bool(_YEAR.search(request))]),
        spellings=spellings,
        facets=tuple(facets_of(candidate) for candidate, _ in found),
        mentioned=mentioned_in(request),
        restricting=tuple(number for number, (one, _) in enumerate(found) if _restricts(one)),
        plain_kinds=frozenset().union(*(candidate.main_kinds for candidate, _ in found)),
        subjects=subject_stems(brief),
        follows=bool(brief.inherited or brief.earlier_gold),
    )


_YEARS = ("year", "years")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
"""A request that contains a year, such as 2024, mentions years."""
