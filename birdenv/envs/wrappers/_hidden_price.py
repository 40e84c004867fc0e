"""A candidate environment whose price of a question is paid but not shown."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from birdenv.envs.candidates import EpisodeColumn


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
