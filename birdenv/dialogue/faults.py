"""Faults that end an episode and are not the policy's: the machine's, or those of another seat's player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from birdenv.dialogue.dialogue import Dialogue
from birdenv.dialogue.measures import PARTNER_ERROR
from birdenv.dialogue.players import SeatError
from birdenv.errors import InfrastructureError, describe_error

INFRA_ERROR: Final = "infra_error"
"""Status of an episode in which something was lost that it needs; it says nothing about anybody."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an episode broke off: the status it gets, one line for people, and whose player it was."""

    status: str
    error: str
    seat: int | None = None


def end_by_fault(dialogue: Dialogue, error: InfrastructureError | SeatError) -> Failure:
    """End a dialogue by a fault, and return what it was."""
    if isinstance(error, SeatError):
        found = Failure(PARTNER_ERROR, describe_error(error.cause), error.seat)
    else:
        found = Failure(INFRA_ERROR, str(error))
    dialogue.stop(found.status)
    return found


def fault_words(failure: Failure) -> str:
    """Return what a policy reads of a fault. The cause may tell of the solution, so it is not said."""
    return f"The dialogue was ended: {failure.status}."
