"""Players whose errors say whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birdenv.dialogue.move import QUIT, Move, View, as_move
from birdenv.dialogue.players._protocol import Player, SeesEnd
from birdenv.errors import BirdenvError, InfrastructureError


class SeatError(BirdenvError):
    """The player of a seat raised, or returned what is no move; `__cause__` says more."""

    def __init__(self, seat: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.seat = seat
        self.cause = cause


class Watched:
    """Plays as another player does, and raises `SeatError` for what that one raises.

    Attributes:
        left: how the player left without doing what its seat is there for, in silence or by name; else empty.
    """

    def __init__(self, player: Player, seat: int) -> None:
        self.left = ""
        self._player = player
        self._seat = seat

    def move(self, view: View) -> Move | None:
        """Return the player's move.

        Raises:
            InfrastructureError: something that the player needs was lost.
            SeatError: the player raised anything else.
        """
        try:
            made = as_move(self._player.move(view))
            self.left = "said nothing" if made is None else "left" if made.action == QUIT else ""
            return made
        except InfrastructureError:
            raise
        except Exception as error:
            raise SeatError(self._seat, error) from error

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        """Tell the player how the dialogue ended, if it wants to know."""
        if isinstance(self._player, SeesEnd):
            try:
                self._player.see_end(view, outcome)
            except Exception as error:
                raise SeatError(self._seat, error) from error
