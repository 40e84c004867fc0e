"""A player's belief in MutualFriends: how likely each of the player's friends is to be the mutual friend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from birdenv_agents.mutual_friends._reader import Claim, Values

RULED_OUT: Final = -10.0
"""The change of a friend's weight by a denial."""

_NOT_AMONG: Final = -6.0
"""The change of a friend's weight by a claim `only`, because people say `all` more easily than `no`."""
_HINT: Final = 1.0
_LIVING: Final = 5.0
"""A friend is ruled out if it has lost this much more weight than the best friend."""

Item = Mapping[str, str]


class Belief:
    """A player's belief: how likely each of the player's own friends is to be the mutual friend.

    The other player's claims change the friends' weights.

    Attributes:
        items: the player's own friends.
        asked: the values in the player's last question, which the other player can answer with yes or no.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = list(items)
        self._losses = [0.0] * len(items)
        self._hints = [0.0] * len(items)
        self.asked: Values = {}

    def living(self) -> list[Item]:
        """Return the friends that have not been ruled out."""
        best = max(self._losses)
        return [item for item, loss in zip(self.items, self._losses, strict=True) if loss > best - _LIVING]

    def best(self) -> Item:
        """Return the friend most likely to be the mutual friend; in a tie, the first of the tied friends."""
        weights = [loss + hint for loss, hint in zip(self._losses, self._hints, strict=True)]
        return self.items[max(range(len(weights)), key=lambda place: weights[place])]

    def hear(self, claim: Claim) -> None:
        """Update the friends' weights according to a claim by the other player."""
        kind, values = claim.kind, claim.values
        if kind == "no" and self.asked:
            self._add(RULED_OUT, lambda item: has_any(item, self.asked))
            self.asked = {}
        elif kind == "yes" and self.asked:
            self._add(_HINT, lambda item: has_any(item, self.asked))
        elif kind == "deny":
            self._add(RULED_OUT, lambda item: has_all(item, values))
        elif kind == "only":
            self._only(values, claim.about_asked)
        elif kind == "inform":
            self._inform(values, claim.about_asked)
        elif kind == "ask":
            self._add(_HINT / 2, lambda item: has_all(item, values))

    def rule_out(self, item: Item) -> None:
        """Record that a friend is not the mutual friend."""
        self._add(2 * RULED_OUT, lambda each: each == item)

    def _only(self, values: Values, about_asked: bool) -> None:
        """Update the weights after the claim that friends who meet a condition have only certain values.

        The last attribute in `values` has these values; earlier attributes are the condition. If there is no
        earlier attribute, the player's last question can be the condition.
        """
        *conditions, (name, allowed) = values.items()
        condition = dict(conditions)
        if not condition and about_asked:
            condition = dict(self.asked)
        if any(not each for each in condition.values()):
            return  # a condition that none of the own friends can meet
        met = [item for item in self.items if has_all(item, condition)]
        others = [item for item in met if item[name] not in allowed]
        if condition or len(others) < len(met):
            self._add(_NOT_AMONG, lambda item: item in others)
        if allowed:
            self._add(_HINT, lambda item: has_all(item, values))

    def _inform(self, values: Values, about_asked: bool) -> None:
        known = {name: each for name, each in values.items() if each}
        if about_asked and self.asked:
            met = [item for item in self.items if has_any(item, self.asked)]
            self._add(-_HINT, lambda item: item in met and not has_all(item, known))
        self._add(_HINT * len(known), lambda item: has_all(item, known))

    def _add(self, weight: float, applies: Callable[[Item], bool]) -> None:
        weights = self._losses if weight <= _NOT_AMONG else self._hints
        for place, item in enumerate(self.items):
            if applies(item):
                weights[place] += weight


def has_all(item: Item, values: Values) -> bool:
    """Return True if, for each attribute in `values`, the item has one of the given values."""
    return all(item[name] in each for name, each in values.items())


def has_any(item: Item, values: Values) -> bool:
    """Return True if, for at least one attribute in `values`, the item has one of the given values."""
    return any(item[name] in each for name, each in values.items())


def distinct(items: Iterable[Item], name: str) -> list[str]:
    """Return the values that items have for an attribute, the most frequent first."""
    counts: dict[str, int] = {}
    for item in items:
        counts[item[name]] = counts.get(item[name], 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))
