"""The interface for the rules of a game, which depend neither on a clock nor on the dialogue's log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from birdenv.dialogue.move import Event, Move
from birdenv.dialogue.people import Panel
from birdenv.dialogue.seat import Fault, Seat

AS_MADE: Final = object()
"""The value of `Reply.data` that leaves the data of the move in the log unchanged."""

HOUSE_VOICE: Final = "judge"


@dataclass(slots=True)
class Reply:
    """The rules' reply to a move.

    The class is not frozen, because creating a frozen dataclass takes three times as long.

    Attributes:
        text: the message to the player who moved; None for no message.
        sender: the sender of the message, such as `database`.
        data: the data to log instead of the move's data, such as a filtered answer; `AS_MADE` to log the move
            unchanged.
        refused: True if the move was refused, so that only the player who moved sees the event.
    """

    text: str | None = None
    sender: str = HOUSE_VOICE
    data: Any = AS_MADE
    refused: bool = False


class Rules(ABC):
    """The rules of a game, and the state of one episode. Subclass it to define a game.

    Rules must not use threads, clocks, or random numbers other than those that they get on creation. Only a
    `Dialogue` may call methods that change the state.

    Attributes:
        seats: the seats of the game, at least one.
        rewards: the reward that each seat has earned so far.
        status: why the episode is over, such as `completed`; empty while the episode is running.
        truncated: True if the episode was ended by a limit that is not part of the protocol.
        replaying: True while recorded moves are replayed. Recorded answers are not filtered a second time.
        noted: the JSON value that a database or grader returned for the last move; None if the move used
            neither. This value can reveal more than the reply, so no seat may see it. The runner stores it
            for a later replay, and then resets it to None.
        recalled: the stored `noted` value for the move that is being replayed, which saves re-running its
            SQL; None if there is no stored value.
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
        """Return the names of the actions that are possible now for a seat that may act."""

    def offered(self, seat: int) -> tuple[str, ...]:
        """Return the names of all actions that can become possible for a seat during the episode."""
        return self.seats[seat].kinds

    @abstractmethod
    def play(self, seat: int, move: Move) -> Reply:
        """Play a legal and well-formed move by a seat that may act, and return the reply."""

    @abstractmethod
    def instruction(self, seat: int) -> str:
        """Return the instruction for a seat: the rules and its knowledge as text, constant in an episode."""

    def outcome(self) -> dict[str, Any]:
        """Return the public result of the episode, in the game's file format."""
        return {"reward": self.rewards[0]}

    def refuse(self, seat: int, move: Move, why: Fault) -> Reply:
        """Refuse an illegal or malformed move by a seat that may act, and return the reply.

        A game can charge for such a move. A move out of turn is free and never reaches this method.
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
        """Play the move `quit`: the seat leaves the episode for good."""
        self.stop("left")
        return Reply(f"The player of the seat {self.seats[seat].name} left.")

    def stop(self, status: str) -> None:
        """End the episode for a reason that is not part of the rules. The reason becomes its status."""
        self.status, self.truncated = status, True

    def shown(self, seat: int, event: Event) -> Event | None:
        """Return an event as a seat sees it, or None if the seat does not see the event."""
        return event

    def opening(self, seat: int) -> tuple[str, str]:
        """Return the message that a seat gets before the first event, and the sender of the message."""
        return "", HOUSE_VOICE

    def phase(self) -> int:
        """Return the current phase, counted from 1."""
        return 1

    def gauges(self, seat: int) -> Mapping[str, float]:
        """Return how much a seat has left of each limited resource, such as turns, keyed by name."""
        return {}

    def choices(self, seat: int) -> Sequence[Any]:
        """Return the values that a seat can choose from in a field of the kind `item`."""
        return ()

    def scale(self, seat: int) -> Mapping[str, float]:
        """Return the maximum sensible value of each number field, keyed by name, for action spaces."""
        return {}

    def extras(self, seat: int) -> Mapping[str, Any]:
        """Return additional values that a seat may see, such as candidate statements, keyed by name."""
        return {}

    def knowledge(self, seat: int) -> Any:
        """Return the knowledge of a seat as JSON data. The instruction contains this knowledge as text."""
        return None

    def panels(self, seat: int) -> tuple[Panel, ...]:
        """Return the panels that a web page shows beside the conversation to a person in a seat.

        Panels are constant, and show only what the seat may know. If a seat has no panels, pages show its
        plain knowledge and instruction.
        """
        return ()

    def left_in_words(self, seat: int) -> str:
        """Return one or two sentences that tell a person in a seat how much they can still do."""
        return " ".join(
            f"{name.replace('_', ' ').capitalize()}: {value:g}." for name, value in self.gauges(seat).items()
        )

    def private_brief(self, seat: int) -> Any:
        """Return the private knowledge for the player of a seat, or None for an evaluated seat."""
        return None

    def record(self, events: Sequence[Event]) -> dict[str, Any]:
        """Return the fields that the game adds to the episode's public record, given the episode's events."""
        return {}

    def private_record(self) -> dict[str, Any]:
        """Return the fields of the episode's private record. They may reveal the solution."""
        return {}

    def durations(self) -> dict[str, float]:
        """Return the measured durations in seconds, keyed by name."""
        return {}

    def close(self) -> None:  # noqa: B027 (a default)
        """Release databases and other resources. This method can be called more than once."""


def method_that_raised(rules: Rules, error: Exception) -> str:
    """Return the name of the method that raised an exception, in the form ` in Guess.play`.

    The result ends an error message. It is empty if the exception was not raised in a method of the rules.
    """
    method, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_locals.get("self") is rules:
            method = f" in {type(rules).__name__}.{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return method
