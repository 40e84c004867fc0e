"""c-Interact as a PettingZoo game of two learners: `system_0` asks and answers in SQL, `user_0` explains.

The user's seat sees the clear question and the annotated ambiguities, and answers in text. Whatever it says
passes the controller's leak guard. Both seats earn the same: what the SQL earned. The seats take turns:

    env = c_interact_v0.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample())
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle, seeding
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from birdenv.databases import Isolation
from birdenv.dialogue import Move
from birdenv.envs import _observation as system_seat
from birdenv.envs._episodes import EpisodeController, c_interact_episodes
from birdenv.envs._gymnasium import transcript_text
from birdenv.envs._spaces import UnicodeText
from birdenv.errors import InfrastructureError, InputError
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.c_interact import UserView

__all__ = ["env", "parallel_env", "raw_env"]

_AGENTS = ("system_0", "user_0")
"""By seat."""
_MASK = "legal_kinds"
"""Not `action_mask`: PettingZoo's convention is to sample with anything of that name."""


def env(**kwargs: Any) -> Any:
    """The game with PettingZoo's checks of the order of calls; the arguments are those of `raw_env`."""
    return OrderEnforcingWrapper(raw_env(**kwargs))


def parallel_env(**kwargs: Any) -> Any:
    """The game in PettingZoo's parallel form: both seats give actions, that of the seat to move counts."""
    return turn_based_aec_to_parallel(env(**kwargs))


class raw_env(AECEnv, EzPickle):  # type: ignore[misc]  # noqa: N801 (PettingZoo's name for it)
    """The game itself.

    `system_0` observes as in `CInteractEnv`, with the mask under the name `legal_kinds`, and acts as there.
    `user_0` observes `clear_query`, `ambiguous_query`, `ambiguities` (JSON, one a line: `term`, `snippet`,
    `kind`) and `question` (empty when none is open); its action is the answer. What is not a member of an
    action space is an illegal action of the system, an empty answer of the user.

    The arguments are those of `CInteractEnv` without `user`. `reset` takes the options `instance_id` and
    `index`; as PettingZoo's tests ask, it overlooks others. `infos` hold what is public, at the end `status`,
    `reward` and `attempts`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "c_interact_v0",
        "render_modes": ["human", "ansi"],
        "render_fps": 1,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        data_dir: str | None = None,
        data: str | None = None,
        profile: str = "strict",
        patience: int = 3,
        execute_sql: bool = False,
        instances: list[str] | None = None,
        databases: list[str] | None = None,
        isolation: Isolation = "inline",
        dialect: str = "sqlite",
        dsn: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            data_dir,
            data,
            profile,
            patience,
            execute_sql,
            instances,
            databases,
            isolation,
            dialect,
            dsn,
            render_mode,
        )
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"unknown render_mode {render_mode!r}; known: None, 'human', 'ansi'")
        self.render_mode = render_mode
        self.possible_agents = list(_AGENTS)
        self.agents: list[str] = []
        self._action_spaces: dict[str, Any] = dict(
            zip(_AGENTS, (system_seat.action_space(), UnicodeText(system_seat.TEXT_LENGTH)), strict=True)
        )
        self._observation_spaces = dict(
            zip(_AGENTS, (system_seat.observation_space(_MASK), _user_space()), strict=True)
        )
        self._episodes = c_interact_episodes(
            data_dir=data_dir,
            data=data,
            profile=profile,
            patience=patience,
            execute_sql=execute_sql,
            instances=instances,
            databases=databases,
            isolation=isolation,
            dialect=dialect,
            dsn=dsn,
        )
        self._rng: np.random.Generator | None = None
        self._controller: EpisodeController | None = None
        self._title: dict[str, str] = {}
        self._opening = ""

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        space: spaces.Space[Any] = self._action_spaces[agent]
        return space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None or self._rng is None:
            self._rng, _ = seeding.np_random(seed)
        known = {name: value for name, value in (options or {}).items() if name in ("instance_id", "index")}
        task = self._episodes.pick(self._rng, known)
        self._close_episode()
        self._controller = self._episodes.start(task)
        self._title = {"instance_id": task.public.instance_id, "database": task.public.database}
        self._opening = task.public.question
        self.agents = list(_AGENTS)
        self.agent_selection = _AGENTS[SYSTEM]
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self._look()

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert self._controller is not None
        seat, before = _AGENTS.index(agent), self._controller.rewards
        try:
            self._controller.apply(seat, self._move(agent, action))
        except InfrastructureError:
            self._controller.abort()
        self._cumulative_rewards[agent] = 0.0
        after = self._controller.rewards
        self.rewards = {name: round(after[i] - before[i], 10) for i, name in enumerate(_AGENTS)}
        self._accumulate_rewards()
        self._look()
        if self._controller.turn is not None:
            self.agent_selection = _AGENTS[self._controller.turn]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Any]:
        assert self._controller is not None
        view = self._controller.view(_AGENTS.index(agent))
        return _user_observation(view) if isinstance(view, UserView) else system_seat.observation(view, _MASK)

    def render(self) -> str | None:
        """The dialogue so far: returned (`ansi`) or printed (`human`)."""
        if self.render_mode is None:
            return None
        events = self._controller.events if self._controller is not None else ()
        text = transcript_text(" ".join(self._title.values()), self._opening, events)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        self._close_episode()
        self._episodes.close()

    def _move(self, agent: str, action: Any) -> Move:
        space = self._action_spaces[agent]
        if agent == _AGENTS[USER]:
            return Move("answer", str(action) if space.contains(action) else "")
        return system_seat.move(action, space)

    def _look(self) -> None:
        """Bring PettingZoo's dictionaries up to date with the controller."""
        assert self._controller is not None
        self.terminations = dict.fromkeys(_AGENTS, self._controller.terminated)
        self.truncations = dict.fromkeys(_AGENTS, self._controller.truncated)
        candidates: Sequence[str] = self._controller.view(SYSTEM).candidates
        self.infos: dict[str, dict[str, Any]] = {agent: dict(self._title) for agent in _AGENTS}
        self.infos[_AGENTS[SYSTEM]]["candidates"] = tuple(candidates)
        if self._controller.turn is None:
            for info in self.infos.values():
                info |= self._controller.outcome()

    def _close_episode(self) -> None:
        if self._controller is not None:
            self._controller.close()


def _user_space() -> spaces.Dict:
    return spaces.Dict(
        {
            "clear_query": UnicodeText(system_seat.TEXT_LENGTH),
            "ambiguous_query": UnicodeText(system_seat.TEXT_LENGTH),
            "ambiguities": UnicodeText(system_seat.INSTRUCTION_LENGTH),
            "question": UnicodeText(system_seat.TEXT_LENGTH),
        }
    )


def _user_observation(view: UserView) -> dict[str, str]:
    return {
        "clear_query": view.brief.clear_query,
        "ambiguous_query": view.ambiguous_query,
        "ambiguities": "\n".join(
            json.dumps({"term": a.term, "snippet": a.snippet, "kind": a.kind}, ensure_ascii=False)
            for a in view.brief.ambiguities
        ),
        "question": view.question,
    }
