"""A policy of yes or no: the logistic of a weighted sum of features, learned by REINFORCE."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_MOST = 30.0  # of a score: beyond, exp overflows and nothing changes
_KEPT = 0.95  # of the running mean of rewards, from one episode to the next


class Policy:
    """Decides yes or no, and learns from the rewards of episodes (Williams 1992).

    Attributes:
        names: the features' names.
        weights: one for each feature.
        explores: draw decisions; otherwise the likelier one is taken.
    """

    def __init__(self, names: Sequence[str], rate: float = 0.5) -> None:
        self.names = tuple(names)
        self.weights: Floats = np.zeros(len(self.names))
        self.explores = True
        self._rate = rate
        self._mean: float | None = None
        self._gradient: Floats = np.zeros(len(self.names))

    def chance(self, features: Sequence[float]) -> float:
        """Return how likely a yes is."""
        score = float(np.dot(self.weights, features))
        return 1.0 / (1.0 + exp(-max(-_MOST, min(_MOST, score))))

    def decide(self, features: Sequence[float], rng: Random) -> bool:
        """Return decide, and remember how."""
        chance = self.chance(features)
        if not self.explores:
            return chance > 0.5
        yes = rng.random() < chance
        self._gradient += (float(yes) - chance) * np.asarray(features)
        return yes

    def learn(self, reward: float) -> None:
        """Make the decisions of the episode that has ended likelier if it earned more than the last ones."""
        mean = reward if self._mean is None else self._mean
        self.weights += self._rate * (reward - mean) * self._gradient
        self._mean = _KEPT * mean + (1 - _KEPT) * reward
        self._gradient = np.zeros(len(self.names))
