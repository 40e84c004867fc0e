"""Fit the weights: a conditional logit.

Of all that a question may be about, the right candidates together get the probability. The products of sparse
matrices add up in a fixed order, so that the same questions give the same weights.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from birdenv.users.understanding._candidate import FACETS
from birdenv.users.understanding._weights import FEATURES, REFUSE, Weights
from birdenv_baselines.user_questions._examples import Examples

_RIDGE, _RIDGE_OF_RUNS, _RIDGE_OF_REFUSALS = 0.6, 0.3, 0.15
"""Of features, of what runs of words say for a reading, and of what they say for a refusal.

A refusal is known by many words that each occur once or twice.
"""
_STEPS = ((60, 4), (25, 2), (35, 1))
"""Gradient steps, each time with so many times as many weights of runs as are kept: the largest ones."""

KEPT = 9_000
"""The weights of runs of words that are kept: ten times as many hardly do better."""


class _Adam:
    """Numbers that are moved against their gradient, each by its own pace (Kingma and Ba, 2015)."""

    def __init__(self, shape: tuple[int, ...], ridge: float) -> None:
        self.values = np.zeros(shape, dtype=np.float32)
        self.ridge = np.full(shape, ridge, dtype=np.float32)
        self._mean, self._square = np.zeros_like(self.values), np.zeros_like(self.values)
        self._kept = np.ones(shape, dtype=bool)

    def step(self, number: int, gradient: np.ndarray) -> None:
        """Take one step; `number` counts from 1."""
        gradient = (gradient + self.ridge * self.values) * self._kept
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient**2 - self._square)
        change = self._mean / (1 - 0.9**number) / (np.sqrt(self._square / (1 - 0.999**number)) + 1e-8)
        self.values -= 0.1 * self._kept * change

    def keep(self, most: int) -> np.ndarray:
        """Keep the largest values, of equal ones the first, and return the rows that have any of them."""
        largest = np.argsort(-np.abs(self.values), axis=None, kind="stable")[:most]
        self._kept = np.zeros(self.values.shape, dtype=bool)
        self._kept.flat[largest] = True
        rows = np.flatnonzero(self._kept.any(axis=1))
        self.values = (self.values * self._kept)[rows]
        self.ridge, self._kept = self.ridge[rows], self._kept[rows]
        self._mean, self._square = self._mean[rows], self._square[rows]
        return rows


def fit(examples: Examples) -> Weights:
    """Fit the weights by gradient steps on the ridge-penalised likelihood; few runs keep a weight."""
    share = np.array([row.weight for row in examples.rows], dtype=np.float32)
    of = np.repeat(np.arange(len(share)), np.diff([*examples.starts, len(examples.right)]))
    features = _Adam((len(FEATURES),), _RIDGE)
    runs = _Adam((examples.runs.shape[1], len(FACETS)), _RIDGE_OF_RUNS)
    runs.ridge[:, REFUSE] = _RIDGE_OF_REFUSALS
    of_facets = _picked(examples, of)
    of_features, back = examples.features.T.tocsr(), of_facets.T.tocsr()
    names, said = np.array(list(examples.vocabulary)), examples.runs
    step = 0
    for steps, times in _STEPS:
        if step:
            rows = runs.keep(times * KEPT)
            names, said = names[rows], said[:, rows]
        of_runs = said.T.tocsr()
        for _ in range(steps):
            step += 1
            scores = examples.features @ features.values + of_facets @ (said @ runs.values).ravel()
            top = np.maximum.reduceat(scores, examples.starts)[of]
            odds = np.exp(scores - top)
            chance = odds / np.add.reduceat(odds, examples.starts)[of]
            good = np.where(examples.right, odds, np.float32(0.0))
            wanted = good / np.add.reduceat(good, examples.starts)[of]
            missed = (chance - wanted) * share[of]
            features.step(step, of_features @ missed)
            runs.step(step, of_runs @ (back @ missed).reshape(len(share), len(FACETS)))
    learnt = {str(name): _rounded(row) for name, row in zip(names, runs.values, strict=True)}
    learnt = {run: said for run, said in learnt.items() if said}
    return Weights(tuple(round(float(value), 3) for value in features.values), learnt, examples.known)


def _picked(examples: Examples, of: np.ndarray) -> csr_array:
    """Return the matrix that picks each candidate's facets from those of all questions, side by side."""
    facets = examples.facets
    question = np.repeat(of, np.diff(facets.indptr))
    columns = question * facets.shape[1] + facets.indices
    shape = (facets.shape[0], len(examples.rows) * facets.shape[1])
    return csr_array((facets.data, columns, facets.indptr), shape=shape)


def _rounded(row: np.ndarray) -> tuple[tuple[int, float], ...]:
    return tuple((place, round(float(value), 2)) for place, value in enumerate(row) if abs(value) >= 0.005)
