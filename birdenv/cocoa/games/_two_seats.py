"""Rules of talk between two seats: who may speak when, and how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.dialogue import Action, Field, Move, Reply, Rules
from birdenv.dialogue.people import ActionWords
from birdenv.dialogue.seat import Fault

MESSAGE: Final = Action("message", (Field("text", max_length=4096),), "Say something to the other.")

MESSAGE_WORDS: Final = ActionWords("Send", "Write to your partner")

MOST_EVENTS: Final = 1000
"""The largest setting of `max_events`."""

_FEW: Final = 10
"""Moves from which on people are told how many are left."""


class TwoSeats(Rules):
    """A game of two seats that may speak at any time, or (without cross-talk) not twice in a row.

    Games define `decide`, which plays what is no message.
    """

    def __init__(self, kbs: Any, cross_talk: bool, max_events: int) -> None:
        self.kbs = kbs
        self.left = max_events
        self._cross_talk = cross_talk
        self._last: int | None = None  # who spoke last

    def open(self) -> tuple[int, ...]:
        if self.status:
            return ()
        return (0, 1) if self._cross_talk or self._last is None else (1 - self._last,)

    def gauges(self, seat: int) -> Mapping[str, float]:
        return {"events_left": self.left}

    def left_in_words(self, seat: int) -> str:
        if self.left > _FEW or self.status:
            return ""
        messages = "message" if self.left == 1 else "messages"
        return f"Only {self.left} more {messages} can be sent, by both of you together."

    def knowledge(self, seat: int) -> Any:
        return self.kbs[seat]

    def decide(self, seat: int, move: Move) -> Reply:
        """Play a move that is no message."""
        raise NotImplementedError

    def play(self, seat: int, move: Move) -> Reply:
        reply = Reply() if move.action == MESSAGE.name else self.decide(seat, move)
        if not reply.refused:
            self._last = seat
        self._count()
        return reply

    def refuse(self, seat: int, move: Move, why: Fault) -> Reply:
        self._count()
        return super().refuse(seat, move, why)

    def _count(self) -> None:
        """Take one event off; the last one ends the dialogue."""
        self.left -= 1
        if not self.left and not self.status:
            self.stop("event limit")
