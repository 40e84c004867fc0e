"""The contract between a game's rules and whatever drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from birdenv.dialogue._event import Event


class Move(NamedTuple):
    """What a seat wants to do: the name of an action and its JSON data."""

    action: str
    data: Any = None


class Controller(Protocol):
    """A dialogue's rules as a synchronous state machine over its event log.

    `apply` takes one move of the seat that `turn` names and returns the event it became. Moves that the rules
    refuse are recorded too and cost what the protocol says; `apply` raises `ValueError` only when the driver
    itself is wrong: not that seat's turn, or the dialogue is over.
    """

    @property
    def events(self) -> Sequence[Event]: ...

    @property
    def turn(self) -> int | None:
        """The seat to move, or None when the dialogue is over."""

    @property
    def terminated(self) -> bool:
        """Over because the protocol came to its end."""

    @property
    def truncated(self) -> bool:
        """Over because a limit outside the protocol was reached."""

    @property
    def rewards(self) -> tuple[float, float]:
        """What each seat has earned so far."""

    def view(self, seat: int) -> Any:
        """All that this seat may see now, and nothing else."""

    def apply(self, seat: int, move: Move) -> Event: ...


class Session(Protocol):
    """One seat's player in one dialogue."""

    def move(self, view: Any) -> Move: ...


def play(controller: Controller, sessions: Sequence[Session]) -> None:
    """Let the sessions (one a seat, by index) play the dialogue to its end."""
    while (seat := controller.turn) is not None:
        controller.apply(seat, sessions[seat].move(controller.view(seat)))
