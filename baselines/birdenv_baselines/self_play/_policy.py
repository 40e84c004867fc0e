"""A policy for yes-or-no decisions: logistic regression on features, trained by REINFORCE."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_MOST = 30.0  # largest score; larger ones change nothing
_KEPT = 0.95  # decay of the running mean of rewards


class Policy:
    """A logistic model that decides yes or no, and learns from the rewards of episodes (Williams 1992).

    Attributes:
        names: the names of the features.
        weights: the weight of each feature.
        explores: True to sample decisions; False to choose the more probable answer.
    """

    def __init__(self, names: Sequence[str], rate: float = 0.5) -> None:
        self.names = tuple(names)
        self.weights: Floats = np.zeros(len(self.names))
        self.explores = True
        self._rate = rate
        self._mean: float | None = None
        self._gradient: Floats = np.zeros(len(self.names))

    def chance(self, features: Sequence[float]) -> float:
        """Return the probability of deciding yes."""
        score = float(np.dot(self.weights, features))
        return 1.0 / (1.0 + exp(-max(-_MOST, min(_MOST, score))))

    def decide(self, features: Sequence[float], rng: Random) -> bool:
        """Return a decision. If the policy explores, also record the decision for `learn`."""
        chance = self.chance(features)
        if not self.explores:
            return chance > 0.5
        yes = rng.random() < chance
        self._gradient += (float(yes) - chance) * np.asarray(features)
        return yes

    def learn(self, reward: float) -> None:
        """Update the weights from the reward of the episode that has just ended.

        The episode's decisions become more probable if its reward is above the running mean, and otherwise
        less probable.
        """
        mean = reward if self._mean is None else self._mean
        self.weights += self._rate * (reward - mean) * self._gradient
        self._mean = _KEPT * mean + (1 - _KEPT) * reward
        self._gradient = np.zeros(len(self.names))
