"""The candidate setting for Stable-Baselines3: a batch of episodes as its `VecEnv`.

Importing this module needs the extra `rl` (`pip install 'birdenv[rl]'`).
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
    """A batch of candidate episodes, as algorithms of Stable-Baselines3 and sb3-contrib take it.

    Each step plays one action in every episode, and the next episode begins in the step that ends one. The
    `info` of an end has `instance_id`, `terminal_observation`, and `episode` as `Monitor` writes it: return
    `r` and length `l`. `MaskablePPO` finds the masks by itself.

    Args:
        batch: the episodes, from `gymnasium.make_vec("birdenv/CInteractCandidates-v0", num_envs=...)`.

    Raises:
        InputError: the batch is of another kind, or does not reset in the same step.
    """

    def __init__(self, batch: CInteractCandidatesVectorEnv) -> None:
        if not isinstance(batch, CInteractCandidatesVectorEnv):
            raise InputError(
                "CandidatesVecEnv takes a batch: gymnasium.make_vec('birdenv/CInteractCandidates-v0', ...)"
            )
        if batch.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise InputError("CandidatesVecEnv takes a batch with autoreset_mode='SameStep', the default")
        self.batch = batch
        super().__init__(batch.num_envs, batch.single_observation_space, batch.single_action_space)
        self._actions: npt.NDArray[np.intp] = np.zeros(self.num_envs, np.intp)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.intp)

    def reset(self) -> Any:
        """Start an episode in every place, with the seeds given to `seed`, and return the observations.

        Raises:
            InputError: options were set; a batch has none.
        """
        if any(self._options):
            raise InputError("a batch has no reset options: name tasks and prices when you make it")
        seeds = [seed if seed is None else int(seed) for seed in self._seeds]
        observation, infos = self.batch.reset(seed=seeds)
        self._reset_seeds()
        self.reset_infos = [{"instance_id": name} for name in infos["instance_id"]]
        self._returns[:], self._lengths[:] = 0.0, 0
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions; return observations, rewards, ends and infos."""
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
        """Let go of the batch."""
        self.batch.close()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Return the action masks of each episode: the only method that the episodes have.

        Raises:
            AttributeError: another method is asked for.
        """
        if method_name != "action_masks":
            raise AttributeError(f"the episodes of a batch have action_masks, and no method {method_name!r}")
        masks = self.batch.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the batch, once for each episode."""
        return [getattr(self.batch, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise `NotImplementedError`: the episodes of a batch share their attributes."""
        raise NotImplementedError("the episodes of a batch share their attributes")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return for each episode whether it is wrapped: only in `Monitor`, whose infos it has."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
