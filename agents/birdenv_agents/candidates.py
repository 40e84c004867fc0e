"""Three baselines that choose among a task's public candidates (candidate statements): no LLM.

* `random` picks one blindly.
* `never-asks` picks the one whose words fit the wording of the question best.
* `asks-first` asks about each phrase that the wording leaves open, then picks the one that fits the answers.

Without candidates they have nothing to choose from: `asks-first` spends its questions, then each submits
`SELECT NULL`.
"""

from __future__ import annotations

from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.runs import Setting
from birdenv.tasks import SystemView
from birdenv.tasks.a_interact import COSTS
from birdenv_agents._matching import rank
from birdenv_agents._phrases import open_phrases

__all__ = ["AsksFirstAgent", "NeverAsksAgent", "RandomAgent"]

NOTHING = "SELECT NULL"

_TWO_SUBMISSIONS = 2 * COSTS["submit_sql"]
"""Budget that is not spent on questions."""


class _Agent:
    sees_private = False

    def __init__(self, argument: str, setting: Setting) -> None:
        del argument
        self._ambiguous = setting.game != "bird"


class RandomAgent(_Agent):
    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return _RandomSession(rng)


class NeverAsksAgent(_Agent):
    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return _ReadingSession(rng, asks=False, ambiguous=self._ambiguous)


class AsksFirstAgent(_Agent):
    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return _ReadingSession(rng, asks=True, ambiguous=self._ambiguous)


class _RandomSession:
    """A reading at random, never the same one twice in a phase."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._tried: dict[int, set[str]] = {}

    def move(self, view: SystemView) -> Move:
        tried = self._tried.setdefault(view.phase, set())
        choices = [reading for reading in view.candidates if reading not in tried] or [NOTHING]
        choice = self._rng.choice(choices)
        tried.add(choice)
        return Move("submit_sql", choice)


class _ReadingSession:
    """Questions first (if it asks), then the candidates from the best to the worst."""

    def __init__(self, rng: Random, *, asks: bool, ambiguous: bool) -> None:
        self._rng = rng
        self._asks = asks
        self._ambiguous = ambiguous
        self._phrases: list[str] | None = None
        self._heard: list[str] = []
        self._ranked: dict[int, list[str]] = {}
        self._waiting = False

    def move(self, view: SystemView) -> Move:
        if self._waiting:
            self._heard.append(view.message)
            self._waiting = False
        question = self._next_question(view)
        if question is not None:
            self._waiting = True
            return Move("clarify", question)
        ranked = self._ranked.get(view.phase)
        if ranked is None:
            ranked = self._ranked[view.phase] = self._rank(view)
        return Move("submit_sql", ranked.pop(0) if ranked else NOTHING)

    def _next_question(self, view: SystemView) -> str | None:
        if not self._asks or "clarify" not in view.legal or view.phase != 1 or view.turns_left == 0:
            return None
        if view.budget is not None and view.budget < COSTS["clarify"] + _TWO_SUBMISSIONS:
            return None
        if self._phrases is None:
            self._phrases = open_phrases(view.message, view.instruction)
        if self._phrases:
            return f"What do you mean by '{self._phrases.pop(0)}'?"
        return None if view.candidates else "Is there anything else that I should know about your request?"

    def _rank(self, view: SystemView) -> list[str]:
        if view.phase == 2:  # a follow-up request says everything
            return rank(view.candidates, view.message, (), self._rng, complete=True)
        complete = not self._ambiguous or bool(self._heard)
        return rank(view.candidates, _request(view), self._heard, self._rng, complete=complete)


def _request(view: SystemView) -> str:
    """The question and, in BIRD, its hint, out of the instruction."""
    marks = ("Request: ", "Question: ", "Hint: ")
    return "\n".join(line for line in view.instruction.split("\n") if line.startswith(marks))
