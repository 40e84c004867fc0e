"""Candidate environments as a Stable-Baselines3 `VecEnv`.

This module requires the `rl` extra (`pip install 'birdenv[rl]'`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from birdenv.envs.candidates import CInteractCandidatesVectorEnv
from birdenv.errors import InputError

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"birdenv.envs.sb3 needs {error.name}: pip install 'birdenv[rl]'", name=error.name
    ) from None

__all__ = ["CandidatesVecEnv"]


class CandidatesVecEnv(VecEnv):
    """A vectorized candidate environment for algorithms from Stable-Baselines3 and sb3-contrib.

    Each step plays an action in every episode. When an episode ends, the next one begins in the same step.
    The `info` at the end of an episode contains `instance_id`, `terminal_observation`, and the same `episode`
    entry as `Monitor`, with the return `r` and the length `l`. `MaskablePPO` finds the action masks
    automatically.

    Args:
        batch: the batch of episodes from `gymnasium.make_vec("birdenv/CInteractCandidates-v0",
            num_envs=...)`.

    Raises:
        InputError: `batch` is a different kind of environment, or does not start the next episode in the step
            that ends one.
    """

    def __init__(self, batch: CInteractCandidatesVectorEnv) -> None:
        if not isinstance(batch, CInteractCandidatesVectorEnv):
            raise InputError(
                "CandidatesVecEnv needs the result of "
                "gymnasium.make_vec('birdenv/CInteractCandidates-v0', ...)"
            )
        if batch.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise InputError("CandidatesVecEnv needs a batch with autoreset_mode='SameStep', the default")
        self.batch = batch
        super().__init__(batch.num_envs, batch.single_observation_space, batch.single_action_space)
        self._actions: npt.NDArray[np.intp] = np.zeros(self.num_envs, np.intp)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.intp)

    def reset(self) -> Any:
        """Start an episode in each environment, with seeds from the method `seed`, and return observations.

        Raises:
            InputError: reset options were set, which are not supported.
        """
        if any(self._options):
            raise InputError(
                "reset options are not supported: choose tasks and prices when you make the batch"
            )
        seeds = [seed if seed is None else int(seed) for seed in self._seeds]
        observation, infos = self.batch.reset(seed=seeds)
        self._reset_seeds()
        self.reset_infos = [{"instance_id": name} for name in infos["instance_id"]]
        self._returns[:], self._lengths[:] = 0.0, 0
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the stored actions, and return the observations, rewards, dones and infos."""
        observation, rewards, ends, _, infos = self.batch.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        made: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(ends):
            made[i] = {
                "instance_id": infos["final_info"]["instance_id"][i],
                "terminal_observation": infos["final_obs"][i],
                "episode": {"r": round(float(self._returns[i]), 6), "l": int(self._lengths[i])},
            }
        self._returns[ends], self._lengths[ends] = 0.0, 0
        return observation, rewards.astype(np.float32), ends, made

    def close(self) -> None:
        """Close the batch."""
        self.batch.close()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call the method `action_masks`, the only supported method, and return the mask of each episode.

        Raises:
            AttributeError: `method_name` names a different method.
        """
        if method_name != "action_masks":
            raise AttributeError(
                f"the method {method_name!r} is not supported: only action_masks can be called"
            )
        masks = self.batch.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the batch's value for an attribute, repeated for each episode."""
        return [getattr(self.batch, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise `NotImplementedError`, because all episodes in the batch share their attributes."""
        raise NotImplementedError(
            "an attribute cannot be set for an episode, because all episodes in the batch share it"
        )

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return True for `Monitor`, because `info` already contains the `episode` entry of `Monitor`."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
