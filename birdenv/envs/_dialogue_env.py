"""The Gymnasium driver: the system's seat is the environment's agent, the user is played inside `step`."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from birdenv.dialogue import Session
from birdenv.envs import _system_seat as system_seat
from birdenv.envs._episodes import EpisodeController, Episodes
from birdenv.envs._transcript_text import transcript_text
from birdenv.errors import InfrastructureError, InputError
from birdenv.tasks import KINDS, SYSTEM, Kind, SystemView

__all__ = ["DialogueEnv"]


class DialogueEnv(gymnasium.Env[dict[str, Any], dict[str, Any]]):
    """Drives a controller, which has the rules. `user` plays the other seat, where there is one.

    `kinds` are those of the game's actions; `budget` says whether it has one.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        episodes: Episodes,
        user: Session | None,
        render_mode: str | None,
        *,
        kinds: tuple[Kind, ...] = KINDS,
        budget: bool = False,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"unknown render_mode {render_mode!r}; known: None, 'ansi'")
        self.render_mode = render_mode
        self.observation_space: spaces.Dict = system_seat.observation_space(kinds=kinds, budget=budget)
        self.action_space: spaces.Dict = system_seat.action_space(kinds)
        self.kinds = kinds
        self._episodes = episodes
        self._user = user
        self._controller: EpisodeController | None = None
        self._title: dict[str, Any] = {}
        self._opening = ""

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """The tasks of this environment, in the order that the reset option `index` counts."""
        return self._episodes.instance_ids

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode of the task named by `options` (`instance_id` or `index`), or of a random one.

        Raises `InputError` for an option or a task that is not known.
        """
        super().reset(seed=seed)
        task = self._episodes.pick(self.np_random, options)
        self._close_episode()
        self._controller = self._episodes.start(task)
        self._title = {"instance_id": task.public.instance_id, "database": task.public.database}
        view = self._controller.view(SYSTEM)
        self._opening = view.message
        return system_seat.observation(view, kinds=self.kinds), self._info(self._controller, view)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Apply one action. What is not a member of the action space is played as an illegal action.

        Where the server under the databases is lost, the episode is truncated, with the status `infra_error`.

        Raises `gymnasium.error.ResetNeeded` where no episode is running.
        """
        controller = self._controller
        if controller is None or controller.turn is None:
            raise ResetNeeded("no episode is running: call reset() first")
        before = controller.rewards[SYSTEM]
        try:
            controller.apply(SYSTEM, system_seat.move(action, self.action_space, self.kinds))
            while self._user is not None and controller.turn not in (SYSTEM, None):
                seat = controller.turn
                controller.apply(seat, self._user.move(controller.view(seat)))
        except InfrastructureError:
            controller.break_off()
        view = controller.view(SYSTEM)
        earned = controller.rewards[SYSTEM] - before
        return (
            system_seat.observation(view, kinds=self.kinds),
            round(earned, 10) if earned else 0.0,
            controller.terminated,
            controller.truncated,
            self._info(controller, view),
        )

    def render(self) -> str | None:
        """The dialogue so far (`render_mode="ansi"`)."""
        if self.render_mode is None:
            return None
        events = self._controller.events if self._controller is not None else ()
        return transcript_text(" ".join(self._title.values()), self._opening, events)

    def close(self) -> None:
        self._close_episode()
        self._episodes.close()
        super().close()

    def _info(self, controller: EpisodeController, view: SystemView) -> dict[str, Any]:
        info = {**self._title, "readings": view.readings}
        if controller.turn is None:
            info |= controller.outcome()
        return info

    def _close_episode(self) -> None:
        if self._controller is not None:
            self._controller.close()
            self._controller = None
