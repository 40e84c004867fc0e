"""Turn questions into the matrices to which the weights are fitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question, take_apart
from birdenv.users.understanding._ranking import ASK_BACK, REFUSE, evidence
from birdenv.users.understanding._weights import Features, scale, tokens_of, word_runs
from birdenv_baselines.user_questions._questions import Row, is_right

_LOST_WEIGHT = 0.1
"""The weight of a question that only a withheld gold SQL settles. The right reply is to ask back."""

_RARE_WORD, _RARE_RUN = 2, 3
"""The minimum number of databases whose questions must contain a word, or a run, for it to be learnt."""


@dataclass(frozen=True)
class Examples:
    """A set of questions as matrices.

    A possible reply to a question is an answer about one of its candidates, a refusal, or a request to
    rephrase. The possible replies to all questions are listed one after the other.

    Attributes:
        known: the words that are learnt.
        vocabulary: the learnt runs (word sequences), with their columns in `runs`.
        rows: the questions.
        runs: the values of the runs in each question; one row per question.
        starts: for each question, the index of its first possible reply.
        feature_names: the names of the other features.
        features: the other features, in the order of their names; one row per possible reply.
        facet_names: the names of the facets.
        facets: 1 for each facet of a reply, in the order of their names; one row per possible reply.
        right: for each possible reply, True if it is right.
    """

    known: frozenset[str]
    vocabulary: dict[str, int]
    rows: list[Row]
    runs: csr_array
    starts: np.ndarray
    feature_names: Sequence[str]
    features: csr_array
    facet_names: Sequence[str]
    facets: csr_array
    right: np.ndarray

    def part(self, keep: Sequence[bool]) -> Examples:
        """Return the questions for which `keep` is True."""
        kept = np.array(keep)
        sizes = np.diff([*self.starts, len(self.right)])
        of = np.repeat(kept, sizes)
        return replace(
            self,
            rows=[row for row, is_kept in zip(self.rows, keep, strict=True) if is_kept],
            runs=self.runs[kept],
            starts=np.concatenate([[0], np.cumsum(sizes[kept])[:-1]]),
            features=self.features[of],
            facets=self.facets[of],
            right=self.right[of],
        )

    def without(self, names: Sequence[str]) -> Examples:
        """Return the questions with some features set to zero.

        Args:
            names: prefixes of feature names. "runs" selects all runs (word sequences).
        """
        kept = [not any(feature.startswith(name) for name in names) for feature in self.feature_names]
        features = csr_array(self.features @ diags_array(np.array(kept, dtype=np.float32)))
        return replace(self, features=features, runs=self.runs * np.float32("runs" not in names))


def read_examples(rows: Sequence[Row]) -> Examples:
    """Compute the features of all questions that have a right answer among their possible replies."""
    asked = {row.question: take_apart(row.question) for row in rows}
    known, vocabulary = _vocabulary(rows, asked)
    pairs = [
        (replace(row, weight=row.weight * found.weight), found)
        for row in rows
        if (found := _candidates(row, asked[row.question], known))
    ]
    candidates = [one for _, found in pairs for one in found.examples]

    def counted(runs: Sequence[str], of: int) -> list[tuple[int, float]]:
        return [(vocabulary[run], scale(of)) for run in runs if run in vocabulary]

    feature_names = sorted({name for one in candidates for name in one.features})
    facet_names = sorted({name for one in candidates for name in one.facets})
    column = {name: number for number, name in enumerate(feature_names)}
    facet = {name: number for number, name in enumerate(facet_names)}
    return Examples(
        known=known,
        vocabulary=vocabulary,
        rows=[row for row, _ in pairs],
        runs=_matrix((counted(found.runs, len(found.runs)) for _, found in pairs), len(vocabulary)),
        starts=np.cumsum([0, *(len(found.examples) for _, found in pairs[:-1])]),
        feature_names=feature_names,
        features=_matrix(
            (((column[name], value) for name, value in one.features.items() if value) for one in candidates),
            len(column),
        ),
        facet_names=facet_names,
        facets=_matrix((((facet[name], 1.0) for name in one.facets) for one in candidates), len(facet)),
        right=np.array([one.right for one in candidates]),
    )


def _matrix(rows: Iterable[Iterable[tuple[int, float]]], width: int) -> csr_array:
    """Return a sparse matrix, given pairs of a column and a value for each row."""
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for row in rows:
        for column, value in row:
            columns.append(column)
            values.append(value)
        ends.append(len(columns))
    found = csr_array((np.array(values, dtype=np.float32), columns, ends), shape=(len(ends) - 1, width))
    found.sum_duplicates()
    return found


def _vocabulary(rows: Sequence[Row], asked: Mapping[str, Question]) -> tuple[frozenset[str], dict[str, int]]:
    """Return the words that are not rare, and the runs that are not rare, with their numbers."""
    seen_words: dict[str, set[str]] = defaultdict(set)
    seen_runs: dict[str, set[str]] = defaultdict(set)
    one_each = {row.question: row for row in rows}
    for question, row in one_each.items():
        for word in asked[question].stems:
            seen_words[word].add(question if row.any_task else row.database)
    known = frozenset(word for word, places in seen_words.items() if len(places) >= _RARE_WORD)
    for question, row in one_each.items():
        index = index_of(row.brief)
        tokens = tokens_of(index, asked[question], known)
        for run in word_runs(tokens):
            seen_runs[run].add(question if row.any_task else row.database)
    kept = sorted(run for run, places in seen_runs.items() if len(places) >= _RARE_RUN)
    return known, {run: number for number, run in enumerate(kept)}


@dataclass(frozen=True, slots=True)
class _Example:
    """A possible reply: its features, its facets, and whether it is right."""

    features: Features
    facets: tuple[str, ...]
    right: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """The runs in a question, the possible replies, and the relative weight of the question."""

    runs: Sequence[str]
    examples: Sequence[_Example]
    weight: float


def _candidates(row: Row, asked: Question, known: frozenset[str]) -> _Asked | None:
    """Return the possible replies to a question, or None if none of them is right."""
    index = index_of(row.brief)
    found, tokens = evidence(index, asked), tokens_of(index, asked, known)
    examples = [
        _Example(vector, index.facets[number], is_right(row, index.candidates[number]))
        for number, vector in found.vectors.items()
    ]
    lost = row.kind in ("labelled", "unlabelled", "kind") and not any(one.right for one in examples)
    if lost and row.kind == "kind":
        return None
    weight = _LOST_WEIGHT if lost and row.kind == "unlabelled" else 1.0
    examples.append(_Example(found.refusal, REFUSE, row.kind == "refuse"))
    examples.append(_Example(found.asking_back, ASK_BACK, row.kind == "ask_back" or lost))
    return _Asked(word_runs(tokens), examples, weight)
