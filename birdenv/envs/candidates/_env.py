"""The Gymnasium environment for the candidate setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils import EzPickle

from birdenv.envs._gymnasium import checked_render_mode, transcript_text
from birdenv.envs.candidates._compiled import CompiledSession
from birdenv.envs.candidates._observation import CandidateState, observation_space
from birdenv.envs.candidates._session import CandidatesSession
from birdenv.envs.candidates._setting import (
    MAX_CANDIDATES,
    MAX_SPANS,
    PRICES,
    QUESTIONS,
    CandidateSetting,
    Drawn,
)
from birdenv.envs.candidates._tables import TaskTables


class CInteractCandidatesEnv(gymnasium.Env[dict[str, Any], Any], EzPickle):
    """c-Interact as a choice among fixed questions, each of which has a price, and candidate SQL statements.

    Actions (`Discrete`), in this order: ask "What do you mean by '...'?" about span i of the request; ask a
    useless question; execute candidate j; submit candidate j; give up. `action_masks()` returns the possible
    actions. An impossible action is refused, and costs a question or an attempt.

    Observation: a `Dict` of flat `Box` spaces from 0 to 1: `spans`, `candidates` and `episode`. They are
    computed only from data that the system seat can see: request, schema, knowledge, candidates, answers and
    results. Candidates are shuffled in each episode.

    The rewards are those of c-Interact, minus the price of each question. The price is drawn for each episode
    and is part of the observation.

    Episodes are computed from tables. The tables for a task are compiled when the task is first played,
    unless they have been saved before, for example by a batch (`CInteractCandidatesVectorEnv`). A dialogue is
    played instead if there is a `render_mode`, if the profile is not `strict`, if the user or the rewards are
    not the default, or if a task cannot be compiled. Observations, rewards and infos are the same in both
    cases.

    Args:
        render_mode: `ansi` makes `render()` return the dialogue as text.
        prices: the possible prices of a question. A price is drawn at random for each episode.
        refusals: the probability, from 0 to 1, that the user cannot explain an annotated ambiguity. In every
            episode, there is a separate draw for each ambiguity.
        questions: the maximum number of questions in each task.
        candidates: the paths of prediction files, whose statements replace the tasks' own candidates.
        max_spans: the maximum number of spans to ask about; later spans of the request are left out.
        max_candidates: the maximum number of candidates for a task.
        **settings: the settings of c-Interact, such as `data_dir`, `databases`, `instances`, `user`.

    Attributes:
        layout: the layout of observations and actions.

    Raises:
        InputError: settings or files cannot be used, or no task has candidates.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        render_mode: str | None = None,
        *,
        prices: Sequence[float] = PRICES,
        refusals: float = 0.0,
        questions: int = QUESTIONS,
        candidates: str | Sequence[str] | None = None,
        max_spans: int = MAX_SPANS,
        max_candidates: int = MAX_CANDIDATES,
        **settings: Any,
    ) -> None:
        EzPickle.__init__(
            self,
            render_mode,
            prices=prices,
            refusals=refusals,
            questions=questions,
            candidates=candidates,
            max_spans=max_spans,
            max_candidates=max_candidates,
            **settings,
        )
        self.render_mode = checked_render_mode(render_mode, self.metadata["render_modes"])
        self._setting = CandidateSetting(
            prices, refusals, questions, candidates, max_spans, max_candidates, **settings
        )
        self.layout = self._setting.layout
        self.observation_space = observation_space(self.layout)
        self.action_space = spaces.Discrete(self.layout.actions)
        self._state = CandidateState(1, self.layout, questions, max(self._setting.prices))
        self._session: CandidatesSession | CompiledSession | None = None
        self._tables: TaskTables | None = None
        self._seed, self._episodes = 0, 0

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """Return the task ids. The reset option `index` is an index into this tuple."""
        return self._setting.ids

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode with a random task, or with the task that `options` selects.

        All distinct requests are equally likely, even if several tasks share a request.

        Args:
            seed: the seed for all later random choices.
            options: `instance_id` or `index` to select the task, and `price` to set the price of a question.

        Raises:
            InputError: an option or a task is not known.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._episodes = seed, 0
        drawn = self._setting.draw_one(self.np_random.random(self.layout.draws), options)
        if self._session is not None:
            self._session.close()
        self._session = self._started(drawn)
        self._episodes += 1
        return self._observation(), self._title(self._session.task)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play an action. `info["refused"]` is `illegal` if the action is not possible now.

        Raises:
            ResetNeeded: no episode is running.
            InvalidAction: the action is not in the action space.
        """
        session = self._session
        if session is None or not session.open:
            raise ResetNeeded("no episode is running: call reset() first")
        if not self.action_space.contains(action):
            raise InvalidAction(
                f"{action!r:.60} is not an action: use a number from 0 to {self.layout.give_up}"
            )
        played = session.act(int(action))
        info = self._title(session.task) | ({} if played.allowed else {"refused": "illegal"})
        if played.terminated or played.truncated:
            info |= session.outcome()
        return self._observation(), played.reward, played.terminated, played.truncated, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the actions that are possible now, with the shape (actions,)."""
        masks: npt.NDArray[np.bool_] = self._state.masks()[0]
        return masks

    def render(self) -> str | None:
        """Return the dialogue so far (`ansi`), or None if there is no `render_mode`."""
        if not isinstance(self._session, CandidatesSession):
            return None
        return transcript_text(self._title(self._session.task), self._session.dialogue, 0)

    def close(self) -> None:
        """End the episode and release the game's databases."""
        if self._session is not None:
            self._session.close()
        self._setting.close()

    def _started(self, drawn: Drawn) -> CandidatesSession | CompiledSession:
        if self.render_mode is None and self._setting.can_compile:
            if self._tables is None:
                self._tables = TaskTables(self._setting)
            compiled = self._tables.stage_of(int(drawn.tasks[0]))
            if compiled is not None:
                return CompiledSession(self._setting, *compiled, drawn, self._state)
        return CandidatesSession(self._setting, drawn, self._state, seed=self._seed, repeat=self._episodes)

    def _observation(self) -> dict[str, Any]:
        return {name: table[0] for name, table in self._state.observe().items()}

    def _title(self, task: int) -> dict[str, Any]:
        return dict(self._setting.arena._tasks.info(self._setting.ids[task]))
