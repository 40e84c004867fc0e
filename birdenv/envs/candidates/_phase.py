"""One phase of a task as it is shown: spans, candidates, and how texts fit these. Public text only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates._layout import CandidateColumn, Layout, SpanColumn
from birdenv.envs.candidates._request_words import RequestPhrase, phrases, words_of, words_of_sql
from birdenv.sql import is_single_query, may_write

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

_ARTICLES: Final = frozenset("the our their its these those all any".split())
_PREPOSITIONS: Final = frozenset("by of per for with in on to each from".split())
_ASKS: Final = frozenset("which what how who whose when where list give show name find".split())
_ROWS: Final = re.compile(r"\((\d+) rows?")
_MOST_ROWS: Final = 1000


class ShownPhase:
    """The text of one phase, and arrays made of it.

    Attributes:
        phrases: the spans that can be asked about.
        sqls: the candidates.
        spans: shape (spans, SpanColumn), float32.
        candidates: shape (candidates, CandidateColumn), float32.
        readable: which candidates may be executed: those that only read. Shape (candidates,).
    """

    def __init__(self, layout: Layout, request: str, notes: str, sqls: Sequence[str], dialect: str) -> None:
        self.phrases = phrases(request)[: layout.spans]
        self.sqls = tuple(sqls)
        self._size = layout.candidates
        bags = [words_of_sql(sql) for sql in sqls]
        spread = Counter(word for bag in bags for word in bag)
        self._weights = [
            {word: log(len(bags) / spread[word]) for word in bag if spread[word] < len(bags)} for bag in bags
        ]
        shared = frozenset(word for word, count in spread.items() if count == len(bags))
        self.spans = np.zeros((layout.spans, len(SpanColumn)), np.float32)
        known = _known(notes.replace(request, " "))
        for place, phrase in enumerate(self.phrases):
            self.spans[place] = _describe(phrase, place, request, layout, known, shared, frozenset(spread))
        self.candidates = np.zeros((layout.candidates, len(CandidateColumn)), np.float32)
        self.candidates[: len(sqls), CandidateColumn.EXISTS] = 1.0
        fit = self.fit(request)
        self.candidates[:, CandidateColumn.REQUEST] = fit
        self.candidates[: len(sqls), CandidateColumn.FITS_REQUEST] = is_best(fit)[: len(sqls)]
        self.readable = np.zeros(layout.candidates, np.bool_)
        self.readable[: len(sqls)] = [is_single_query(sql, dialect) and not may_write(sql) for sql in sqls]

    def fit(self, text: str) -> Floats:
        """Return how well a text fits each candidate: rare words in common, the best being 1.

        All are 0 if the text has no word in which the candidates differ.
        """
        said = words_of(text)
        found = np.zeros(self._size, np.float32)
        for place, weights in enumerate(self._weights):
            found[place] = sum(weights[word] for word in sorted(said & weights.keys()))
        best = found.max(initial=0.0)
        return found / best if best > 0 else found


NEAR: Final = 1e-3
"""Fits that differ by less are the same."""


def is_best(fit: Floats) -> Flags:
    """Return which candidates none fits better than, along the last axis."""
    best: Flags = fit >= fit.max(axis=-1, keepdims=True) - NEAR
    return best


def rows_shown(reply: str, sender: str) -> float:
    """Return how many rows a result has, from 0 to 1 on a logarithmic scale; -1 if there was none."""
    counted = _ROWS.search(reply) if sender == "database" else None
    if counted is None:
        return -1.0
    return min(log(1 + int(counted.group(1))) / log(1 + _MOST_ROWS), 1.0)


@lru_cache(maxsize=256)
def _known(notes: str) -> frozenset[str]:
    return words_of(notes)


def _describe(
    phrase: RequestPhrase,
    place: int,
    request: str,
    layout: Layout,
    known: frozenset[str],
    shared: frozenset[str],
    used: frozenset[str],
) -> Floats:
    words = [next(iter(words_of(word)), word.lower()) for word in re.split(r"[\s'’-]+", phrase.text) if word]
    unknown = [word not in known for word in words]
    sentences = re.split(r"(?<=[.?!])\s+", request)
    sentence = sentences[phrase.sentence] if phrase.sentence < len(sentences) else ""
    first = sentence.split()[0].lower() if sentence.split() else ""
    row = np.zeros(len(SpanColumn), np.float32)
    values = {
        SpanColumn.EXISTS: 1.0,
        SpanColumn.POSITION: (place + 1) / layout.spans,
        SpanColumn.WORDS: len(words) / 4,
        SpanColumn.UNKNOWN: sum(unknown) / len(words),
        SpanColumn.ALL_UNKNOWN: all(unknown),
        SpanColumn.FIRST_UNKNOWN: unknown[0],
        SpanColumn.IN_ALL: sum(word in shared for word in words) / len(words),
        SpanColumn.IN_SOME: sum(word in used and word not in shared for word in words) / len(words),
        SpanColumn.LAST_IN_ALL: words[-1] in shared,
        SpanColumn.FIRST_SENTENCE: phrase.sentence == 0,
        SpanColumn.LAST_SENTENCE: phrase.sentence == len(sentences) - 1,
        SpanColumn.QUESTION: first in _ASKS or sentence.endswith("?"),
        SpanColumn.BEFORE_NUMBER: phrase.number_after,
        SpanColumn.AFTER_ARTICLE: phrase.after in _ARTICLES,
        SpanColumn.AFTER_PREPOSITION: phrase.after in _PREPOSITIONS,
    }
    for column, value in values.items():
        row[column] = min(float(value), 1.0)
    return row
