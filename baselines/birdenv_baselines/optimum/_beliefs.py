"""Compute the best expected return for an ambiguous request by dynamic programming over its meanings."""

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
    """All possible states of a user: what their request means, and which answers they do not know.

    Attributes:
        chances: the probability of each world. Shape (worlds,).
        right: which candidates are right in each world. Shape (worlds, candidates).
        answers: the answer to each question in each world, as a number: equal numbers are equal answers.
            Shape (questions, worlds).
    """

    chances: Floats
    right: Flags
    answers: npt.NDArray[np.intp]


def submit_value(chances: Floats, right: Flags) -> float:
    """Return the best expected return from submitting now, with two attempts and no more questions.

    The follow-up is not ambiguous, so it is always solved after a right submission.

    Args:
        chances: the probabilities of the remaining worlds, which need not add up to 1.
        right: which candidates are right in each world, as in `Worlds`.
    """
    first = chances @ right
    then = np.array([(chances * ~right[:, one] @ right).max() for one in range(right.shape[1])])
    earned = (_FIRST + _FOLLOW_UP) * first + (_DEBUG + _FOLLOW_UP) * then
    return float(earned.max() / chances.sum())


def best_returns(worlds: Worlds, prices: Sequence[float], questions: int = QUESTIONS) -> tuple[float, ...]:
    """Return, for each question price, the best expected return for a policy that sees only answers.

    The result is exact. A state of the dynamic program consists of the worlds that the answers have not
    excluded, and the number of questions left.

    Args:
        worlds: the possible worlds.
        prices: the question prices.
        questions: the maximum number of questions.
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
