"""The index of a task: everything that a question may be about, and where each word occurs."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from birdenv.users._brief import Brief
from birdenv.users.understanding._candidate import FIELDS, Candidate, facets_of
from birdenv.users.understanding._candidate_words import stems_in, subject_stems
from birdenv.users.understanding._candidates import candidates_of
from birdenv.users.understanding._left_open import mentioned_in
from birdenv.users.understanding._word_forms import (
    ASIDE_STEMS,
    SYNONYMS,
    clean,
    stem,
    stem_list,
    words,
)

_SYNONYM = 0.6
"""The certainty that a word means its synonym; for the word itself, it is 1."""

Calls: TypeAlias = Mapping[str, tuple[tuple[str, int], ...]]
"""Names or values by first word, each with spaces around it and with the index of its candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The candidates for a task, and where each stem occurs in them.

    Attributes:
        candidates: everything that a question can be about.
        postings: for each stem, the places where it occurs, as pairs of a candidate's index and an index in
            `FIELDS`.
        meant: for each stem, the stems that it may mean and how surely, from 0 to 1. A stem of the class "#"
            means only itself.
        names: the forms of the candidates' terms, by their first words.
        values: the values in the candidates' SQL, by their first words.
        weight: how distinctive each stem is.
        term_weight: for each candidate, the total weight of the words in its term.
        classes: for each stem, the class that replaces it where it is too rare to be learnt: "#" in annotated
            terms and in SQL, "-" in `unused`, and "+" only in notes.
        unused: the stems from columns that the gold SQL does not use.
        request: the stems in the request.
        named: everyday words that occur in the request and therefore refer to something in this task. A year
            such as 2024 counts as the word "year".
        plain_kinds: the kinds of thing that a question about this task can ask for without naming anything.
        mentioned: the kinds of thing that the request mentions.
        facets: for each candidate, its facets (see `facets_of`).
        restricting: the indices of the candidates that restrict which rows count.
        follows: True if the task is a follow-up.
        subjects: the stems of the words for what the request lists (see `subject_stems`).
        long_words: the long words of the request and of the terms, by first letter.
    """

    candidates: tuple[Candidate, ...]
    postings: Mapping[str, tuple[tuple[int, int], ...]]
    meant: Mapping[str, Sequence[tuple[str, float]]]
    names: Calls
    values: Calls
    weight: Mapping[str, float]
    term_weight: tuple[float, ...]
    classes: Mapping[str, str]
    unused: frozenset[str]
    request: frozenset[str]
    named: frozenset[str]
    plain_kinds: frozenset[str]
    mentioned: frozenset[str]
    facets: tuple[tuple[str, ...], ...]
    restricting: tuple[int, ...]
    follows: bool
    subjects: frozenset[str]
    long_words: Mapping[str, tuple[str, ...]]


_LONG = 6
"""The minimum number of letters in a word whose typing errors are recognised."""


def _meant(spoken: Iterable[str], others: Iterable[str]) -> dict[str, list[tuple[str, float]]]:
    """Return the possible meanings of words: each word itself, and `spoken` words for their synonyms."""
    alike = {word: [(word, 1.0)] for word in others}
    for word in sorted(spoken):
        for other in SYNONYMS.get(word, ()):
            alike.setdefault(other, []).append((word, _SYNONYM))
    return alike | {word: [(word, 1.0)] for word in spoken}


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
    for number, candidate in enumerate(found):
        for place, field in enumerate(FIELDS):
            for word in candidate.stems.get(field, ()):
                holders[word].add((number, place))
        spread.update(set[str]().union(*candidate.stems.values()))
    many = max(len(found), 2)
    weight = {
        word: round(math.log(1 + many / times) * (0.35 if word in ASIDE_STEMS else 1.0), 6)
        for word, times in spread.items()
    }
    is_open = [candidate.group == "open" for candidate in found]
    spoken = frozenset(
        word
        for word, places in holders.items()
        if any(place < 2 and not is_open[number] for number, place in places)
    )
    unused = frozenset(
        word for word, places in holders.items() if all(is_open[number] for number, _ in places)
    )
    texts = (request, *(" ".join(one.names) for one in found))
    long_words = [word for text in texts for word in words(clean(text)) if len(word) >= _LONG]
    terms = tuple(round(sum(weight[word] for word in sorted(one.stems.get("term", ()))), 6) for one in found)
    return Index(
        candidates=tuple(found),
        postings={word: tuple(sorted(places)) for word, places in holders.items()},
        meant=_meant(spoken, holders.keys() - spoken),
        names=_calls(candidate.names for candidate in found),
        values=_calls(candidate.values for candidate in found),
        weight=weight,
        term_weight=terms,
        classes={word: "#" if word in spoken else "-" if word in unused else "+" for word in holders},
        unused=unused,
        request=frozenset(stems_in(request)),
        named=_NAMING & frozenset(map(stem, words(clean(_YEAR.sub("year", request))))),
        facets=tuple(map(facets_of, found)),
        mentioned=mentioned_in(request),
        restricting=tuple(number for number, one in enumerate(found) if _restricts(one)),
        follows=bool(brief.inherited or brief.earlier_gold),
        plain_kinds=frozenset().union(*(candidate.main_kinds for candidate in found)),
        subjects=subject_stems(brief),
        long_words={letter: tuple(same) for letter, same in groupby(sorted(set(long_words)), itemgetter(0))},
    )


_NAMING = stem_list("naming")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
