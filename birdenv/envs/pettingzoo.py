"""PettingZoo environments for any game, in which each seat is an agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction
from gymnasium.utils import EzPickle, seeding
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from birdenv.dialogue import Arena, Dialogue, Move, make_game
from birdenv.dialogue.players import SILENT_ROUNDS
from birdenv.envs._gymnasium import checked_render_mode, transcript_text
from birdenv.envs._sampling import RESET_OPTIONS, Sampler
from birdenv.envs._seat_spaces import SeatSpaces
from birdenv.errors import InfrastructureError

MASK = "legal_kinds"
"""The name of the mask of legal actions in observations.

It is not `action_mask`, because PettingZoo's tests pass any mask with that name to the action space.
"""

_NUMBERED: Final = re.compile(r"_\d+$")
"""Matches a number at the end of a seat's name, which then is the name of a PettingZoo agent."""

_RENDER_MODES: Final = ("human", "ansi")


class _AllSeats(EzPickle):
    """A game with an agent in every seat: the spaces, the running dialogue, and the agents' observations."""

    def __init__(self, game: str, render_mode: str | None = None, **settings: Any) -> None:
        EzPickle.__init__(self, game, render_mode, **settings)
        self.render_mode = checked_render_mode(render_mode, _RENDER_MODES)
        self._arena: Arena = make_game(game, **settings)
        self._sampler = Sampler(self._arena)
        self._seats = self._arena.game.seats
        self.agents: list[str] = []
        self._spaces = {
            seat.name if _NUMBERED.search(seat.name) else f"{seat.name}_0": SeatSpaces(seat, MASK)
            for seat in self._seats
        }
        self.possible_agents = list(self._spaces)
        self._rng: np.random.Generator | None = None
        self._dialogue: Dialogue | None = None
        self._title: dict[str, Any] = {}
        self._silent = 0

    @property
    def metadata(self) -> dict[str, Any]:
        """Return what PettingZoo's wrappers and tests need to know about the environment."""
        name = f"{self._arena.game.name.replace('-', '_')}_v0"
        return {
            "name": name,
            "render_modes": list(_RENDER_MODES),
            "render_fps": 1,
            "is_parallelizable": True,
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of an agent."""
        return self._spaces[agent].observations

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of an agent."""
        return self._spaces[agent].actions

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the current observation of an agent."""
        index = self.possible_agents.index(agent)
        return self._spaces[agent].observation(self._running().view(index))

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
        """End the episode and release the game's databases."""
        self._close_episode()
        self._arena.close()

    def _running(self) -> Dialogue:
        assert self._dialogue is not None, "call reset() first"
        return self._dialogue

    def _start(self, seed: int | None, options: Mapping[str, Any] | None) -> Dialogue:
        if seed is not None or self._rng is None:
            self._rng, _ = seeding.np_random(seed)
        known = {name: value for name, value in (options or {}).items() if name in RESET_OPTIONS}
        name = self._sampler.draw(self._rng, known)
        self._close_episode()
        self._dialogue = self._arena.start(name)
        self._title = dict(self._arena._tasks.info(name))
        self._silent = 0
        self._refused: dict[int, str] = {}  # reasons for refusals in this step, by seat
        self.agents = list(self.possible_agents)
        return self._dialogue

    def _read(self, index: int, action: Any) -> Move | None:
        dialogue = self._running()
        choices, scale = dialogue.view(index).choices, dialogue.rules.scale(index)
        return self._spaces[self.possible_agents[index]].move(action, choices, scale)

    def _play(self, index: int, made: Move | None) -> None:
        """Play a move, or count a silent turn if the agent waits (None)."""
        dialogue = self._running()
        if made is None:
            self._silent += 1
            if self._silent >= SILENT_ROUNDS * len(dialogue.open):
                dialogue.stop("silence")
            return
        self._silent = 0
        try:
            dialogue.apply(index, made)
            if dialogue.refused is not None:
                self._refused[index] = dialogue.refused
        except InfrastructureError:
            dialogue.stop("infra_error")

    def _earned(self, before: tuple[float, ...]) -> dict[str, float]:
        after = self._running().rewards
        return {name: round(after[i] - before[i], 10) for i, name in enumerate(self.possible_agents)}

    def _infos(self) -> dict[str, dict[str, Any]]:
        dialogue = self._running()
        outcome = {} if dialogue.open else dialogue.outcome()
        return {
            agent: {
                **self._title,
                **dialogue.view(index).extras,
                **({"refused": self._refused[index]} if index in self._refused else {}),
                **outcome,
            }
            for index, agent in enumerate(self.possible_agents)
        }

    def _close_episode(self) -> None:
        if self._dialogue is not None:
            self._dialogue.close()


class DialogueAEC(_AllSeats, AECEnv):  # type: ignore[misc]
    """A PettingZoo AEC environment for any registered game. Each seat is an agent.

    The agents are named after their seats, such as `system_0` and `user_0`. Observations and actions are
    those of `DialogueEnv`, but the action mask is called `legal_kinds`. `infos` contain only public values
    and, at the end, the public outcome.

    Args:
        game: the name of the game.
        render_mode: `ansi` makes `render()` return the dialogue as text; `human` prints the dialogue.
        **settings: the settings of the game.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        The options are those of `DialogueEnv.reset`. As PettingZoo's tests require, unknown options are
        ignored.
        """
        dialogue = self._start(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.agent_selection = self._next(dialogue, len(self._seats) - 1)
        self._look(dialogue)

    def step(self, action: Any) -> None:
        """Play the selected agent's action. If the action is refused, `infos` gives the reason.

        Raises:
            InvalidAction: the action is not in the agent's action space.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        dialogue = self._running()
        index, before = self.possible_agents.index(agent), dialogue.rewards
        made = self._read(index, action)
        self._refused.clear()
        self._play(index, made)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = self._earned(before)
        self._accumulate_rewards()
        self._look(dialogue)
        if dialogue.open:
            self.agent_selection = self._next(dialogue, index)
        if self.render_mode == "human":
            self.render()

    def _next(self, dialogue: Dialogue, after: int) -> str:
        """Return the name of the next agent that may act, after the seat with the index `after`."""
        count = len(self._seats)
        return next(
            self.possible_agents[(after + i) % count]
            for i in range(1, count + 1)
            if (after + i) % count in dialogue.open
        )

    def _look(self, dialogue: Dialogue) -> None:
        """Update PettingZoo's dictionaries from the dialogue."""
        self.terminations = dict.fromkeys(self.possible_agents, dialogue.terminated)
        self.truncations = dict.fromkeys(self.possible_agents, dialogue.truncated)
        self.infos = self._infos()


_ByAgent = dict[str, Any]


class DialogueParallel(_AllSeats, ParallelEnv):  # type: ignore[misc]
    """A PettingZoo parallel environment for any registered game. Each seat is an agent.

    In each step, the agents that may act at the start of the step act in the order of their seats. An action
    is ignored if its agent may not act, or if an earlier action in the same step made it impossible. Names,
    spaces, options and infos are those of `DialogueAEC`.

    Args:
        game: the name of the game.
        render_mode: `ansi` makes `render()` return the dialogue as text; `human` prints the dialogue.
        **settings: the settings of the game.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_ByAgent, _ByAgent]:
        """Start an episode like `DialogueAEC.reset`; return the observations and infos, keyed by agent."""
        self._start(seed, options)
        return {agent: self.observe(agent) for agent in self.agents}, self._infos()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[_ByAgent, dict[str, float], dict[str, bool], dict[str, bool], _ByAgent]:
        """Play actions, which are keyed by agent.

        Returns:
            The observations, rewards, terminations, truncations and infos, each keyed by agent.

        Raises:
            InvalidAction: an agent is unknown, or an action is not in the agent's action space.
        """
        dialogue, acting = self._running(), self.agents
        if unknown := [name for name in actions if name not in self.possible_agents]:
            raise InvalidAction(f"no agent {unknown[0]!r}; the agents are {', '.join(self.possible_agents)}")
        before = dialogue.rewards
        legal = {index: dialogue.view(index).legal for index in sorted(dialogue.open)}
        moves = {
            index: self._read(index, actions[name])
            for index in legal
            if (name := self.possible_agents[index]) in actions
        }
        self._refused.clear()
        for index, made in moves.items():
            if index not in dialogue.open:
                continue
            lost = set(legal[index]).difference(dialogue.view(index).legal)
            if made is None or made.action not in lost:
                self._play(index, made)
        if not dialogue.open:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        earned, infos = self._earned(before), self._infos()
        return (
            {agent: self.observe(agent) for agent in acting},
            {agent: earned[agent] for agent in acting},
            dict.fromkeys(acting, dialogue.terminated),
            dict.fromkeys(acting, dialogue.truncated),
            {agent: infos[agent] for agent in acting},
        )


class GameFunctions(NamedTuple):
    """The functions in a game's PettingZoo module, which accept `render_mode` and the game's settings.

    Attributes:
        env: returns a `raw_env` in the PettingZoo wrapper that checks the order of calls.
        raw_env: returns the environment with PettingZoo's AEC API, in which one agent acts at a time.
        parallel_env: returns the environment with PettingZoo's parallel API, in which all agents act at once.
    """

    env: Callable[..., OrderEnforcingWrapper]
    raw_env: Callable[..., DialogueAEC]
    parallel_env: Callable[..., DialogueParallel]


def functions_of(game: str) -> GameFunctions:
    """Return the functions that PettingZoo expects in a game's module."""
    raw_env = partial(DialogueAEC, game)
    return GameFunctions(
        lambda **settings: OrderEnforcingWrapper(raw_env(**settings)),
        raw_env,
        partial(DialogueParallel, game),
    )
