"""The running dialogues that are in memory. After a restart none is: each is made again when it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from birdenv.studies.study._running_dialogue import RunningDialogue


class LoadedDialogues:
    """Dialogues by id. Safe from any thread; to make one keeps up only those who ask for the same one.

    Args:
        make: makes a dialogue from what is stored.
    """

    def __init__(self, make: Callable[[str], RunningDialogue]) -> None:
        self._make = make
        self._loaded: dict[str, RunningDialogue] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()  # of the locks

    def find(self, id: str) -> RunningDialogue | None:
        """Return a dialogue that is in memory as it is stored; never waits."""
        found = self._loaded.get(id)
        return None if found is None or found.is_lost else found

    def get(self, id: str) -> RunningDialogue:
        """Return a dialogue, made if it is not there."""
        found = self.find(id)
        if found is not None:
            return found
        with self._guard:
            lock = self._locks.setdefault(id, threading.Lock())
        with lock:
            found = self.find(id)
            if found is None:
                found = self._make(id)
                lost, self._loaded[id] = self._loaded.get(id), found
                if lost is not None:
                    lost.close()
            return found

    def all(self) -> list[RunningDialogue]:
        """Return the dialogues that are in memory, as they are stored."""
        return [each for each in list(self._loaded.values()) if not each.is_lost]

    def drop(self, id: str) -> None:
        """Forget a dialogue."""
        with self._guard:
            self._loaded.pop(id, None)
            self._locks.pop(id, None)
