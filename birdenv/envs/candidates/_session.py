"""An episode of the candidates environment that is played in a c-Interact dialogue."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from birdenv.dialogue import Dialogue, Move, Player
from birdenv.dialogue.players import advance, close_players
from birdenv.envs.candidates._observation import CandidateState
from birdenv.envs.candidates._phase import USELESS, ShownPhase, question_about, rows_shown
from birdenv.envs.candidates._setting import CandidateSetting, Drawn, UnsureUser, order_by, points_of
from birdenv.errors import InfrastructureError
from birdenv.tasks import SYSTEM, USER

_ONE = np.zeros(1, np.intp)
_NOTHING = Move("none")
"""A move with an unknown action, which stands for an impossible action and costs as much."""


class Played(NamedTuple):
    """The result of an action.

    Attributes:
        reward: the reward of the step, minus the price of a question.
        terminated: True if the episode has ended according to its rules.
        truncated: True if a failure, or a limit that is not part of the rules, ended the episode.
        allowed: False if the action was refused because the action mask forbade it.
    """

    reward: float
    terminated: bool
    truncated: bool
    allowed: bool


class CandidatesSession:
    """An episode of the candidates environment that is played in a c-Interact dialogue.

    Attributes:
        task: the index of the task.
        dialogue: the dialogue.
        stage: the spans and candidates of the current phase.
        order: the indices of the candidates in `stage`, in the order that the agent sees.
    """

    def __init__(
        self,
        setting: CandidateSetting,
        drawn: Drawn,
        state: CandidateState,
        *,
        seed: int = 0,
        repeat: int = 0,
    ) -> None:
        self._setting, self._drawn, self._state = setting, drawn, state
        self.task = int(drawn.tasks[0])
        self._name = setting.ids[self.task]
        self._asked, self._price = 0, float(drawn.prices[0])
        self.dialogue: Dialogue = setting.arena.start(self._name)
        self._players: list[Player | None] = setting.arena.seat_players(
            self.dialogue, self._name, seed=seed, repeat=repeat, but=SYSTEM
        )
        user = self._players[USER]
        if setting.refusals and user is not None:
            points = points_of(self.dialogue.rules.private_brief(USER))
            refused = [
                term for term, u in zip(points, drawn.refusals[0], strict=False) if u < setting.refusals
            ]
            self._players[USER] = UnsureUser(user, refused)
        self._results: list[str] = []
        self._phase = 0
        state.price(_ONE, drawn.prices)
        self._show()

    @property
    def open(self) -> bool:
        """Return True while the episode is running."""
        return bool(self.dialogue.open)

    def act(self, action: int) -> Played:
        """Play the action with the index `action` (see `Layout`)."""
        state, dialogue = self._state, self.dialogue
        allowed = bool(state.masks()[0, action])
        could_ask, before = bool(state.can_ask[0]), dialogue.rewards[SYSTEM]
        move = self._move(action) if allowed else _NOTHING
        attempts = len(dialogue.outcome()["attempts"])
        try:
            dialogue.apply(SYSTEM, move)
            advance(dialogue, self._players, SYSTEM)
        except InfrastructureError:
            dialogue.stop("infra_error")
        earned = dialogue.rewards[SYSTEM] - before
        if could_ask and move.action in ("clarify", _NOTHING.action):
            earned -= self._price
            self._asked += 1
        if allowed and dialogue.open:
            self._note(action)
        if dialogue.open:
            self._show(submitted=len(dialogue.outcome()["attempts"]) > attempts)
        truncated = dialogue.truncated
        return Played(round(float(earned), 10), not (dialogue.open or truncated), truncated, allowed)

    def outcome(self) -> dict[str, Any]:
        """Return the public outcome, the number of paid questions, and the price of a question."""
        return {**self.dialogue.outcome(), "questions": self._asked, "price": self._price}

    def close(self) -> None:
        """End the dialogue, and release its players and its database."""
        close_players(self._players)
        self.dialogue.close()

    def _move(self, action: int) -> Move:
        layout = self._state.layout
        if action < layout.spans:
            return Move("clarify", question_about(self.stage.phrases[action].text))
        if action == layout.useless:
            return Move("clarify", USELESS)
        if action == layout.give_up:
            return Move("quit")
        kind, first = (
            ("execute_sql", layout.execute) if action < layout.submit else ("submit_sql", layout.submit)
        )
        return Move(kind, self.stage.sqls[self.order[action - first]])

    def _note(self, action: int) -> None:
        """Update the state from the reply to an action. `_show` handles the effects of a submission."""
        state, layout = self._state, self._state.layout
        view = self.dialogue.view(SYSTEM)
        if action <= layout.useless:
            fits = self.stage.fit(view.message)[None, self.order]
            state.hear(_ONE, np.array([action]), fits)
        elif action < layout.submit:
            text = view.message
            if text not in self._results:
                self._results.append(text)
            rows = np.array([rows_shown(text, view.sender)], np.float32)
            result = np.array([self._results.index(text)])
            state.see(_ONE, np.array([action - layout.execute]), rows, result)
        elif action < layout.give_up and view.phase == self._phase:
            state.try_out(_ONE, np.array([action - layout.submit]))

    def _show(self, *, submitted: bool = False) -> None:
        """Update the actions that the protocol allows now, and the whole state if a phase has begun."""
        state, view = self._state, self.dialogue.view(SYSTEM)
        if view.phase != self._phase:
            self._phase = view.phase
            setting = self._setting
            sqls = setting.shown(self._name, view.extras, view.phase)
            self.stage = ShownPhase(state.layout, view.message, view.instruction, sqls, setting.dialect)
            self.order = order_by(self._drawn.orders[view.phase - 1], np.array([len(sqls)]))[0]
            self._results = []
            state.begin(
                _ONE,
                self.stage.spans[None],
                self.stage.candidates[None, self.order],
                self.stage.readable[None, self.order],
                view.phase,
            )
        elif submitted:
            state.debug(_ONE)
        state.turns_left[:] = int(view.gauges["turns_left"])
        state.can_ask[:] = "clarify" in view.legal and view.gauges["turns_left"] > 0
        state.can_execute[:] = "execute_sql" in view.legal
