"""What an agent says that its episodes took: calls of a model, tokens, money (BIRD-Interact §5.2).

A session that knows it has a method `usage`, which is called when its episode is over. Nothing is made up for
one that has none: the records then have no `usage`, and the summary no figures of it.

An episode that is played again because its server was lost counts with its last trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Final, Protocol, runtime_checkable

from birdenv.dialogue import Session

USAGE_TITLES: Final[Mapping[str, str]] = {
    "calls": "Model calls",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
    "cost_usd": "Cost (USD)",
}
"""The fields of `Usage`, by their names in tables."""

_MOST: Final = 2**53


@dataclass(frozen=True, slots=True)
class Usage:
    """What one episode took; None where that is not known.

    `calls` of a model; `prompt_tokens` and `completion_tokens` of all of them together, as the endpoint
    counts them; `cost_usd` in US dollars. Raises `ValueError` for what is no such number.
    """

    calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            kinds = int | float if name == "cost_usd" else int
            is_number = isinstance(value, kinds) and not isinstance(value, bool)
            if value is not None and not (is_number and isfinite(value) and 0 <= value <= _MOST):
                raise ValueError(f"usage: {name} must be a number from 0, or None where it is not known")

    def to_json(self) -> dict[str, int | float]:
        """What is known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@runtime_checkable
class ReportsUsage(Protocol):
    """A session that says what its episode took."""

    def usage(self) -> Usage | None: ...


def usage_of(session: Session) -> Usage | None:
    """What a session says; None if it says nothing. Raises `TypeError` for anything else than a `Usage`."""
    if not isinstance(session, ReportsUsage):
        return None
    found: object = session.usage()
    if found is not None and not isinstance(found, Usage):
        raise TypeError(f"usage() returned {type(found).__name__}, expected a birdenv.runs.Usage or None")
    return found
