"""What the system seat may see at one moment."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from birdenv.tasks._actions import Kind

__all__ = ["SENDERS", "Sender", "SystemView"]

Sender: TypeAlias = Literal["user", "database", "judge"]

SENDERS: tuple[Sender, ...] = ("user", "database", "judge")


class SystemView(NamedTuple):
    """The system's side of the dialogue.

    `instruction` is constant in an episode. `message` is the last thing said to the system and `sender` who
    said it. `turns_left` counts clarification questions (c-Interact; in a-Interact those that `budget` would
    pay for) or actions (BIRD). `legal` are the actions that the protocol accepts now. `readings` are public
    candidate statements for the current question, where the benchmark has them. `budget` is what is left to
    spend on tools; None in the games without prices.
    """

    instruction: str
    message: str
    sender: Sender
    phase: int
    turns_left: int
    legal: tuple[Kind, ...]
    readings: tuple[str, ...] = ()
    budget: float | None = None
