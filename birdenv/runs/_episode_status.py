"""Play an episode, catch its errors, and classify each error by status and by the seat at fault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from birdenv.dialogue import Dialogue, Game, Player, Usage, play
from birdenv.dialogue.measures import PARTNER_ERROR
from birdenv.dialogue.players import SeatError, Watched
from birdenv.dialogue.record import Failure, left_alone
from birdenv.dialogue.rules import method_that_raised
from birdenv.dialogue.usage import usage_of
from birdenv.errors import BenchmarkError, BirdenvError, InfrastructureError, InputError, describe_error
from birdenv.llm import ContextOverflowError
from birdenv.runs._player_process import MoveTimeoutError

CONTEXT_LIMIT: Final = "agent context limit"
"""Status of an episode in which the prompt outgrew the context of the agent's model. It counts as the agent's
failure."""

_CONTEXT: Final = re.compile(
    r"context[ _-]?(length|window|limit|size)|(prompt|input) is too long|too many (input|prompt) tokens"
    r"|exceeds? .{0,40}(context|maximum (number of )?(input )?tokens)",
    re.IGNORECASE,
)
"""Error messages with which providers and local servers report a full context."""

RETRIED = frozenset({"task error", PARTNER_ERROR, "infra_error", "test_error"})
"""Statuses that say nothing about the agent; `--resume` plays these episodes again."""

TIME_LIMIT: Final = "time limit"
"""Status of an episode whose agent did not move in time. It counts as the agent's failure."""


def failure(error: Exception, evaluated: int | None = None) -> Failure:
    """Describe the exception that ended an episode: the status, the message and the seat at fault.

    Args:
        error: the exception. A `SeatError` names the seat whose player raised it.
        evaluated: the index of the evaluated seat. If it is None, the agent is blamed for the errors of all
            players.
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


def usage_of_players(
    players: Sequence[Player | None], evaluated: int
) -> tuple[list[Usage | None], Failure | None]:
    """Return the model usage of each seat's player, and the first error raised while collecting the usage.

    The usage is None for an empty seat, and for a player that reports no usage.
    """
    used: list[Usage | None] = []
    fault = None
    for seat, player in enumerate(players):
        try:
            used.append(None if player is None else usage_of(player))
        except InfrastructureError:
            raise
        except Exception as error:  # after an episode that broke off, its player may no longer answer
            used.append(None)
            fault = fault or failure(SeatError(seat, error), evaluated)
    return used, fault


def play_safely(dialogue: Dialogue, players: Sequence[Player | None], game: Game) -> Failure | None:
    """Play a dialogue to its end and close it. Return the failure that ended it early, or None.

    Most exceptions are returned as failures, so that other episodes can continue.

    Raises:
        InfrastructureError: a database or a model endpoint was lost; the episode may be replayed.
    """
    watched = [None if player is None else Watched(player, seat) for seat, player in enumerate(players)]
    try:
        play(dialogue, watched)
        return left_alone(dialogue, watched, game.evaluated)
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
