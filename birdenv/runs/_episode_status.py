"""Statuses of episodes, and whose fault it is that one broke off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from birdenv.dialogue import Dialogue, Player, play
from birdenv.errors import BenchmarkError, BirdenvError, InfrastructureError, InputError, describe_error
from birdenv.runs._player_process import MoveTimeoutError

CONTEXT_LIMIT: Final = "agent context limit"
"""Status of an episode in which the agent's model could not take its prompt any more: it is its failure."""

_CONTEXT: Final = re.compile(
    r"context[ _-]?(length|window|limit|size)|(prompt|input) is too long|too many (input|prompt) tokens"
    r"|exceeds? .{0,40}(context|maximum (number of )?(input )?tokens)",
    re.IGNORECASE,
)
"""How providers and local servers say so."""

RETRIED = frozenset({"task error", "infra_error", "test_error"})
"""Statuses that are nobody's answer; `--resume` plays these tasks again."""

UNRATED = frozenset({"ungraded", "skipped", "infra_error", "test_error"})
"""Statuses that say nothing about the agent: left out of every rate, and said in the summary."""

TIME_LIMIT: Final = "time limit"
"""The status of an episode whose player did not move in time. It counts as the player's."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an episode broke off: the status it gets, and one line for people."""

    status: str
    error: str


def failure(error: Exception) -> Failure:
    """Return whose fault an exception is: the machine's or the data's, or the player's (or ours)."""
    if isinstance(error, BenchmarkError | InfrastructureError | InputError):
        return Failure("infra_error", str(error))
    if isinstance(error, MoveTimeoutError):
        return Failure(TIME_LIMIT, str(error))
    said = str(error) if isinstance(error, BirdenvError) else describe_error(error)
    is_full = getattr(error, "code", None) == "context_length_exceeded" or _CONTEXT.search(said) is not None
    return Failure(CONTEXT_LIMIT if is_full else "task error", said)


def play_safely(dialogue: Dialogue, players: Sequence[Player | None]) -> Failure | None:
    """Play to the end and close; an exception costs this episode only, and is returned.

    Raises:
        InfrastructureError: something was lost; the episode says nothing and may be played again.
    """
    try:
        play(dialogue, players)
        return None
    except InfrastructureError:
        raise
    except Exception as error:
        found = failure(error)
        if found.status == TIME_LIMIT:
            dialogue.stop(TIME_LIMIT)
        return found
    finally:
        dialogue.close()
