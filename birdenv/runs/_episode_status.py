"""Statuses of episodes, and whose fault it is that one broke off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from birdenv.dialogue import Dialogue, Game, Move, Player, View, play
from birdenv.dialogue._move import QUIT, as_move
from birdenv.dialogue._rules import method_that_raised
from birdenv.dialogue.measures import PARTNER_ERROR
from birdenv.dialogue.players import SeesEnd
from birdenv.errors import BenchmarkError, BirdenvError, InfrastructureError, InputError, describe_error
from birdenv.llm import ContextOverflowError
from birdenv.runs._player_process import MoveTimeoutError

CONTEXT_LIMIT: Final = "agent context limit"
"""Status of an episode in which the agent's model could not take its prompt any more: it is its failure."""

_CONTEXT: Final = re.compile(
    r"context[ _-]?(length|window|limit|size)|(prompt|input) is too long|too many (input|prompt) tokens"
    r"|exceeds? .{0,40}(context|maximum (number of )?(input )?tokens)",
    re.IGNORECASE,
)
"""How providers and local servers say so."""

RETRIED = frozenset({"task error", PARTNER_ERROR, "infra_error", "test_error"})
"""Statuses that are nobody's answer; `--resume` plays these tasks again."""

TIME_LIMIT: Final = "time limit"
"""The status of an episode whose agent did not move in time. It counts as the agent's."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an episode broke off: the status it gets, one line for people, and whose player it was."""

    status: str
    error: str
    seat: int | None = None


class SeatError(BirdenvError):
    """The player of a seat raised, or returned what is no move; `__cause__` says more."""

    def __init__(self, seat: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.seat = seat
        self.cause = cause


def failure(error: Exception, evaluated: int | None = None) -> Failure:
    """Return whose fault an exception is: the machine's or the data's, or a player's (or ours).

    Args:
        error: the exception; a `SeatError` tells whose player raised it.
        evaluated: the seat that is rated. Without it, every player's error is the agent's.
    """
    seat = None
    if isinstance(error, SeatError):
        seat, error = error.seat, error.cause
    if isinstance(error, BenchmarkError | InfrastructureError | InputError):
        return Failure("infra_error", str(error))
    said = str(error) if isinstance(error, BirdenvError) else describe_error(error)
    if seat is not None and evaluated is not None and seat != evaluated:
        return Failure(PARTNER_ERROR, said, seat)
    if isinstance(error, MoveTimeoutError):
        return Failure(TIME_LIMIT, said, seat)
    is_full = (
        isinstance(error, ContextOverflowError)
        or getattr(error, "code", None) == "context_length_exceeded"
        or _CONTEXT.search(said) is not None
    )
    return Failure(CONTEXT_LIMIT if is_full else "task error", said, seat)


class _Watched:
    """A player whose errors say whose they are."""

    def __init__(self, player: Player, seat: int) -> None:
        self._player = player
        self._seat = seat
        self.left = ""  # without doing what the seat is there for: in silence, or by name

    def move(self, view: View) -> Move | None:
        try:
            made = as_move(self._player.move(view))
            self.left = "said nothing" if made is None else "left" if made.action == QUIT else ""
            return made
        except InfrastructureError:
            raise
        except Exception as error:
            raise SeatError(self._seat, error) from error

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        if isinstance(self._player, SeesEnd):
            try:
                self._player.see_end(view, outcome)
            except Exception as error:
                raise SeatError(self._seat, error) from error


def _left_alone(dialogue: Dialogue, players: Sequence[_Watched | None], game: Game) -> Failure | None:
    """The failure of a seat that can only answer, and did not: that is no move of its game."""
    if dialogue.status not in ("silence", "left"):
        return None
    for place, (seat, player) in enumerate(zip(game.seats, players, strict=True)):
        only_answers = place != game.evaluated and len(seat.actions) == 1
        if only_answers and player is not None and player.left:
            return Failure(PARTNER_ERROR, f"the player of the seat {seat.name} {player.left}", place)
    return None


def play_safely(dialogue: Dialogue, players: Sequence[Player | None], game: Game) -> Failure | None:
    """Play to the end and close; an exception costs this episode only, and is returned.

    Raises:
        InfrastructureError: something was lost; the episode says nothing and may be played again.
    """
    watched = [None if player is None else _Watched(player, seat) for seat, player in enumerate(players)]
    try:
        play(dialogue, watched)
        return _left_alone(dialogue, watched, game)
    except InfrastructureError:
        raise
    except Exception as error:
        found = failure(error, game.evaluated)
        if not isinstance(error, BirdenvError):
            where = method_that_raised(dialogue.rules, error)
            found = replace(found, error=f"the game {game.name} failed{where}: {describe_error(error)}")
        if found.status == TIME_LIMIT:
            dialogue.stop(TIME_LIMIT)
        return found
    finally:
        dialogue.close()
