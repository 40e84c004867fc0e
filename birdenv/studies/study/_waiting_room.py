"""The waiting room: track who is connected, pair people within the quotas, and end overlong waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final
from uuid import UUID

from birdenv.dialogue import Arena
from birdenv.studies.study._config import HUMAN, Ending, Partner, StudyConfig
from birdenv.studies.study._records import Person, StoredDialogue
from birdenv.studies.study._store import Store

_SEED_BITS: Final = 31


class Presence:
    """Tracks which people are connected, and how many browser tabs each person has open."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = clock()
        self._tabs: dict[str, int] = {}
        self._since: dict[str, float] = {}
        self._gone: dict[str, float] = {}

    def connect(self, id: str) -> None:
        """Record a new connection of a person."""
        self._tabs[id] = self._tabs.get(id, 0) + 1
        if self._tabs[id] == 1:
            self._since[id] = self._clock()

    def disconnect(self, id: str) -> None:
        """Record that a connection of a person has ended."""
        self._tabs[id] -= 1
        if self._tabs[id] == 0:
            del self._tabs[id], self._since[id]
            self._gone[id] = self._clock()

    def tabs(self, id: str) -> int:
        """Return the number of connections that a person has."""
        return self._tabs.get(id, 0)

    def away_since(self, id: str) -> float | None:
        """Return the time at which a person's last connection ended, or None if the person is connected."""
        return None if self._tabs.get(id) else self._gone.get(id, self._begun)

    def is_steady(self, id: str, seconds: float, since: float) -> bool:
        """Return True if a person has a stable connection.

        If the person was disconnected after the time `since`, the new connection must be at least `seconds`
        old.
        """
        if id not in self._since:
            return False
        came_back = self._gone.get(id, -1.0) >= since
        return not came_back or self._clock() - self._since[id] >= seconds


@dataclass(frozen=True)
class Begin:
    """A decision to begin a dialogue.

    Attributes:
        dialogue: the new dialogue.
        people: the ids of the people in the dialogue, keyed by seat.
    """

    dialogue: StoredDialogue
    people: dict[int, str]


@dataclass(frozen=True)
class End:
    """A decision to end a waiting person's participation.

    Attributes:
        person: the id of the person.
        ending: the reason.
    """

    person: str
    ending: Ending


class WaitingRoom:
    """Decides when waiting people begin a dialogue or end their participation, without changing the database.

    Each person gets the kind of partner whose quota is least used, and a task that is new to the person.
    People who are not connected are not paired.

    A running dialogue counts towards quotas unless it is abandoned. If running dialogues fill the quotas,
    people wait. If finished dialogues alone fill the quotas, waiting people leave the study with the ending
    `full`.
    """

    def __init__(
        self, arena: Arena, config: StudyConfig, store: Store, rng: Random, broken: Sequence[str]
    ) -> None:
        self._arena = arena
        self._config = config
        self._store = store
        self._rng = rng
        self._broken = broken
        self._is_alone = len(arena.game.seats) == 1

    def steps(self, now: float, presence: Presence) -> Iterator[Begin | End]:
        """Yield decisions about waiting people. The people who have waited longest are paired first."""
        waiting = self._store.people("waiting")
        if not waiting:
            return
        used = Counter(self._store.used(self._broken))
        finished = Counter(self._store.used(self._broken, finished=True))
        limits = self._config.limits
        left: list[Person] = []
        alone: list[tuple[Person, list[str]]] = []
        for person in waiting:
            if not presence.is_steady(person.id, limits.steady, person.since):
                left.append(person)
                continue
            name, tasks = self._wanted(person, used)
            if name is None:
                if self._wanted(person, finished)[0] is None:
                    yield End(person.id, "full")
                else:
                    left.append(person)
            elif name != HUMAN or self._is_alone:
                yield self._begin(name, tasks[0], used, now, [person])
            else:
                partner = self._partner(tasks, alone)
                if partner is None:
                    alone.append((person, tasks))
                    continue
                other, task = partner
                alone = [each for each in alone if each[0].id != other.id]
                yield self._begin(HUMAN, task, used, now, [other, person])
        yield from self._overdue([*left, *(person for person, _ in alone)], used, now, presence)

    def seconds_left(self, person: Person, now: float) -> float | None:
        """Return the number of seconds that remain of a person's maximum wait, or None without a limit."""
        limit = self._config.limits.waiting
        return None if limit is None else max(0.0, person.since + limit - now)

    def _overdue(
        self, people: Sequence[Person], used: Counter[tuple[str, str]], now: float, presence: Presence
    ) -> Iterator[Begin | End]:
        """Yield decisions about people who have waited too long.

        A person gets the stand-by player as a partner, or the person's participation ends.
        """
        standby = self._config.standby
        for person in people:
            if self.seconds_left(person, now) != 0.0:
                continue
            gone = presence.away_since(person.id)
            if gone is not None:
                if now - gone > (self._config.limits.away or 0):  # after a restart nobody is here at first
                    yield End(person.id, "left")
                continue
            tasks = self._unseen(person) if standby is not None else []
            if standby is not None and tasks:
                task = min(tasks, key=lambda task: used[task, standby])
                yield self._begin(standby, task, used, now, [person])
            else:
                yield End(person.id, "nobody_came")

    def _unseen(self, person: Person) -> list[str]:
        seen = self._store.tasks_of(person.id)
        return [task for task in self._arena.ids if task not in seen]

    def _wanted(self, person: Person, used: Counter[tuple[str, str]]) -> tuple[str | None, list[str]]:
        """Return the kind of partner for a person, and the possible tasks, least used first.

        If all quotas are filled, the kind is None and there are no tasks.
        """
        unseen = self._unseen(person)
        best: tuple[float, str, list[str]] | None = None
        for name, partner in self._config.partners.items():
            tasks = [task for task in unseen if _is_free(partner, used[task, name])]
            if not tasks:
                continue
            load = sum(count for (_, of), count in used.items() if of == name) / (partner.chats or 1)
            if best is None or load < best[0]:
                best = load, name, sorted(tasks, key=lambda task: used[task, name])
        return (None, []) if best is None else best[1:]

    def _partner(self, tasks: list[str], alone: list[tuple[Person, list[str]]]) -> tuple[Person, str] | None:
        """Return the first waiting person who can have one of the tasks, and the task; None if nobody can."""
        for other, others in alone:
            known = set(others)
            for task in tasks:
                if task in known:
                    return other, task
        return None

    def _begin(
        self, partner: str, task: str, used: Counter[tuple[str, str]], now: float, people: list[Person]
    ) -> Begin:
        used[task, partner] += 1
        seats = self._seats(len(people))
        player = self._config.partners[partner].player
        sits = [
            HUMAN if seat in seats or player is None else player
            for seat in range(len(self._arena.game.seats))
        ]
        id = f"C_{UUID(int=self._rng.getrandbits(128), version=4).hex}"
        made = StoredDialogue(
            id, task, partner, self._rng.getrandbits(_SEED_BITS), sits, now, None, None, None, None
        )
        return Begin(made, dict(zip(seats, (person.id for person in people), strict=True)))

    def _seats(self, people: int) -> list[int]:
        """Return the seats in which people sit in a new dialogue, depending on how many people there are."""
        game = self._arena.game
        if people == 1 and self._config.seat is not None:
            return [game.seat_index(self._config.seat)]
        return self._rng.sample(range(len(game.seats)), people)


def _is_free(partner: Partner, used: int) -> bool:
    return partner.chats is None or used < partner.chats
