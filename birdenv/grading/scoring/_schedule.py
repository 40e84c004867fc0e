"""Which pair is graded next by which worker.

Pairs with the same golds are a group, and a worker takes a group for its own, so that a gold runs in one
process only. Groups of large databases come first and those of small ones last, so that no worker is left
with long work while the others have none. Where no group is left without an owner, the rest of the
longest one is shared, if that is worth running its gold twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

_TOGETHER_SECONDS: Final = 0.05  # of work that is handed out at once (a message costs about 0.0002); the

# time that a pair is taken to need as long as nothing is known of its database
_MOST_TOGETHER: Final = 256  # pairs
_SHARED_SECONDS: Final = 0.2  # of work with one gold that two workers share, each running the gold
_WEIGHT: Final = 0.3  # of the latest time in the running mean of a database's


class Schedule:
    """Hands out the numbers of pairs, each once, unless it is handed back.

    `groups`: for each pair, in order, its database and its golds. `costs`: of databases, in any unit.
    """

    def __init__(self, groups: Sequence[tuple[str, Hashable]], costs: Mapping[str, float]) -> None:
        members: dict[tuple[str, Hashable], deque[int]] = {}
        for number, group in enumerate(groups):
            members.setdefault(group, deque()).append(number)
        dearest = sorted(members, key=lambda group: (-costs.get(group[0], 0.0), group[0]))
        self._waiting = deque((group[0], members[group]) for group in dearest)  # sorting is stable
        self._owned: dict[int, tuple[str, deque[int]]] = {}
        self._left = len(groups)
        self._seconds: dict[str, float] = {}  # that a pair of a database takes

    @property
    def is_empty(self) -> bool:
        """Whether every pair is handed out."""
        return self._left == 0

    def take(self, worker: int, workers: int) -> list[int]:
        """The next pairs for one of so many workers, about 50 ms of work; none if all are handed out, or what
        is left is better done by those who have its golds, as far as is known by now."""
        taken: list[int] = []
        seconds = 0.0
        share = max(self._left // (4 * workers), 1)  # near the end each gets little, and nobody waits long
        while self._left and len(taken) < min(share, _MOST_TOGETHER):
            group = self._group_of(worker)
            if group is None:
                break
            database, numbers = group
            cost = self._seconds.get(database, _TOGETHER_SECONDS)
            if taken and seconds + cost > _TOGETHER_SECONDS:
                break
            taken.append(numbers.popleft())
            seconds += cost
            self._left -= 1
        return taken

    def took(self, database: str, seconds: float) -> None:
        """Grading a pair of this database took so long."""
        before = self._seconds.get(database, seconds)
        self._seconds[database] = (1 - _WEIGHT) * before + _WEIGHT * seconds

    def give_back(self, database: str, numbers: Sequence[int]) -> None:
        """These were not graded after all; they come next."""
        if numbers:
            self._waiting.appendleft((database, deque(numbers)))
            self._left += len(numbers)

    def _group_of(self, worker: int) -> tuple[str, deque[int]] | None:
        """The group that this worker goes on with."""
        own = self._owned.get(worker)
        if own is not None and own[1]:
            return own
        if self._waiting:
            own = self._waiting.popleft()
        else:
            own = max(self._owned.values(), key=self._cost_of, default=None)
            if own is None or self._cost_of(own) < _SHARED_SECONDS:
                return None
        self._owned[worker] = own
        return own

    def _cost_of(self, group: tuple[str, deque[int]]) -> float:
        """Seconds that the rest of a group takes, about."""
        return self._seconds.get(group[0], _TOGETHER_SECONDS) * len(group[1])
