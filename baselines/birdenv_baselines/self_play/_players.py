"""Players that let a policy decide what the user discloses, and whether the system asks again."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from birdenv_agents._candidate_match import rank
from birdenv_agents._open_phrases import open_phrases

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.users import Ambiguity, Brief
from birdenv.users.decoder import OUT_OF_SCOPE, decode
from birdenv.users.understanding import Choice, understand
from birdenv_baselines.self_play._policy import Policy

USER_FEATURES: Final = ("asked, matters", "asked, a detail", "not asked, matters", "not asked, a detail")
"""Features of a point: whether the question is about it, and whether it matters (critical or knowledge)."""

SYSTEM_FEATURES: Final = ("first question", "further question", "phrase unknown", "last answer told nothing")


class DisclosingUser:
    """A simulated user whose policy decides, at each question, which annotated ambiguities to clarify.

    The policy can clarify an ambiguity that was not asked about.
    """

    def __init__(self, policy: Policy, brief: Brief, rng: Random) -> None:
        self._policy = policy
        self._brief = brief
        self._rng = rng
        self._told: set[str] = set()

    def move(self, view: View) -> Move:
        """Answer the system's last question."""
        question = view.message
        asked = {item.snippet for item in understand(self._brief, question).items}
        chosen = [point for point in self._brief.ambiguities if self._tells(point, point.snippet in asked)]
        self._told |= {point.snippet for point in chosen}
        if not chosen:
            return Move("answer", OUT_OF_SCOPE, {"call": "unanswerable", "target": "", "granted": []})
        choice = Choice("labelled", " + ".join(point.term for point in chosen), tuple(chosen))
        granted = [point.snippet for point in chosen]
        trace = {"call": "labelled", "target": choice.target, "granted": granted}
        return Move("answer", decode(choice, self._brief), trace)

    def _tells(self, point: Ambiguity, asked: bool) -> bool:
        if point.snippet in self._told:
            return False
        matters = point.kind != "non_critical"
        place = (0 if asked else 2) + (0 if matters else 1)
        return self._policy.decide([float(i == place) for i in range(len(USER_FEATURES))], self._rng)


class AskingSystem:
    """A system that asks about ambiguous phrases until its policy stops, and then submits a candidate."""

    def __init__(self, policy: Policy, rng: Random) -> None:
        self._policy = policy
        self._rng = rng
        self._phrases: list[str] | None = None
        self._answers: list[str] = []
        self._questions = 0
        self._waiting = False
        self._ranked: dict[int, list[str]] = {}

    def move(self, view: View) -> Move:
        """Ask the next question, or submit the candidate that best fits the request and the answers."""
        if self._waiting:
            self._answers.append(view.message)
            self._waiting = False
        if self._phrases is None:
            self._phrases = open_phrases(view.message, view.instruction)
        if self._phrases and "clarify" in view.legal and view.turns_left and self._asks(view):
            self._waiting = True
            self._questions += 1
            return Move("clarify", f"What do you mean by '{self._phrases.pop(0)}'?")
        self._phrases = []
        ranked = self._ranked.get(view.phase)
        if ranked is None:
            heard: Sequence[str] = self._answers if view.phase == 1 else ()
            request = view.instruction if view.phase == 1 else view.message
            complete = bool(heard) or view.phase == 2
            ranked = rank(view.candidates, _request(request), heard, self._rng, complete=complete)
            self._ranked[view.phase] = ranked
        return Move("submit_sql", ranked.pop(0) if ranked else "SELECT NULL")

    def _asks(self, view: View) -> bool:
        assert self._phrases
        first = not self._questions
        known = self._phrases[0].lower() in view.instruction.partition("Database:")[2].lower()
        in_vain = bool(self._answers) and self._answers[-1] == OUT_OF_SCOPE
        return self._policy.decide(
            [float(first), float(not first), float(not known), float(in_vain)], self._rng
        )


def _request(text: str) -> str:
    """Return the line of an instruction that contains the request, or the whole text without such a line."""
    lines = [line for line in text.split("\n") if line.startswith("Request: ")]
    return lines[0] if lines else text


def user_of(policy: Policy, context: PlayerContext) -> DisclosingUser:
    """Return a user with this policy for one episode."""
    briefs: Any = context.brief
    return DisclosingUser(policy, briefs[0], context.rng)


def system_of(policy: Policy, context: PlayerContext) -> AskingSystem:
    """Return a system with this policy for one episode."""
    return AskingSystem(policy, context.rng)
