"""Rules: one episode of one game. No clock, no log, no driver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from birdenv.dialogue.move import Event, Move
from birdenv.dialogue.people import Panel
from birdenv.dialogue.seat import Fault, Seat


class _AsMade:
    """The data of a move goes into the log as it was made."""

    def __repr__(self) -> str:
        return "AS_MADE"


AS_MADE: Final = _AsMade()

HOUSE_VOICE: Final = "judge"


@dataclass(slots=True)
class Reply:
    """The result of a move; not frozen only because that triples the cost of making one.

    Attributes:
        text: the house's words to the one who moved; None says nothing.
        sender: the voice that says them.
        data: replaces the move's data in the log (a guarded answer, defaults filled in).
        refused: the move changed nothing for others and is seen by its author only.
    """

    text: str | None = None
    sender: str = HOUSE_VOICE
    data: Any = AS_MADE
    refused: bool = False


class Rules(ABC):
    """One episode of one game: a state machine that is stepped by moves.

    Rules use no randomness but what they were made with, no threads and no clock. Drivers never call them:
    a `Dialogue` does, which keeps the log.

    Attributes:
        seats: the game's seats, one or more.
        rewards: earned so far, by seat.
        status: why the episode is over; empty while it is running.
        truncated: True if a limit outside of the protocol ended it.
        replaying: True while recorded moves are played again: words that were filtered stay as they are.
        noted: what a database or a grader said to the last move, as a JSON value; None if none was asked. It
            may tell more than the reply, and is nobody's to see. A driver that keeps it sets it back to None.
        recalled: what was noted of the move that is being replayed: so no SQL runs again. None if nothing is
            known.
    """

    seats: tuple[Seat, ...]
    rewards: tuple[float, ...] = (0.0, 0.0)
    status: str = ""
    truncated: bool = False
    replaying: bool = False
    noted: Any = None
    recalled: Any = None

    @abstractmethod
    def open(self) -> Collection[int]:
        """Return the seats that may act now; none when the episode is over."""

    @abstractmethod
    def legal(self, seat: int) -> tuple[str, ...]:
        """Return the names of the actions of an open seat that are possible now."""

    def offered(self, seat: int) -> tuple[str, ...]:
        """Return the names of the actions of a seat that may become possible in this episode."""
        return self.seats[seat].kinds

    @abstractmethod
    def play(self, seat: int, move: Move) -> Reply:
        """Play a move that is open, legal and well-formed."""

    @abstractmethod
    def instruction(self, seat: int) -> str:
        """Return the rules and the knowledge of a seat as text; constant in an episode."""

    def outcome(self) -> dict[str, Any]:
        """Return the public result, in the shape of the game's files."""
        return {"reward": self.rewards[0]}

    def refuse(self, seat: int, move: Move, why: Fault) -> Reply:
        """Refuse a move of an open seat that is illegal or malformed, at the price that the protocol asks.

        A seat that is not open never gets here: to speak out of turn costs nothing in any game.
        """
        action = self.seats[seat].by_name.get(move.action)
        if action is None:
            said = "there is no such action"
        elif why == "illegal":
            said = f"{action.name} is not possible now"
        else:
            said = action.needed(self.choices(seat))
        return Reply(f"Not done: {said}. Possible: {', '.join(self.legal(seat))}.", refused=True)

    def leave(self, seat: int) -> Reply:
        """Let a seat leave for good (`quit`)."""
        self.stop("left")
        return Reply("You left.")

    def stop(self, status: str) -> None:
        """End the episode by the house; `status` says why and is kept."""
        self.status, self.truncated = status, True

    def shown(self, seat: int, event: Event) -> Event | None:
        """Return the event as this seat sees it; None if it does not see it."""
        return event

    def opening(self, seat: int) -> tuple[str, str]:
        """Return the words before the first event, and who says them."""
        return "", HOUSE_VOICE

    def phase(self) -> int:
        """Return the phase, from 1."""
        return 1

    def gauges(self, seat: int) -> Mapping[str, float]:
        """Return what is left of everything that can run out, such as turns, by name."""
        return {}

    def choices(self, seat: int) -> Sequence[Any]:
        """Return the values that `item` fields may have."""
        return ()

    def scale(self, seat: int) -> Mapping[str, float]:
        """Return the largest number that makes sense in this episode, by field; action spaces end there."""
        return {}

    def extras(self, seat: int) -> Mapping[str, Any]:
        """Return public extras of the game."""
        return {}

    def knowledge(self, seat: int) -> Any:
        """Return the seat's knowledge as JSON data: constant, and never more than its instruction tells."""
        return None

    def panels(self, seat: int) -> tuple[Panel, ...]:
        """Return what a person sees in addition to the conversation: constant, and only what the seat may
        know.

        Without panels pages show the knowledge and the instruction as they are.
        """
        return ()

    def left_in_words(self, seat: int) -> str:
        """Return a sentence or two for a person about what is left of the things that run out."""
        return " ".join(
            f"{name.replace('_', ' ').capitalize()}: {value:g}." for name, value in self.gauges(seat).items()
        )

    def private_brief(self, seat: int) -> Any:
        """Return what a player of this seat is told in addition to its views; None for evaluated seats."""
        return None

    def record(self, events: Sequence[Event]) -> dict[str, Any]:
        """Return the game's own fields of the public record of a run, from the state and the log."""
        return {}

    def private_record(self) -> dict[str, Any]:
        """Return the fields of the private record of a run; they may tell of the solution."""
        return {}

    def durations(self) -> dict[str, float]:
        """Return seconds by name, for the side channel of timings."""
        return {}

    def close(self) -> None:  # noqa: B027 (a default)
        """Let go of databases and the like; may be called twice."""


def method_that_raised(rules: Rules, error: Exception) -> str:
    """Return ` in Guess.play`: the innermost method of the rules that an exception came through, if any."""
    method, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_locals.get("self") is rules:
            method = f" in {type(rules).__name__}.{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return method
