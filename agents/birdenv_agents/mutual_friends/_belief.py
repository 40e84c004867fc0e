"""What one knows in MutualFriends: how likely each of one's own friends is the mutual one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from birdenv_agents.mutual_friends._reader import Claim, Values

RULED_OUT: Final = -10.0
"""What a denial takes from a friend's weight."""

_NOT_AMONG: Final = -6.0
"""The same for a friend who is not among `only`: people say `all` more easily than they say `no`."""
_HINT: Final = 1.0
_LIVING: Final = 5.0
"""Friends that have lost less than this more than the best one still count."""

Item = Mapping[str, str]


class Belief:
    """Weighs one's own friends by the claims of the other.

    Attributes:
        items: one's own friends.
        asked: what one asked last, and the other may answer by yes or no.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = list(items)
        self._losses = [0.0] * len(items)
        self._hints = [0.0] * len(items)
        self.asked: Values = {}

    def living(self) -> list[Item]:
        """Return the friends that may still be the mutual one."""
        best = max(self._losses)
        return [item for item, loss in zip(self.items, self._losses, strict=True) if loss > best - _LIVING]

    def best(self) -> Item:
        """Return the likeliest friend, the first of several."""
        weights = [loss + hint for loss, hint in zip(self._losses, self._hints, strict=True)]
        return self.items[max(range(len(weights)), key=lambda place: weights[place])]

    def hear(self, claim: Claim) -> None:
        """Weigh the friends by a claim of the other's."""
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
        """Rule out one friend."""
        self._add(2 * RULED_OUT, lambda each: each == item)

    def _only(self, values: Values, about_asked: bool) -> None:
        """The friends that meet the condition have no other values than these.

        Of several attributes the first ones are the condition; it may also be what was asked before.
        """
        *conditions, (name, allowed) = values.items()
        condition = dict(conditions)
        if not condition and about_asked:
            condition = dict(self.asked)
        if any(not each for each in condition.values()):
            return  # about friends of the other's that one has not
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
    """Return True if the item has one of the values of every attribute."""
    return all(item[name] in each for name, each in values.items())


def has_any(item: Item, values: Values) -> bool:
    """Return True if the item has one of the values of some attribute."""
    return any(item[name] in each for name, each in values.items())


def distinct(items: Iterable[Item], name: str) -> list[str]:
    """Return the values of an attribute, the most frequent first."""
    counts: dict[str, int] = {}
    for item in items:
        counts[item[name]] = counts.get(item[name], 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))
