"""The best reachable return of a request, by dynamic programming on what is still possible."""

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
    """All that may be so while a request is shown: what is meant, and what the user cannot tell.

    Attributes:
        chances: of each world. Shape (worlds,).
        right: which candidates are right in each. Shape (worlds, candidates).
        answers: numbers, which are equal where a question brings the same. Shape (questions, worlds).
    """

    chances: Floats
    right: Flags
    answers: npt.NDArray[np.intp]


def submit_value(chances: Floats, right: Flags) -> float:
    """Return what submitting earns at best, at both attempts. A follow-up leaves nothing open: it is passed.

    Args:
        chances: of the worlds that are left; they need not add up to 1.
        right: as of `Worlds`.
    """
    first = chances @ right
    then = np.array([(chances * ~right[:, one] @ right).max() for one in range(right.shape[1])])
    earned = (_FIRST + _FOLLOW_UP) * first + (_DEBUG + _FOLLOW_UP) * then
    return float(earned.max() / chances.sum())


def best_returns(worlds: Worlds, prices: Sequence[float], questions: int = QUESTIONS) -> tuple[float, ...]:
    """Return the best expected return, at each price, of any policy that sees what questions bring.

    A state is the set of worlds that are still possible, and the number of questions left. An answer leaves
    those worlds in which the question brings that answer. It is exact.

    Args:
        worlds: what may be so.
        prices: prices of a question.
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
