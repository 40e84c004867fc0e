"""Shaping: rewards added to those of an environment, to make it easier to learn or to price turns.

Potentials, the cost of a turn, and the price of a question that is paid but not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from birdenv.envs._gymnasium import DialogueEnv
from birdenv.envs.candidates import EpisodeColumn
from birdenv.errors import InputError

Potential: TypeAlias = Callable[[Any, gymnasium.Env[Any, Any]], float]
"""A function of the observation and the environment that gave it."""

_DIGITS = 10  # of sums of rewards


class TurnCost(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Takes `cost` from the reward of every step.

    This changes the task: with a high cost the best policy asks less.

    Args:
        env: any environment.
        cost: the price of a step, from 0.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], cost: float) -> None:
        RecordConstructorArgs.__init__(self, cost=cost)
        gymnasium.Wrapper.__init__(self, env)
        if not cost >= 0:
            raise InputError(f"the cost of a turn must be a number from 0, got {cost!r}")
        self._cost = cost

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, round(float(reward) - self._cost, _DIGITS), terminated, truncated, info


class PotentialShaping(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds `discount * potential(after) - potential(before)` to the reward of every step.

    The potential of an end is 0, so that every policy's return changes by the same constant, and the best
    policy stays the best (Ng, Harada and Russell 1999). A truncated episode keeps the potential of its last
    state, because learners bootstrap from there.

    Args:
        env: any environment.
        potential: a function of the observation and the environment, such as `resolved_points`.
        discount: the discount of the learner.
        scale: factor of the potential.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], potential: Potential, discount: float = 1.0, scale: float = 1.0
    ) -> None:
        RecordConstructorArgs.__init__(self, potential=potential, discount=discount, scale=scale)
        gymnasium.Wrapper.__init__(self, env)
        self._potential = potential
        self._discount = discount
        self._scale = scale
        self._before = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = self._scale * self._potential(observation, self.env)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        after = 0.0 if terminated else self._scale * self._potential(observation, self.env)
        shaped = float(reward) + self._discount * after - self._before
        self._before = after
        return observation, round(shaped, _DIGITS), terminated, truncated, info


def resolved_points(observation: Any, env: gymnasium.Env[Any, Any]) -> float:
    """Return the share of a task's annotated points that the user has settled in this episode, 0 to 1.

    The annotations are the private half of a task: use this to train, and never as an observation.

    Args:
        observation: not used.
        env: an environment of c-Interact or a-Interact, wrapped or not.

    Raises:
        InputError: the game has no annotated points.
    """
    inner = env.unwrapped
    dialogue = inner._dialogue if isinstance(inner, DialogueEnv) else None
    points = getattr(dialogue.rules, "points", None) if dialogue is not None else None
    if points is None:
        raise InputError("resolved_points needs a running episode of c-interact or a-interact")
    settled, all_points = points()
    return settled / all_points if all_points else 1.0


class HiddenPrice(gymnasium.ObservationWrapper[dict[str, Any], Any, dict[str, Any]]):
    """Sets the price in a candidate environment's observations to 0: how much is it worth to see it?"""

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the observation without the price."""
        episode = np.array(observation["episode"])
        episode[..., EpisodeColumn.PRICE] = 0.0
        return {**observation, "episode": episode}

    def action_masks(self) -> Any:
        """Return which actions are possible now."""
        return self.env.get_wrapper_attr("action_masks")()
