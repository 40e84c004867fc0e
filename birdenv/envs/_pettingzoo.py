"""The PettingZoo driver: every seat of a game is an agent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle, seeding
from pettingzoo import AECEnv

from birdenv.dialogue import Arena, Dialogue, make_game
from birdenv.envs import _observation as seat_spaces
from birdenv.envs._gymnasium import pick, transcript_text
from birdenv.errors import InfrastructureError, InputError

MASK = "legal_kinds"
"""Not `action_mask`: PettingZoo's convention is to sample with anything of that name."""


class DialogueAEC(AECEnv, EzPickle):  # type: ignore[misc]
    """All seats of any registered game, one move at a time.

    The agents are named after the seats: `system_0`, `user_0`. Each observes and acts as in `DialogueEnv`,
    with the mask under the name `legal_kinds`. `reset` takes the options `instance_id` and `index`; as
    PettingZoo's tests ask, it overlooks others. `infos` hold what is public, at the end the outcome.

    Args:
        game: the game's name.
        render_mode: `human` prints, `ansi` returns the dialogue.
        **settings: settings of the game.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "dialogue_v0",
        "render_modes": ["human", "ansi"],
        "render_fps": 1,
        "is_parallelizable": True,
    }

    def __init__(self, game: str, render_mode: str | None = None, **settings: Any) -> None:
        EzPickle.__init__(self, game, render_mode, **settings)
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"unknown render_mode {render_mode!r}; known: None, 'human', 'ansi'")
        self.render_mode = render_mode
        self._arena: Arena = make_game(game, **settings)
        self._seats = self._arena.game.seats
        self.possible_agents = [f"{seat.name}_0" for seat in self._seats]
        self.agents: list[str] = []
        self._actions = {n: seat_spaces.action_space(s) for n, s in self._by_name()}
        self._observations = {n: seat_spaces.observation_space(s, MASK) for n, s in self._by_name()}
        self._rng: np.random.Generator | None = None
        self._dialogue: Dialogue | None = None
        self._title: dict[str, Any] = {}

    def _by_name(self) -> list[tuple[str, Any]]:
        return list(zip(self.possible_agents, self._seats, strict=True))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self._observations[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode."""
        if seed is not None or self._rng is None:
            self._rng, _ = seeding.np_random(seed)
        known = {name: value for name, value in (options or {}).items() if name in ("instance_id", "index")}
        name = pick(self._arena.ids, self._rng, known)
        self._close_episode()
        self._dialogue = self._arena.start(name)
        self._title = dict(self._arena._tasks.info(name))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.agent_selection = self._next(self._dialogue, len(self._seats) - 1)
        self._look(self._dialogue)

    def step(self, action: Any) -> None:
        """Apply the action of the agent that is selected."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        dialogue = self._dialogue
        assert dialogue is not None
        index, before = self.possible_agents.index(agent), dialogue.rewards
        seat = self._seats[index]
        made = seat_spaces.move(action, seat, self._actions[agent], dialogue.rules.choices(index))
        try:
            if made is not None:
                dialogue.apply(index, made)
        except InfrastructureError:
            dialogue.stop("infra_error")
        self._cumulative_rewards[agent] = 0.0
        after = dialogue.rewards
        self.rewards = {n: round(after[i] - before[i], 10) for i, n in enumerate(self.possible_agents)}
        self._accumulate_rewards()
        self._look(dialogue)
        if dialogue.open:
            self.agent_selection = self._next(dialogue, index)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees now."""
        assert self._dialogue is not None
        index = self.possible_agents.index(agent)
        return seat_spaces.observation(self._dialogue.view(index), self._seats[index], MASK)

    def render(self) -> str | None:
        """Return (`ansi`) or print (`human`) the dialogue so far."""
        if self.render_mode is None:
            return None
        text = transcript_text(self._title, self._dialogue, self._arena.game.evaluated)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """End the episode, and let go of the game."""
        self._close_episode()
        self._arena.close()

    def _next(self, dialogue: Dialogue, after: int) -> str:
        """The next open seat after one."""
        count = len(self._seats)
        return next(
            self.possible_agents[(after + i) % count]
            for i in range(1, count + 1)
            if (after + i) % count in dialogue.open
        )

    def _look(self, dialogue: Dialogue) -> None:
        """Bring PettingZoo's dictionaries up to date with the dialogue."""
        self.terminations = dict.fromkeys(self.possible_agents, dialogue.terminated)
        self.truncations = dict.fromkeys(self.possible_agents, dialogue.truncated)
        self.infos: dict[str, dict[str, Any]] = {}
        for index, agent in enumerate(self.possible_agents):
            self.infos[agent] = {**self._title, **dialogue.rules.extras(index)}
            if not dialogue.open:
                self.infos[agent] |= dialogue.outcome()

    def _close_episode(self) -> None:
        if self._dialogue is not None:
            self._dialogue.close()
