"""The vector environment for the candidate setting, computed with NumPy from compiled tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from birdenv.envs._vector import mask_of_batch, seeds_of_batch
from birdenv.envs.candidates._compiled import CompiledEpisodes
from birdenv.envs.candidates._observation import CandidateState, Indices, observation_space
from birdenv.envs.candidates._setting import CandidateSetting
from birdenv.envs.candidates._tables import tables_of
from birdenv.errors import InputError


class CInteractCandidatesVectorEnv(VectorEnv[Any, Any, Any]):
    """A batch of `CInteractCandidatesEnv` environments, computed in one process without dialogues.

    The rule-based user's answers and the candidates' results are compiled into arrays once, and saved on
    disk. Observations, rewards and terminations are the same as in single environments with the seeds `seed`,
    `seed + 1` and so on.

    Args:
        num_envs: the number of episodes.
        autoreset_mode: `SAME_STEP` starts the next episode in the step that ends one, and puts the last
            observation into `info["final_obs"]`; `DISABLED` waits for `reset(options={"reset_mask": ...})`.
        render_mode: must be None.
        **settings: the settings of `CInteractCandidatesEnv`, except profile, user and rewards.

    Attributes:
        layout: the layout of observations and actions.

    Raises:
        InputError: settings or files cannot be used.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        if num_envs < 1:
            raise InputError(f"num_envs must be at least 1, got {num_envs!r}")
        mode = AutoresetMode(autoreset_mode)
        if mode is AutoresetMode.NEXT_STEP:
            raise InputError("autoreset_mode NEXT_STEP is not supported: use SAME_STEP or DISABLED")
        if render_mode is not None:
            raise InputError(
                "a vector environment cannot be rendered: use render_mode with a single environment"
            )
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.render_mode = None
        setting = CandidateSetting(**settings)
        try:
            if not setting.can_compile:
                raise InputError(
                    "a batch supports only the profile 'strict' and the default user and rewards: "
                    "leave out profile, user, reward_scheme, question_price and disclosure_price"
                )
            tables = tables_of(setting)
        finally:
            setting.close()
        self._setting, self.layout = setting, setting.layout
        self.single_observation_space = observation_space(self.layout)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = Discrete(self.layout.actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._state = CandidateState(num_envs, self.layout, setting.questions, max(setting.prices))
        self._episodes = CompiledEpisodes(setting, tables, self._state)
        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._names = np.array(setting.ids, dtype=object)
        self._over = np.ones(num_envs, np.bool_)

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """Return the task ids."""
        return self._setting.ids

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all episodes, or the episodes that `options["reset_mask"]` selects.

        Args:
            seed: a list with a seed for each environment, or a number; environment k then gets `seed + k`.
            options: `reset_mask`, an array with a bool for each episode.

        Raises:
            InputError: an option or the number of seeds cannot be used.
        """
        chosen = dict(options or {})
        mask = mask_of_batch(chosen.pop("reset_mask", None), self.num_envs)
        if chosen:
            raise InputError(f"unknown reset option {next(iter(chosen))!r}; known options: reset_mask")
        seeds = seeds_of_batch(seed, self.num_envs)
        who = np.flatnonzero(mask)
        for i in map(int, who):
            if self._rngs[i] is None or seeds[i] is not None:
                self._rngs[i] = seeding.np_random(seeds[i])[0]
        self._begin(who)
        return self._state.observe(), self._titles(who)

    def step(
        self, actions: Any
    ) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Play an action in each episode. `infos["refused"]` marks actions that are not possible now.

        Raises:
            ResetNeeded: an episode is over and was not reset.
            InvalidAction: an action is not in the action space.
        """
        if self._over.any():
            raise ResetNeeded("an episode is over or was never started: call reset() first")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise InvalidAction(f"actions must be {self.num_envs} whole numbers")
        if actions.min(initial=0) < 0 or actions.max(initial=0) >= self.layout.actions:
            raise InvalidAction(f"an action is out of range: use numbers from 0 to {self.layout.give_up}")
        earned, over, refused = self._episodes.play(actions)
        infos: dict[str, Any] = {}
        observation = self._state.observe()
        who = np.flatnonzero(over)
        kept = refused
        if self.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
            self._over = over
        elif len(who):
            kept = refused & ~over
            last = np.full(self.num_envs, None, dtype=object)
            for i in who:
                last[i] = {name: table[i].copy() for name, table in observation.items()}
            final = self._titles(who) | _refusals(refused & over)
            infos = {"final_obs": last, "_final_obs": over.copy(), "final_info": final}
            infos["_final_info"] = over.copy()
            self._begin(who)
            observation = self._state.observe()
        infos |= self._titles(np.arange(self.num_envs)) | _refusals(kept)
        return observation, earned, over, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return masks of the actions that are possible now, with the shape (num_envs, actions)."""
        return self._state.masks()

    def _begin(self, who: Indices) -> None:
        """Draw the random choices of some episodes, and start the episodes."""
        if not len(who):
            return
        uniforms = np.empty((len(who), self.layout.draws))
        for row, i in zip(uniforms, who, strict=True):
            rng = self._rngs[i]
            assert rng is not None
            rng.random(out=row)
        self._over[who] = False
        drawn = self._setting.draw(uniforms)
        self._episodes.begin(who, drawn, drawn.tasks)

    def _titles(self, who: Indices) -> dict[str, Any]:
        """Return the infos of some episodes, in Gymnasium's format for batches."""
        names = np.full(self.num_envs, None, dtype=object)
        names[who] = self._names[self._episodes.tasks[who]]
        told = np.zeros(self.num_envs, np.bool_)
        told[who] = True
        return {"instance_id": names, "_instance_id": told}


def _refusals(refused: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return the reasons why actions were refused, in Gymnasium's format for infos of batches."""
    if not refused.any():
        return {}
    why = np.full(len(refused), None, dtype=object)
    why[refused] = "illegal"
    return {"refused": why, "_refused": refused}
