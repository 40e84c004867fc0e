"""The rule-based user: the same brief and question give the same answer, offline and for nothing."""

from __future__ import annotations

from birdenv.users._brief import Answer, Brief
from birdenv.users._decoder import decode
from birdenv.users._encoder import encode
from birdenv.users._guard import guard_answer

__all__ = ["RuleUser"]


class RuleUser:
    """A `User` without a language model: encoder, decoder and leak guard in a row (BIRD-Interact §3.1).

    It never raises, whatever the question, and keeps nothing from one question to the next.
    """

    def answer(self, brief: Brief, question: str) -> Answer:
        """The user's answer to a system's clarification question."""
        choice = encode(brief, question)
        granted = tuple(dict.fromkeys(item.snippet for item in choice.items))
        if choice.segment is not None:
            granted = (choice.segment.sql,)
        guarded = guard_answer(decode(choice, brief.identifiers), brief, granted)
        return Answer(guarded.text, choice.call, choice.target, granted, bool(guarded.reason))
