"""The model usage of a player: number of calls, tokens and price (BIRD-Interact §5.2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Final, Protocol, runtime_checkable

_MOST: Final = 2**53
"""The maximum value of a number or a sum. Not every JSON reader can represent larger numbers exactly."""


@dataclass(frozen=True, slots=True)
class Usage:
    """One player's model calls in one episode. Unknown values are None.

    Attributes:
        calls: the number of model calls.
        prompt_tokens: the number of tokens in all prompts, as the endpoint counts them.
        completion_tokens: the number of tokens in all completions, as the endpoint counts them.
        cost_usd: the total price in US dollars.

    Raises:
        ValueError: a value is not a number from 0 to 2**53.
    """

    calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            kinds = int | float if name == "cost_usd" else int
            is_number = isinstance(value, kinds) and not isinstance(value, bool)
            if value is not None and not (is_number and 0 <= value <= _MOST and isfinite(value)):
                raise ValueError(f"usage: {name} must be a number from 0 to 2**53, or None if unknown")

    def __add__(self, other: Usage) -> Usage:
        """Return the sum of two usages. A number that is unknown in one of them counts as 0."""
        sums = {}
        for name, mine in asdict(self).items():
            known = [value for value in (mine, getattr(other, name)) if value is not None]
            sums[name] = min(sum(known), _MOST) if known else None
        return Usage(**sums)

    def to_json(self) -> dict[str, int | float]:
        """Return the known values as a JSON object."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@runtime_checkable
class ReportsUsage(Protocol):
    """A player that reports its model usage in the episode."""

    def usage(self) -> Usage | None: ...


def usage_of(player: Any) -> Usage | None:
    """Return the model usage that a player reports, or None if the player reports no usage.

    Raises:
        TypeError: the player's `usage()` returned neither a `Usage` nor None.
    """
    if not isinstance(player, ReportsUsage):
        return None
    found: object = player.usage()
    if found is not None and not isinstance(found, Usage):
        raise TypeError(f"usage() returned {type(found).__name__}, expected a birdenv.dialogue.Usage or None")
    return found
