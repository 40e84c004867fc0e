"""Compute the best reachable return of a request by dynamic programming over the possible worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates import QUESTIONS
from birdenv.tasks.interact.rewards import reward

_FIRST = reward(1, 1, True)
_DEBUG = reward(1, 2, True)
_FOLLOW_UP = reward(2, 1, True)

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Worlds:
    """The worlds that are possible while a request is shown: what is meant, and what the user does not know.

    Attributes:
        chances: the probability of each world. Shape (worlds,).
        right: which candidates are right in each world. Shape (worlds, candidates).
        answers: numbers that are equal in worlds where a question has the same answer. Shape (questions,
            worlds).
    """

    chances: Floats
    right: Flags
    answers: npt.NDArray[np.intp]


def submit_value(chances: Floats, right: Flags) -> float:
    """Return the best expected return of submitting with two attempts.

    A follow-up contains no open points, so it is always solved.

    Args:
        chances: the probabilities of the worlds that are left, which need not add up to 1.
        right: which candidates are right in each world, as in `Worlds`.
    """
    first = chances @ right
    then = np.array([(chances * ~right[:, one] @ right).max() for one in range(right.shape[1])])
    earned = (_FIRST + _FOLLOW_UP) * first + (_DEBUG + _FOLLOW_UP) * then
    return float(earned.max() / chances.sum())


def best_returns(worlds: Worlds, prices: Sequence[float], questions: int = QUESTIONS) -> tuple[float, ...]:
    """Return the best expected return of any policy that sees the answers to its questions, at each price.

    A state is the set of worlds that are still possible, and the number of questions left. An answer leaves
    the worlds in which the question has that answer. The result is exact.

    Args:
        worlds: the possible worlds.
        prices: the prices of a question.
        questions: the budget of questions.
    """
    asked = np.unique(worlds.answers, axis=0)
    cost = np.array(prices)

    @cache
    def value(left: tuple[int, ...], budget: int) -> Floats:
        here = list(left)
        chances = worlds.chances[here]
        best = np.full(len(cost), submit_value(chances, worlds.right[here]))
        for answers in asked[:, here] if budget else ():
            parts = [np.flatnonzero(answers == each) for each in np.unique(answers)]
            if len(parts) == 1:
                continue
            after = [chances[part].sum() * value(tuple(here[i] for i in part), budget - 1) for part in parts]
            best = np.maximum(best, sum(after) / chances.sum() - cost)
        return best

    return tuple(map(float, value(tuple(range(len(worlds.chances))), questions)))
