"""Fit the weights of a conditional logit model.

The model maximises the total probability of the right replies among all possible replies to a question.
Sparse matrix products are summed in a fixed order, so that identical questions give identical weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from birdenv.users.understanding._ranking import REFUSE
from birdenv.users.understanding._weights import Weights
from birdenv_baselines.user_questions._examples import Examples

_RIDGE, _RIDGE_OF_RUNS, _RIDGE_OF_REFUSALS = 0.6, 0.3, 0.2
"""The ridge penalties for features, for runs, and for runs as evidence for a refusal.

The last penalty is smaller because many words that indicate a refusal occur only once or twice.
"""
_STEPS = ((60, 4), (25, 2), (35, 1))
"""Pairs of a number of gradient steps and a multiple of `KEPT`: how many run weights these steps use."""

KEPT = 12_000
"""The number of run weights to keep. Ten times as many are hardly better."""


class _Adam:
    """The Adam optimiser (Kingma and Ba, 2015) with a ridge penalty and optional sparsity."""

    def __init__(self, shape: tuple[int, ...], ridge: Sequence[float]) -> None:
        self.values = np.zeros(shape, dtype=np.float32)
        self._ridge = np.array(ridge, dtype=np.float32)
        self._mean, self._square = np.zeros_like(self.values), np.zeros_like(self.values)
        self._kept = np.ones(shape, dtype=bool)

    def step(self, number: int, gradient: np.ndarray) -> None:
        """Take one step. `number` is the number of the step, from 1."""
        gradient = (gradient + self._ridge * self.values) * self._kept
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient**2 - self._square)
        change = self._mean / (1 - 0.9**number) / (np.sqrt(self._square / (1 - 0.999**number)) + 1e-8)
        self.values -= 0.1 * self._kept * change

    def keep(self, most: int) -> np.ndarray:
        """Keep only the `most` values of largest magnitude, and return the indices of their rows."""
        largest = np.argsort(-np.abs(self.values), axis=None, kind="stable")[:most]
        self._kept = np.zeros(self.values.shape, dtype=bool)
        self._kept.flat[largest] = True
        rows = np.flatnonzero(self._kept.any(axis=1))
        self.values = (self.values * self._kept)[rows]
        self._kept, self._mean, self._square = self._kept[rows], self._mean[rows], self._square[rows]
        return rows


def fit(examples: Examples) -> Weights:
    """Fit the weights by gradient steps on the ridge-penalised likelihood. Only few runs get a weight."""
    share = np.array([row.weight for row in examples.rows], dtype=np.float32)
    of = np.repeat(np.arange(len(share)), np.diff([*examples.starts, len(examples.right)]))
    features = _Adam((len(examples.feature_names),), [_RIDGE])
    facets = examples.facet_names
    ridges = [_RIDGE_OF_REFUSALS if name in REFUSE else _RIDGE_OF_RUNS for name in facets]
    runs = _Adam((examples.runs.shape[1], len(facets)), ridges)
    said = examples.runs
    of_facets = _picked(examples.facets, of)
    of_features, back = examples.features.T.tocsr(), of_facets.T.tocsr()
    names, spoken = np.array(list(examples.vocabulary)), (said.shape[0], len(facets))
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
            runs.step(step, of_runs @ (back @ missed).reshape(spoken))
    weights = zip(examples.feature_names, features.values, strict=True)
    hundredths = np.rint(100 * runs.values.astype(np.float64)).astype(np.int32)
    return Weights(
        features={name: round(float(value), 3) for name, value in weights},
        facets=facets,
        runs={
            str(run): {facets[column]: int(row[column]) for column in np.flatnonzero(row)}
            for run, row in zip(names, hundredths, strict=True)
        },
        known=examples.known,
    )


def _picked(facets: csr_array, of: np.ndarray) -> csr_array:
    """Return a matrix that adds up the scores of each reply's facets.

    Args:
        facets: the facet matrix, with one row per possible reply.
        of: for each possible reply, the index of its question. Each question has one score for every facet.
    """
    rows = np.repeat(np.arange(facets.shape[0]), np.diff(facets.indptr))
    columns = of[rows] * facets.shape[1] + facets.indices
    shape = (facets.shape[0], (of[-1] + 1) * facets.shape[1])
    return csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
