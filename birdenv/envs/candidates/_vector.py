"""n candidate episodes at once, stepped in numpy over compiled tables: equal to n dialogues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from birdenv.envs.candidates._cache import tables_of
from birdenv.envs.candidates._layout import MAX_POINTS
from birdenv.envs.candidates._setting import CandidateSetting, order_by
from birdenv.envs.candidates._state import CandidateState, Indices, observation_space
from birdenv.envs.candidates._tables import END
from birdenv.errors import InputError
from birdenv.grading import reward

_EARNED: Final = np.array([[reward(phase, attempt, True) for attempt in (1, 2)] for phase in (1, 2)])
_BITS: Final = 1 << np.arange(MAX_POINTS)


class CInteractCandidatesVectorEnv(VectorEnv[Any, Any, Any]):
    """A batch of `CInteractCandidatesEnv`, in one process and without dialogues.

    What the rule user answers and what candidates come to is compiled once into arrays, and kept on the disk.
    Observations, rewards and ends are those of single environments with the seeds `seed`, `seed + 1`, ...

    Args:
        num_envs: the number of episodes.
        autoreset_mode: `SAME_STEP` starts the next episode in the step that ends one, and puts the last
            observation into `info["final_obs"]`; `DISABLED` waits for `reset(options={"reset_mask": ...})`.
        **settings: as of `CInteractCandidatesEnv`, with the profile `strict` and the setting's own user.

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
        mode = AutoresetMode(autoreset_mode)
        if mode is AutoresetMode.NEXT_STEP:
            raise InputError("autoreset_mode must be SAME_STEP or DISABLED")
        if render_mode is not None:
            raise InputError("a batch has no render_mode; make a single environment")
        if settings.get("profile", "strict") != "strict" or "user" in settings:
            raise InputError("a batch is compiled for the profile strict and the setting's own user")
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.render_mode = None
        setting = CandidateSetting(**settings)
        try:
            self._tables = tables_of(setting)
        finally:
            setting.close()
        self._setting, self.layout = setting, setting.layout
        self.single_observation_space = observation_space(self.layout)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = Discrete(self.layout.actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._state = CandidateState(num_envs, self.layout, setting.questions, max(setting.prices))
        self._state.can_execute[:] = setting.can_execute
        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._names = np.array(setting.ids, dtype=object)
        self._tasks = np.zeros(num_envs, np.intp)
        self._stage = np.zeros(num_envs, np.intp)
        self._order = np.zeros((num_envs, self.layout.candidates), np.intp)
        self._later = np.zeros((num_envs, self.layout.candidates))
        self._price = np.zeros(num_envs)
        self._refused = np.zeros(num_envs, np.int64)
        self._attempt = np.zeros(num_envs, np.intp)
        self._free = np.zeros(num_envs, np.int64)
        self._over = np.ones(num_envs, np.bool_)

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """The tasks."""
        return self._setting.ids

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes: all, or those that `options["reset_mask"]` names.

        Args:
            seed: the first environment's seed, the next one's being one more; or one for each.
            options: `reset_mask`, an array of bool.

        Raises:
            InputError: an option is not known, or has the wrong shape.
        """
        chosen = dict(options or {})
        mask = chosen.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        if chosen:
            raise InputError(f"unknown reset option {next(iter(chosen))!r}; known options: reset_mask")
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise InputError(f"reset_mask must be an array of {self.num_envs} bool")
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise InputError(f"give {self.num_envs} seeds, or one number")
        who = np.flatnonzero(mask)
        for i in map(int, who):
            given = None if seeds is None else seeds[i]
            if self._rngs[i] is None or given is not None:
                self._rngs[i] = seeding.np_random(given)[0]
        self._begin(who)
        return self._state.observe(), self._titles(who)

    def step(
        self, actions: Any
    ) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Play one action in each episode; `infos["refused"]` names those that are not possible now.

        Raises:
            ResetNeeded: an episode is over, and was not reset.
            InvalidAction: an action is no member of the action space.
        """
        if self._over.any():
            raise ResetNeeded("an episode is over or was never begun: call reset() first")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise InvalidAction(f"actions must be {self.num_envs} whole numbers")
        if actions.min(initial=0) < 0 or actions.max(initial=0) >= self.layout.actions:
            raise InvalidAction(f"an action is out of range: give numbers from 0 to {self.layout.give_up}")
        earned, over, refused = self._play(actions)
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
        """Return which actions are possible now, shape (num_envs, actions)."""
        return self._state.masks()

    def _begin(self, who: Indices) -> None:
        """Start episodes with what is drawn for them."""
        if not len(who):
            return
        size = self.layout.draws
        uniforms = np.empty((len(who), size))
        for row, i in zip(uniforms, who, strict=True):
            rng = self._rngs[i]
            assert rng is not None
            rng.random(out=row)
        drawn = self._setting.draw(uniforms)
        self._tasks[who] = drawn.tasks
        self._price[who] = drawn.prices
        self._later[who] = drawn.orders[1]
        self._refused[who] = ((drawn.refusals < self._setting.refusals) * _BITS).sum(axis=1)
        self._over[who] = False
        state = self._state
        state.price(who, drawn.prices)
        state.turns_left[who] = self._setting.questions
        state.can_ask[who] = self._setting.questions > 0
        self._show(who, drawn.tasks, drawn.orders[0], 1)

    def _show(self, who: Indices, stages: Indices, keys: npt.NDArray[np.float64], phase: int) -> None:
        """Show a stage to each of some episodes."""
        tables = self._tables
        order = order_by(keys, tables.counts[stages])
        self._stage[who], self._order[who] = stages, order
        self._attempt[who], self._free[who] = 0, 0
        at = stages[:, None]
        candidates, readable = tables.candidates[at, order], tables.readable[at, order]
        self._state.begin(who, tables.spans[stages], candidates, readable, phase)

    def _play(
        self, actions: Indices
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Play the actions; return rewards, which episodes are over, and which actions were not possible."""
        layout, state, tables = self.layout, self._state, self._tables
        everybody = np.arange(self.num_envs)
        allowed = state.masks()[everybody, actions]
        asks = allowed & (actions <= layout.useless)
        executes = allowed & (actions >= layout.execute) & (actions < layout.submit)
        submits = allowed & (actions >= layout.submit) & (actions < layout.give_up)
        over = allowed & (actions == layout.give_up)
        pays = asks | (~allowed & state.can_ask)
        earned = np.where(pays, -self._price, 0.0)
        state.turns_left[pays] -= 1
        state.can_ask[pays] = state.turns_left[pays] > 0
        if asks.any():
            who = np.flatnonzero(asks)
            stages, questions = self._stage[who], actions[who]
            order = self._order[who]
            fits = tables.fits[stages[:, None], questions[:, None], order]
            if self._setting.refusals:
                refused = (tables.points[stages, questions] & self._refused[who]) != 0
                fits = np.where(refused[:, None], tables.refused[stages[:, None], order], fits)
            state.hear(who, questions, fits)
        if executes.any():
            who = np.flatnonzero(executes)
            shown = actions[who] - layout.execute
            stages, places = self._stage[who], self._order[who, shown]
            state.see(who, shown, tables.rows[stages, places], tables.results[stages, places])
        failed = ~allowed & ~pays & self._uses_attempt(~allowed & ~pays)
        if submits.any():
            who = np.flatnonzero(submits)
            shown = actions[who] - layout.submit
            stages, places = self._stage[who], self._order[who, shown]
            passes = tables.passes[stages, places]
            won = who[passes]
            earned[won] += _EARNED[tables.phases[stages[passes]] - 1, self._attempt[won]]
            following = tables.following[stages, places][passes]
            over[won] = following == END
            go_on = following != END
            self._move_on(won[go_on], following[go_on])
            lost = who[~passes]
            failed[lost] = True
            again = self._attempt[lost] == 0
            state.try_out(lost[again], shown[~passes][again])
        over |= failed & (self._attempt == 1)
        again = failed & ~over
        self._attempt[again] = 1
        self._close_questions(again)
        state.debug(np.flatnonzero(again))
        return np.asarray(np.round(earned, 10), np.float64), over, ~allowed

    def _uses_attempt(self, refused: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which moves that are not possible count as an empty submission: after one, some are free."""
        submitted = (self._attempt == 1) | (self._tables.phases[self._stage] == 2)
        free = refused & submitted & (self._free < self._setting.free_refusals)
        self._free[free] += 1
        used: npt.NDArray[np.bool_] = ~free
        return used

    def _move_on(self, who: Indices, stages: Indices) -> None:
        if len(who):
            self._show(who, stages, self._later[who], 2)
            self._close_questions(who)

    def _close_questions(self, who: Any) -> None:
        """After a submission no question is possible."""
        self._state.turns_left[who] = 0
        self._state.can_ask[who] = False

    def _titles(self, who: Indices) -> dict[str, Any]:
        """The info of some episodes, as Gymnasium has it for batches."""
        names = np.full(self.num_envs, None, dtype=object)
        names[who] = self._names[self._tasks[who]]
        told = np.zeros(self.num_envs, np.bool_)
        told[who] = True
        return {"instance_id": names, "_instance_id": told}


def _refusals(refused: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Why actions were refused, as Gymnasium has infos of batches; nothing if none was."""
    if not refused.any():
        return {}
    why = np.full(len(refused), None, dtype=object)
    why[refused] = "illegal"
    return {"refused": why, "_refused": refused}
