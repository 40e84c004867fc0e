"""Vector environments that step a batch of dialogues in one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate

from birdenv.envs._gymnasium import DialogueEnv
from birdenv.envs._seat_spaces import batch
from birdenv.errors import InputError

_MODES = (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)

_Bools = npt.NDArray[np.bool_]


def seeds_of_batch(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return `count` seeds, one for each environment. A single number i is expanded to i, i + 1, ..."""
    if isinstance(seed, int):
        return [seed + i for i in range(count)]
    seeds: list[int | None] = [None] * count if seed is None else list(seed)
    if len(seeds) != count:
        raise InputError(f"seed must be a number or a list of {count} seeds; got {len(seeds)} seeds")
    return seeds


def mask_of_batch(mask: Any, count: int) -> _Bools:
    """Return the option `reset_mask` as an array for `count` environments. None selects all environments.

    Raises:
        InputError: the mask has the wrong shape or type.
    """
    if mask is None:
        return np.ones(count, dtype=np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        raise InputError(f"reset_mask must be a Boolean array of {count} values, got {mask!r}")
    return mask


class DialogueVectorEnv(VectorEnv[dict[str, Any], Any, Any]):
    """A batch of `DialogueEnv` environments for one game, which are all stepped in this process.

    Observations are members of the batched space, which contains arrays and tuples of strings. Actions are
    members of the batched space, or a list with an action for each environment, such as
    `birdenv.clarify("...")` or a `Move`. Infos and autoreset follow Gymnasium's own vector environments:
    `final_obs` and `final_info` contain the last observation and info of an episode.

    Args:
        game: the name of the game.
        num_envs: the number of environments.
        seat: the name of the agent's seat; by default, the evaluated seat.
        render_mode: `ansi` makes `render()` return the dialogues as strings.
        autoreset_mode: `SAME_STEP` (`SameStep`) starts the next episode in the step that ends one. With
            `DISABLED` (`Disabled`), call `reset(options={"reset_mask": ..})`. `NEXT_STEP`, which discards one
            action per episode, is only available with `vectorization_mode="sync"`.
        sampling: the tasks that resets draw, and their weights; see `DialogueEnv.sample_tasks`.
        **settings: the game's settings, and the players in the other seats as arguments named after the
            seats.

    Attributes:
        kinds: the names of the seat's actions. The index of a name is the `kind` of an action.

    Raises:
        InputError: settings, files or names cannot be used.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        seat: str | None = None,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        sampling: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if num_envs < 1:
            raise InputError(f"num_envs must be at least 1, got {num_envs!r}")
        known = {mode.value: mode for mode in _MODES} | {mode: mode for mode in _MODES}
        if autoreset_mode not in known:
            raise InputError(
                f"autoreset_mode {autoreset_mode!r} is not supported: use 'SameStep', 'Disabled' or "
                "gymnasium.make_vec(..., vectorization_mode='sync')"
            )
        self._autoreset = known[autoreset_mode]
        self.metadata = DialogueEnv.metadata | {"autoreset_mode": self._autoreset}
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.envs = [DialogueEnv(game, seat, render_mode, sampling, **settings) for _ in range(num_envs)]
        self.kinds = self.envs[0].kinds
        self.single_observation_space = self._fields = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observations: list[dict[str, Any]] = [{} for _ in self.envs]

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """Return the task ids. The reset option `index` is an index into this tuple."""
        return self.envs[0].instance_ids

    def sample_tasks(self, sampling: Mapping[str, Any] | None) -> None:
        """Set the tasks that later resets draw, and their weights; see `DialogueEnv.sample_tasks`."""
        for env in self.envs:
            env.sample_tasks(sampling)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode in every environment, or in the environments that `reset_mask` selects.

        Args:
            seed: a list with a seed for each environment, or a number; environment k then gets `seed + k`.
            options: the options of `DialogueEnv.reset`, which apply to all environments, and `reset_mask`, an
                array with a bool for each environment.

        Raises:
            InputError: an option, a task or the number of seeds cannot be used.
        """
        seeds = seeds_of_batch(seed, self.num_envs)
        options = dict(options or {})
        mask = mask_of_batch(options.pop("reset_mask", None), self.num_envs)
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(mask):
            view, info = self.envs[i]._begin(seeds[i], options)
            self._observations[i] = self.envs[i]._spaces.observation(view)
            infos = self._add_info(infos, info, int(i))
        return self._batched(), infos

    def step(
        self, actions: Any
    ) -> tuple[dict[str, Any], npt.NDArray[np.float64], _Bools, _Bools, dict[str, Any]]:
        """Play an action in each environment.

        Raises:
            ResetNeeded: autoreset is disabled, and an environment has no running episode.
            InvalidAction: the number of actions is wrong, or an action is not in the action space.
        """
        try:
            listed = isinstance(actions, list | tuple)
            given = list(actions if listed else iterate(self.action_space, actions))
        except (TypeError, KeyError, IndexError, ValueError):
            raise InvalidAction(
                f"expected a list of {self.num_envs} actions or a member of action_space, got {actions!r:.60}"
            ) from None
        if len(given) != self.num_envs:
            raise InvalidAction(f"expected {self.num_envs} actions, got {len(given)}")
        rewards = np.zeros(self.num_envs)
        terminations, truncations = (np.zeros(self.num_envs, dtype=np.bool_) for _ in range(2))
        infos: dict[str, Any] = {}
        for i, (env, action) in enumerate(zip(self.envs, given, strict=True)):
            view, rewards[i], terminations[i], truncations[i], info = env._play(action)
            if self._autoreset is AutoresetMode.SAME_STEP and (terminations[i] or truncations[i]):
                last = env._spaces.observation(view)
                infos = self._add_info(infos, {"final_obs": last, "final_info": info}, i)
                view, info = env._begin(None, None)
            self._observations[i] = env._spaces.observation(view)
            infos = self._add_info(infos, info, i)
        return self._batched(), rewards, terminations, truncations, infos

    def render(self) -> tuple[Any, ...] | None:
        """Return the dialogues so far (`ansi`), or print the text added since the last call (`human`)."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """End the episodes and release the game's databases."""
        for env in getattr(self, "envs", ()):  # old Gymnasium versions also close failed instances
            env.close()

    def _batched(self) -> dict[str, Any]:
        return batch(self._observations, self._fields)


class CInteractVectorEnv(DialogueVectorEnv):
    """A batch of `CInteractEnv` environments, which accepts the same settings."""

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        super().__init__("c-interact", num_envs, **arguments)


class AInteractVectorEnv(DialogueVectorEnv):
    """A batch of `AInteractEnv` environments, which accepts the same settings."""

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        super().__init__("a-interact", num_envs, **arguments)


class BirdSqlVectorEnv(DialogueVectorEnv):
    """A batch of `BirdSqlEnv` environments, which accepts the same settings."""

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        super().__init__("bird", num_envs, **arguments)
