"""Keep running dialogues in memory, and restore them from the database on demand after a restart."""

from __future__ import annotations

import threading
from collections.abc import Callable

from birdenv.studies.study._running_dialogue import RunningDialogue


class LoadedDialogues:
    """A thread-safe collection of the running dialogues in memory, keyed by id.

    Args:
        make: a function that takes a dialogue's id and restores the dialogue from the database.
    """

    def __init__(self, make: Callable[[str], RunningDialogue]) -> None:
        self._make = make
        self._loaded: dict[str, RunningDialogue] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()  # protects the dictionaries

    def find(self, id: str) -> RunningDialogue | None:
        """Return a dialogue, or None if the dialogue is not in memory or differs from the database."""
        found = self._loaded.get(id)
        return None if found is None or found.is_lost else found

    def get(self, id: str) -> RunningDialogue:
        """Return a dialogue, restored from the database if it is not in memory."""
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
        """Return the dialogues in memory that agree with the database."""
        return [each for each in list(self._loaded.values()) if not each.is_lost]

    def drop(self, id: str) -> None:
        """Remove a dialogue from memory."""
        with self._guard:
            self._loaded.pop(id, None)
            self._locks.pop(id, None)
