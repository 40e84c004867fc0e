"""Who is connected now, and since when."""

from __future__ import annotations

from collections.abc import Callable


class Presence:
    """Connections of people; several tabs are one person. Changed and read from any thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = clock()
        self._tabs: dict[str, int] = {}
        self._since: dict[str, float] = {}
        self._gone: dict[str, float] = {}

    def connect(self, id: str) -> None:
        """Count one more connection of a person."""
        self._tabs[id] = self._tabs.get(id, 0) + 1
        if self._tabs[id] == 1:
            self._since[id] = self._clock()

    def disconnect(self, id: str) -> None:
        """Count one less."""
        self._tabs[id] -= 1
        if self._tabs[id] == 0:
            del self._tabs[id], self._since[id]
            self._gone[id] = self._clock()

    def tabs(self, id: str) -> int:
        """Return how many connections a person has."""
        return self._tabs.get(id, 0)

    def away_since(self, id: str) -> float | None:
        """Return since when a person has no connection; None while there is one."""
        return None if self._tabs.get(id) else self._gone.get(id, self._begun)

    def is_steady(self, id: str, seconds: float, since: float) -> bool:
        """Return True if a person is here and, after a break later than `since`, has stayed for `seconds`."""
        if id not in self._since:
            return False
        came_back = self._gone.get(id, -1.0) >= since
        return not came_back or self._clock() - self._since[id] >= seconds
