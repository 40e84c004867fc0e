"""Episodes of the candidates environment that are computed from tables, with the same results as dialogues.

`CompiledEpisodes` is a batch of episodes, and `CompiledSession` a single episode.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates._layout import MAX_POINTS
from birdenv.envs.candidates._observation import CandidateState, Indices
from birdenv.envs.candidates._session import Played
from birdenv.envs.candidates._setting import CandidateSetting, Drawn, order_by
from birdenv.envs.candidates._tables import END, Tables
from birdenv.tasks.interact.rewards import reward

_EARNED: Final = np.array([[reward(phase, attempt, True) for attempt in (1, 2)] for phase in (1, 2)])
_BITS: Final = 1 << np.arange(MAX_POINTS)
_ONE: Final = np.zeros(1, np.intp)


class CompiledEpisodes:
    """A batch of n episodes that are computed from compiled tables.

    Attributes:
        layout: the layout of observations and actions.
        tables: the compiled tables of the tasks.
        state: the visible state of the episodes, from which observations and masks are computed.
        tasks: the index of each episode's task. Shape (n,).
        stages: the index in `tables` of each episode's current stage. Shape (n,).
        order: the indices of the stage's candidates, in the order that the agent sees. Shape (n, candidates).
        attempts: 0 before the first submission in a phase, 1 before the debug attempt. Shape (n,).
    """

    def __init__(self, setting: CandidateSetting, tables: Tables, state: CandidateState) -> None:
        n = len(state.turns_left)
        self._setting, self.layout = setting, setting.layout
        self.tables, self.state = tables, state
        self.tasks = np.zeros(n, np.intp)
        self.stages = np.zeros(n, np.intp)
        self.order = np.zeros((n, self.layout.candidates), np.intp)
        self._later = np.zeros((n, self.layout.candidates))
        self._price = np.zeros(n)
        self._refused = np.zeros(n, np.int64)
        self.attempts = np.zeros(n, np.intp)
        self._free = np.zeros(n, np.int64)

    def begin(self, who: Indices, drawn: Drawn, stages: Indices) -> None:
        """Start the episodes with the indices `who`.

        Args:
            who: the indices of the episodes in the batch.
            drawn: the random choices of these episodes.
            stages: the index in `tables` of each episode's first stage.
        """
        self.tasks[who] = drawn.tasks
        self._price[who] = drawn.prices
        self._later[who] = drawn.orders[1]
        self._refused[who] = ((drawn.refusals < self._setting.refusals) * _BITS).sum(axis=1)
        state = self.state
        state.price(who, drawn.prices)
        state.turns_left[who] = self._setting.questions
        state.can_ask[who] = self._setting.questions > 0
        state.can_execute[who] = self._setting.can_execute
        self._show(who, stages, drawn.orders[0], 1)

    def _show(self, who: Indices, stages: Indices, keys: npt.NDArray[np.float64], phase: int) -> None:
        """Move the episodes with the indices `who` to new stages."""
        tables = self.tables
        order = order_by(keys, tables.counts[stages])
        self.stages[who], self.order[who] = stages, order
        self.attempts[who], self._free[who] = 0, 0
        at = stages[:, None]
        candidates, readable = tables.candidates[at, order], tables.readable[at, order]
        self.state.begin(who, tables.spans[stages], candidates, readable, phase)

    def play(
        self, actions: Indices
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Play an action in each episode, and return arrays of rewards, terminations and refusals."""
        layout, state, tables = self.layout, self.state, self.tables
        everybody = np.arange(len(actions))
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
            stages, questions = self.stages[who], actions[who]
            order = self.order[who]
            fits = tables.fits[stages[:, None], questions[:, None], order]
            if self._setting.refusals:
                refused = (tables.points[stages, questions] & self._refused[who]) != 0
                fits = np.where(refused[:, None], tables.refused[stages[:, None], order], fits)
            state.hear(who, questions, fits)
        if executes.any():
            who = np.flatnonzero(executes)
            shown = actions[who] - layout.execute
            stages, places = self.stages[who], self.order[who, shown]
            state.see(who, shown, tables.rows[stages, places], tables.results[stages, places])
        failed = ~allowed & ~pays & self._uses_attempt(~allowed & ~pays)
        if submits.any():
            who = np.flatnonzero(submits)
            shown = actions[who] - layout.submit
            stages, places = self.stages[who], self.order[who, shown]
            passes = tables.passes[stages, places]
            won = who[passes]
            earned[won] += _EARNED[tables.phases[stages[passes]] - 1, self.attempts[won]]
            following = tables.following[stages, places][passes]
            over[won] = following == END
            go_on = following != END
            self._move_on(won[go_on], following[go_on])
            lost = who[~passes]
            failed[lost] = True
            again = self.attempts[lost] == 0
            state.try_out(lost[again], shown[~passes][again])
        over |= failed & (self.attempts == 1)
        again = failed & ~over
        self.attempts[again] = 1
        self._close_questions(again)
        state.debug(np.flatnonzero(again))
        return np.asarray(np.round(earned, 10), np.float64), over, ~allowed

    def _uses_attempt(self, refused: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return a mask of the refused moves that count as an empty submission, because they are not free."""
        submitted = (self.attempts == 1) | (self.tables.phases[self.stages] == 2)
        free = refused & submitted & (self._free < self._setting.free_refusals)
        self._free[free] += 1
        used: npt.NDArray[np.bool_] = ~free
        return used

    def _move_on(self, who: Indices, stages: Indices) -> None:
        if len(who):
            self._show(who, stages, self._later[who], 2)
            self._close_questions(who)

    def _close_questions(self, who: Any) -> None:
        """End the questions of some episodes, because the protocol allows none after a submission."""
        self.state.turns_left[who] = 0
        self.state.can_ask[who] = False


class CompiledSession:
    """An episode computed from compiled tables, with the same interface as `CandidatesSession`.

    Attributes:
        task: the index of the task.
        open: True while the episode is running.
    """

    def __init__(
        self, setting: CandidateSetting, tables: Tables, stage: int, drawn: Drawn, state: CandidateState
    ) -> None:
        self.task, self.open = int(drawn.tasks[0]), True
        self._episodes = CompiledEpisodes(setting, tables, state)
        self._episodes.begin(_ONE, drawn, np.array([stage]))
        self._price = float(drawn.prices[0])
        self._asked = 0
        self._submitted: list[dict[str, Any]] = []

    def act(self, action: int) -> Played:
        """Play the action with the index `action` (see `Layout`)."""
        episodes, tables, layout = self._episodes, self._episodes.tables, self._episodes.layout
        stage, attempt = int(episodes.stages[0]), int(episodes.attempts[0])
        allowed, could_ask = bool(episodes.state.masks()[0, action]), bool(episodes.state.can_ask[0])
        submits = allowed and layout.submit <= action < layout.give_up
        place = int(episodes.order[0, action - layout.submit]) if submits else 0
        (earned,), (over,), _ = episodes.play(np.array([action]))
        if could_ask and (action <= layout.useless or not allowed):
            self._asked += 1
        elif submits:
            self._note(stage, attempt, str(tables.statuses[stage, place]), float(earned))
        elif not allowed and (over or episodes.attempts[0] != attempt):
            self._note(stage, attempt, "malformed", 0.0)
        self.open = not over
        return Played(float(earned), bool(over), False, allowed)

    def _note(self, stage: int, attempt: int, status: str, earned: float) -> None:
        phase = int(self._episodes.tables.phases[stage])
        name = "debug" if attempt else "first"
        self._submitted.append({"phase": phase, "attempt": name, "status": status, "reward": earned})

    def outcome(self) -> dict[str, Any]:
        """Return the public outcome, the number of paid questions, and the price of a question."""
        return {
            "status": "completed" if self._submitted else "no_submission",
            "reward": round(sum((each["reward"] for each in self._submitted), 0.0), 10),
            "attempts": list(self._submitted),
            "questions": self._asked,
            "price": self._price,
        }

    def close(self) -> None:
        """Do nothing, because an episode that is computed from tables has no dialogue to end."""
