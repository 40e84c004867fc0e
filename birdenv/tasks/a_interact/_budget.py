"""The prices of a-Interact's tools, and the budget that pays for them in an episode (BIRD-Interact)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from birdenv.tasks.sql._actions import TOOLS, Kind

_TENTHS: Final[Mapping[Kind, int]] = {
    "clarify": 20,
    "execute_sql": 10,
    "submit_sql": 30,
    "get_schema": 10,
    "get_all_column_meanings": 10,
    "get_column_meaning": 5,
    "get_all_external_knowledge_names": 5,
    "get_knowledge_definition": 5,
    "get_all_knowledge_definitions": 10,
}
_MALFORMED: Final = 2
_CHEAPEST: Final = min(_TENTHS.values())

_BASE: Final = 6  # pays for a submission and some exploration
_PER_AMBIGUITY: Final = 2
_PER_PATIENCE: Final = 2

COSTS: Final[Mapping[Kind, float]] = MappingProxyType({kind: _TENTHS[kind] / 10 for kind in TOOLS})
"""The price of each tool, in the order of `TOOLS`."""

MALFORMED_COST: Final = _MALFORMED / 10
"""The price of an invalid action."""


def budget_for(counted_ambiguities: int, patience: int) -> int:
    """Return the budget of an episode: `6 + 2 * counted_ambiguities + 2 * patience`.

    Args:
        counted_ambiguities: the number of critical and knowledge ambiguities in the task.
        patience: the patience of the user.

    >>> budget_for(3, 3)
    18
    """
    return _BASE + _PER_AMBIGUITY * counted_ambiguities + _PER_PATIENCE * patience


class Budget:
    """The budget of an episode. Tools deduct their prices from it, but it never falls below 0.

    Attributes:
        total: the budget at the start of the episode.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._left = 10 * total  # in tenths, so that sums are exact

    @property
    def left(self) -> float:
        """Return the remaining budget."""
        return self._left / 10

    @property
    def used(self) -> float:
        """Return the amount spent so far."""
        return (10 * self.total - self._left) / 10

    @property
    def is_spent(self) -> bool:
        """Return True if the remaining budget does not cover even the cheapest tool."""
        return self._left < _CHEAPEST

    @property
    def questions(self) -> int:
        """Return how many questions to the user the remaining budget covers."""
        return self._left // _TENTHS["clarify"]

    def pays_for(self, kind: Kind) -> bool:
        """Return True if the remaining budget covers the price of a tool."""
        return self._left >= _TENTHS[kind]

    def pay(self, kind: Kind) -> bool:
        """Deduct the price of a tool, and return True if the remaining budget covered the price.

        If it does not cover the price, deduct the whole remaining budget, and return False.
        """
        return self._take(_TENTHS[kind])

    def pay_malformed(self) -> None:
        """Deduct the price of an invalid action, or the whole remaining budget if it is smaller."""
        self._take(_MALFORMED)

    def _take(self, tenths: int) -> bool:
        enough = self._left >= tenths
        self._left = max(self._left - tenths, 0)
        return enough
