"""Policies trained by Stable-Baselines3, for batches of observations. This module needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO

from birdenv.envs.candidates import CInteractCandidatesVectorEnv
from birdenv.errors import InputError
from birdenv_baselines.training._policies import Actions

ALGORITHMS: Final[dict[str, Any]] = {"maskable-ppo": MaskablePPO, "ppo": PPO, "dqn": DQN}


class Trained:
    """A trained policy. It always chooses the best legal action and never samples.

    Args:
        file: a file written by a model's `save`. Loading the file runs code that it contains.
        algo: the name of the algorithm, from `ALGORITHMS`.

    Raises:
        InputError: the algorithm is unknown, or the file is not a model of the algorithm.
    """

    def __init__(self, file: Path, algo: str) -> None:
        if algo not in ALGORITHMS:
            raise InputError(f"unknown algorithm {algo!r}; choose from {', '.join(ALGORITHMS)}")
        if not file.is_file():
            raise InputError(f"{file} does not exist: name a file that `model.save` wrote")
        torch.set_num_threads(1)
        kind = ALGORITHMS[algo]
        try:
            self._model: Any = kind.load(file, device="cpu")
        except Exception as error:  # a foreign pickle may raise anything
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise InputError(
                f"{file} is not a model of {algo} ({why}): name its algorithm with --algo"
            ) from None
        self._masked = kind is MaskablePPO

    def act(
        self,
        envs: CInteractCandidatesVectorEnv,
        observation: dict[str, Any],
        masks: npt.NDArray[np.bool_],
    ) -> Actions:
        """Return an action for each of the n episodes, shape (n,).

        Raises:
            InputError: the policy was trained on different observations or actions.
        """
        model = self._model
        spaces = (envs.single_observation_space, envs.single_action_space)
        if (model.observation_space, model.action_space) != spaces:
            raise InputError(
                f"the policy was trained on different observations or actions ({model.observation_space}; "
                f"{model.action_space}): train it on the environment without wrappers, and with the default "
                "max_spans and max_candidates"
            )
        more = {"action_masks": masks} if self._masked else {}
        actions, _ = model.predict(observation, deterministic=True, **more)
        chosen: Actions = np.asarray(actions, np.intp)
        return chosen
