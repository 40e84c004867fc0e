"""Davidson's model of comparisons with ties, fitted to many tables of counts at once.

The player on the left wins, the one on the right wins, or they tie, in the ratio p : q : nu sqrt(p q)
(Davidson 1970, JASA 65:317). Without ties it is the model of Bradley and Terry. In strengths, the logarithms
of p and q, and in log nu the likelihood is concave, so Newton's method finds its maximum.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

PRIOR: Final = 0.01
"""Precision of the normal prior of strengths: weak, but tables in which somebody always wins stay finite."""

_LONGEST_STEP: Final = 2.0
_STEPS: Final = 60
_NEAR: Final = 1e-7


def fit_davidson(pairs: npt.NDArray[np.int64], counts: Array, players: int) -> tuple[Array, Array]:
    """Fit the model to tables of counts.

    Args:
        pairs: two players' numbers for each row of a table, shape (pairs, 2).
        counts: wins of the first, wins of the second, and ties, shape (tables, pairs, 3).
        players: how many there are.

    Returns:
        The strengths, shape (tables, players), with the mean 0 in each table, and log nu, shape (tables,).
    """
    tables, rows = counts.shape[:2]
    half = np.zeros((rows, players))  # half the difference of strengths, as a matrix
    half[np.arange(rows), pairs[:, 0]] += 0.5
    half[np.arange(rows), pairs[:, 1]] -= 0.5
    outer = (half[:, :, None] * half[:, None, :]).reshape(rows, players * players)
    first, second, ties = counts[..., 0], counts[..., 1], counts[..., 2]
    met = first + second + ties
    found = np.zeros((tables, players + 1))  # strengths, log nu
    for _ in range(_STEPS):
        d, tie = found[:, :players] @ half.T, found[:, players:]
        top = np.maximum(np.abs(d), tie)
        powers = np.exp(np.stack([d - top, -d - top, np.broadcast_to(tie, d.shape) - top]))
        win, lose, draw = powers / powers.sum(axis=0)
        gap = win - lose
        gradient = np.empty_like(found)
        gradient[:, :players] = ((first - second) - met * gap) @ half
        gradient[:, players] = (ties - met * draw).sum(axis=1)
        gradient -= PRIOR * found
        curvature = np.empty((tables, players + 1, players + 1))
        curvature[:, :players, :players] = ((met * (win + lose - gap**2)) @ outer).reshape(
            tables, players, players
        )
        cross = -(met * gap * draw) @ half
        curvature[:, :players, players] = curvature[:, players, :players] = cross
        curvature[:, players, players] = (met * draw * (1 - draw)).sum(axis=1)
        curvature[:, np.arange(players + 1), np.arange(players + 1)] += PRIOR
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        found += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max(initial=0) < _NEAR:
            break
    strengths = found[:, :players]
    return strengths - strengths.mean(axis=1, keepdims=True), found[:, players]
