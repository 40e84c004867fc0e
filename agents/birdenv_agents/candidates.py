"""Three baselines that choose among a task's public candidates without a language model.

* `random` picks a candidate at random.
* `never-asks` picks the candidate that best fits the wording of the request.
* `asks-first` asks about each ambiguous phrase, then picks the candidate that best fits the answers.

If a task has no candidates, all three submit `SELECT NULL`; `asks-first` still asks its questions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from random import Random

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.games import find_game
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv.tasks.a_interact import COSTS
from birdenv_agents._candidate_match import rank
from birdenv_agents._open_phrases import open_phrases

__all__ = ["asks_first", "never_asks", "random"]

NOTHING = "SELECT NULL"

_TWO_SUBMISSIONS = 2 * COSTS["submit_sql"]
"""The part of a budget that is not spent on questions."""


@plays("bird", "c-interact", "a-interact")
def random(argument: str, context: PlayerContext) -> RandomPlayer:
    """Return a player that picks candidates at random."""
    return RandomPlayer(_of_sql(context).rng)


@plays("bird", "c-interact", "a-interact")
def never_asks(argument: str, context: PlayerContext) -> CandidatePlayer:
    """Return a player that picks candidates based only on the wording of the request."""
    return CandidatePlayer(_of_sql(context).rng, asks=False, ambiguous=_is_ambiguous(context))


@plays("bird", "c-interact", "a-interact")
def asks_first(argument: str, context: PlayerContext) -> CandidatePlayer:
    """Return a player that asks questions before it picks candidates."""
    return CandidatePlayer(_of_sql(context).rng, asks=True, ambiguous=_is_ambiguous(context))


def _of_sql(context: PlayerContext) -> PlayerContext:
    if "submit_sql" not in find_game(context.game).seats[context.seat].by_name:
        raise InputError(
            f"{context.game} has no SQL to choose from: random, never-asks and asks-first play only SQL "
            "games. Choose another player, such as rulebased"
        )
    if context.tasks and not any(getattr(task, "candidates", ()) for task in context.tasks):
        warnings.warn(
            "no task in this file has candidate statements for random, never-asks and asks-first to choose "
            f"from, so they submit {NOTHING}",
            stacklevel=2,
        )
    return context


def _is_ambiguous(context: PlayerContext) -> bool:
    """Return True if requests of the game are ambiguous."""
    return context.game != "bird"


class RandomPlayer:
    """A player that submits random candidates, but never the same candidate twice in a phase."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._tried: dict[int, set[str]] = {}

    def move(self, view: View) -> Move:
        tried = self._tried.setdefault(view.phase, set())
        choices = [each for each in _candidates(view) if each not in tried] or [NOTHING]
        choice = self._rng.choice(choices)
        tried.add(choice)
        return Move("submit_sql", choice)


class CandidatePlayer:
    """A player that submits candidates, best fit first.

    Args:
        rng: the random generator that breaks ties.
        asks: True to ask the user about ambiguous phrases first.
        ambiguous: True if the game's requests are ambiguous.
    """

    def __init__(self, rng: Random, *, asks: bool, ambiguous: bool) -> None:
        self._rng = rng
        self._asks = asks
        self._ambiguous = ambiguous
        self._phrases: list[str] | None = None
        self._heard: list[str] = []
        self._ranked: dict[int, list[str]] = {}
        self._waiting = False

    def move(self, view: View) -> Move:
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

    def _next_question(self, view: View) -> str | None:
        if not self._asks or "clarify" not in view.legal or view.phase != 1 or view.gauges["turns_left"] == 0:
            return None
        budget = view.gauges.get("budget")
        if budget is not None and budget < COSTS["clarify"] + _TWO_SUBMISSIONS:
            return None
        if self._phrases is None:
            self._phrases = open_phrases(view.message, view.instruction)
        if self._phrases:
            return f"What do you mean by '{self._phrases.pop(0)}'?"
        return None if _candidates(view) else "Is there anything else that I should know about your request?"

    def _rank(self, view: View) -> list[str]:
        if view.phase == 2:  # a follow-up request says everything
            return rank(_candidates(view), view.message, (), self._rng, complete=True)
        complete = not self._ambiguous or bool(self._heard)
        return rank(_candidates(view), _request(view), self._heard, self._rng, complete=complete)


def _request(view: View) -> str:
    """Return the request or question in an instruction, with the hint that BIRD gives."""
    marks = ("Request: ", "Question: ", "Hint: ")
    return "\n".join(line for line in view.instruction.split("\n") if line.startswith(marks))


def _candidates(view: View) -> Sequence[str]:
    found: Sequence[str] = view.extras.get("candidates", ())
    return found
