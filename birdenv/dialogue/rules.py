"""The interface of the rules of a game. Rules do not depend on a clock, a log or a driver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from birdenv.dialogue.move import Event, Move
from birdenv.dialogue.people import Panel
from birdenv.dialogue.seat import Fault, Seat

AS_MADE: Final = object()
"""As `Reply.data`: log the data of the move unchanged."""

HOUSE_VOICE: Final = "judge"


@dataclass(slots=True)
class Reply:
    """The result of a move.

    It is not frozen, because a frozen dataclass takes three times as long to create.

    Attributes:
        text: what the house tells the player who moved; None if it says nothing.
        sender: the voice in which the house says it.
        data: the data that replace the move's data in the log, such as an answer after the leak guard.
        refused: True if the move had no effect on the other seats. Only the player who moved sees the event.
    """

    text: str | None = None
    sender: str = HOUSE_VOICE
    data: Any = AS_MADE
    refused: bool = False


class Rules(ABC):
    """The rules and the state of one episode. Only moves change the state.

    Rules use no threads and no clock, and only the randomness that they get when they are created. Only a
    `Dialogue`, which keeps the log, calls them; drivers never do.

    Attributes:
        seats: the game's seats, one or more.
        rewards: the rewards earned so far, by seat.
        status: why the episode is over; empty while it is running.
        truncated: True if a limit outside of the protocol ended the episode.
        replaying: True while recorded moves are played again. Recorded answers are not filtered again.
        noted: the answer of a database or a grader to the last move, as a JSON value; None if neither was
            asked. It may say more than the reply, so no seat may see it. A driver that stores it resets it
            to None.
        recalled: the stored `noted` value of the move that is being replayed, so that no SQL has to run
            again; None if there is no stored value.
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
        """Return the seats that may act now, or an empty collection if the episode is over."""

    @abstractmethod
    def legal(self, seat: int) -> tuple[str, ...]:
        """Return the names of the actions that are possible for an open seat now."""

    def offered(self, seat: int) -> tuple[str, ...]:
        """Return the names of all actions that may become possible for a seat during this episode."""
        return self.seats[seat].kinds

    @abstractmethod
    def play(self, seat: int, move: Move) -> Reply:
        """Play a legal and well-formed move of an open seat, and return the reply."""

    @abstractmethod
    def instruction(self, seat: int) -> str:
        """Return the rules and the knowledge of a seat as text. It does not change during an episode."""

    def outcome(self) -> dict[str, Any]:
        """Return the public result, in the format of the game's files."""
        return {"reward": self.rewards[0]}

    def refuse(self, seat: int, move: Move, why: Fault) -> Reply:
        """Refuse an illegal or malformed move of an open seat, and charge the price that the protocol sets.

        A move out of turn never comes here, because it is free in every game.
        """
        action = self.seats[seat].by_name.get(move.action)
        if action is None:
            said = "there is no such action"
        elif why == "illegal":
            said = f"{action.name} is not possible now"
        else:
            said = action.needed(self.choices(seat))
        return Reply(f"Not done: {said}. Possible actions: {', '.join(self.legal(seat))}.", refused=True)

    def leave(self, seat: int) -> Reply:
        """Play the move `quit`, by which a seat leaves the episode for good."""
        self.stop("left")
        return Reply("You left.")

    def stop(self, status: str) -> None:
        """End the episode from outside. `status` is the reason."""
        self.status, self.truncated = status, True

    def shown(self, seat: int, event: Event) -> Event | None:
        """Return the event as this seat sees it, or None if the seat does not see it."""
        return event

    def opening(self, seat: int) -> tuple[str, str]:
        """Return the message that a seat gets before the first event, and the sender of this message."""
        return "", HOUSE_VOICE

    def phase(self) -> int:
        """Return the current phase, counted from 1."""
        return 1

    def gauges(self, seat: int) -> Mapping[str, float]:
        """Return how much is left of each limited resource, such as turns, by name."""
        return {}

    def choices(self, seat: int) -> Sequence[Any]:
        """Return the values that a seat's fields of the kind `item` may have."""
        return ()

    def scale(self, seat: int) -> Mapping[str, float]:
        """Return the largest sensible number for each field, by name; they bound the action space."""
        return {}

    def extras(self, seat: int) -> Mapping[str, Any]:
        """Return further public values of this game, by name."""
        return {}

    def knowledge(self, seat: int) -> Any:
        """Return the seat's knowledge as JSON data, which is constant and adds nothing to the instruction."""
        return None

    def panels(self, seat: int) -> tuple[Panel, ...]:
        """Return what a person in this seat sees beside the conversation.

        Panels are constant, and show only what the seat may know. For a seat without panels, pages show the
        knowledge and the instruction as they are.
        """
        return ()

    def left_in_words(self, seat: int) -> str:
        """Return one or two sentences that tell a person how much is left of each limited resource."""
        return " ".join(
            f"{name.replace('_', ' ').capitalize()}: {value:g}." for name, value in self.gauges(seat).items()
        )

    def private_brief(self, seat: int) -> Any:
        """Return the private knowledge that a player of this seat gets, or None for an evaluated seat."""
        return None

    def record(self, events: Sequence[Event]) -> dict[str, Any]:
        """Return the fields that the game adds to the episode's public record, from the state and the log."""
        return {}

    def private_record(self) -> dict[str, Any]:
        """Return the fields of the episode's private record, which may reveal the solution."""
        return {}

    def durations(self) -> dict[str, float]:
        """Return measured durations in seconds, by name, for the file of timings."""
        return {}

    def close(self) -> None:  # noqa: B027 (a default)
        """Release databases and other resources. Calling this twice is fine."""


def method_that_raised(rules: Rules, error: Exception) -> str:
    """Return the innermost method of the rules that an exception passed through, such as ` in Guess.play`.

    The result is an empty string if the exception passed through no method of the rules.
    """
    method, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_locals.get("self") is rules:
            method = f" in {type(rules).__name__}.{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return method
