"""The batch of candidate episodes as Stable-Baselines3 wants it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv

from birdenv.envs.candidates import CInteractCandidatesVectorEnv


class BatchVecEnv(VecEnv):
    """A vector environment of Gymnasium, with autoreset in the same step, for Stable-Baselines3.

    Each `info` at an end holds the last observation, and return and length of the episode.
    """

    def __init__(self, envs: CInteractCandidatesVectorEnv) -> None:
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._actions: npt.NDArray[np.intp] = np.zeros(self.num_envs, np.intp)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.intp)

    def reset(self) -> Any:
        seeds = [seed if seed is None else int(seed) for seed in self._seeds]
        observation, _ = self.envs.reset(seed=seeds)
        self._reset_seeds()
        self._returns[:], self._lengths[:] = 0.0, 0
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        self._actions = np.asarray(actions)

    def step_wait(self) -> Any:
        observation, rewards, ends, _, infos = self.envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        made: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(ends):
            made[i] = {
                "terminal_observation": infos["final_obs"][i],
                "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": 0.0},
            }
        self._returns[ends], self._lengths[ends] = 0.0, 0
        return observation, rewards.astype(np.float32), ends, made

    def close(self) -> None:
        self.envs.close()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method that answers for the whole batch; give the answers one by one."""
        answers = getattr(self.envs, method_name)(*args, **kwargs)
        return [answers[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError("the episodes of a batch share their attributes")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> Sequence[bool]:
        return [False for _ in self._get_indices(indices)]
