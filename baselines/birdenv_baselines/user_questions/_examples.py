"""Turn questions into the matrices that the weights are fitted to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from birdenv.users.understanding._candidate import FACETS
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question, take_apart
from birdenv.users.understanding._ranking import Vector, evidence, vectors
from birdenv.users.understanding._weights import ASK_BACK, FEATURES, REFUSE, scale, word_runs
from birdenv_baselines.user_questions._questions import Row, is_right

_RARE_WORD, _RARE_RUN = 2, 3
"""A word, or a run of words, is learnt if it occurs in questions about so many databases."""


@dataclass(frozen=True)
class Examples:
    """All questions as matrices.

    Attributes:
        known: the words that are learnt.
        vocabulary: the runs of words that are learnt, with their columns of `runs`.
        rows: the questions.
        runs: a row for each question: what each run of its words counts.
        starts: where the candidates of each question start.
        features, facets, right: a row for each candidate: its features, what it is, whether it is right.
    """

    known: frozenset[str]
    vocabulary: dict[str, int]
    rows: list[Row]
    runs: csr_array
    starts: np.ndarray
    features: csr_array
    facets: csr_array
    right: np.ndarray

    def part(self, keep: Sequence[bool]) -> Examples:
        """Return the questions that are kept."""
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
        """Return the questions without the features whose names begin so; `runs` are the runs of words."""
        kept = [not any(feature.startswith(name) for name in names) for feature in FEATURES]
        features = csr_array(self.features @ diags_array(np.array(kept, dtype=np.float32)))
        return replace(self, features=features, runs=self.runs * np.float32("runs" not in names))


def read_examples(rows: Sequence[Row]) -> Examples:
    """Work out the features of all questions that have a right answer among their candidates."""
    asked = {row.question: take_apart(row.question) for row in rows}
    known, vocabulary = _vocabulary(rows, asked)
    pairs = [(row, found) for row in rows if (found := _candidates(row, asked[row.question])) is not None]
    said = [word_runs(index_of(row.brief), asked[row.question], known) for row, _ in pairs]
    candidates = [one for _, found in pairs for one in found]
    return Examples(
        known=known,
        vocabulary=vocabulary,
        rows=[row for row, _ in pairs],
        runs=_matrix(
            (((vocabulary[run], scale(len(runs))) for run in runs if run in vocabulary) for runs in said),
            len(vocabulary),
        ),
        starts=np.cumsum([0, *(len(found) for _, found in pairs[:-1])]),
        features=_matrix((one.features for one in candidates), len(FEATURES)),
        facets=_matrix((((place, 1.0) for place in one.facets) for one in candidates), len(FACETS)),
        right=np.array([one.right for one in candidates]),
    )


def _matrix(rows: Iterable[Iterable[tuple[int, float]]], width: int) -> csr_array:
    """Return the matrix that has these numbers, each with its column, in its rows."""
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
    """Return the words and the runs of words that are not rare, the runs numbered."""
    seen_words: dict[str, set[str]] = defaultdict(set)
    seen_runs: dict[str, set[str]] = defaultdict(set)
    one_each = {row.question: row for row in rows}
    for question, row in one_each.items():
        for word in asked[question].stems:
            seen_words[word].add(question if row.any_task else row.database)
    known = frozenset(word for word, places in seen_words.items() if len(places) >= _RARE_WORD)
    for question, row in one_each.items():
        for run in word_runs(index_of(row.brief), asked[question], known):
            seen_runs[run].add(question if row.any_task else row.database)
    kept = sorted(run for run, places in seen_runs.items() if len(places) >= _RARE_RUN)
    return known, {run: number for number, run in enumerate(kept)}


@dataclass(frozen=True, slots=True)
class _Example:
    """What a question may be about: its features, its facets, and whether it is a right answer."""

    features: Vector
    facets: tuple[int, ...]
    right: bool


def _candidates(row: Row, asked: Question) -> list[_Example] | None:
    """Return all that a question may be about, a refusal and asking back; None if nothing of it is right."""
    index = index_of(row.brief)
    found = evidence(index, asked)
    *speaking, of_refusal, of_asking = vectors(index, asked, found)
    examples = [
        _Example(vector, facets, is_right(row, candidate))
        for candidate, vector, facets, allowed in zip(
            index.candidates, speaking, index.facets, found.allowed, strict=False
        )
        if allowed
    ]
    reachable = any(example.right for example in examples)
    lost = row.kind in ("labelled", "unlabelled", "kind") and not reachable
    if lost and row.kind != "labelled":
        return None
    examples.append(_Example(of_refusal, (REFUSE,), row.kind == "refuse"))
    examples.append(_Example(of_asking, (ASK_BACK,), row.kind == "ask_back" or lost))
    return examples
