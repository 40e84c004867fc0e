"""What watches a connection while a statement runs: SQLite's authorizer and its progress handler.

The authorizer is asked about every action while SQLite compiles a statement, nested ones included (views,
triggers, table-valued functions, the `ATTACH` inside `VACUUM INTO`); `_rules` has the answers. The progress
handler looks at the clock while the statement runs.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from birdenv.databases._rules import beyond_reading, outside_a_copy

__all__ = ["Guard", "Refusal"]

_TICK_INSTRUCTIONS = 10_000  # steps of SQLite's virtual machine between two looks at the clock: < 1 ms


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the authorizer said no; `on_a_copy` says that a private copy would allow it."""

    sentence: str
    on_a_copy: bool


class Guard:
    """The rules and the clock of one connection.

    `attach_to` installs it; `start` is called before each statement. Afterwards `refusal` holds the first
    refusal of that statement, `expired` says whether the deadline stopped it, and `attached` whether it
    attached a database.
    """

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._reading = not private
        self._trusted = False
        self._deadline = float("inf")
        self.refusal: Refusal | None = None
        self.expired = False
        self.attached = False

    def attach_to(self, connection: sqlite3.Connection) -> None:
        """From here on nothing runs on `connection` without this guard."""
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._tick, _TICK_INSTRUCTIONS)

    def start(self, seconds: float, *, reading: bool) -> None:
        """Start the clock for a statement; `reading` narrows a private copy's rules to reading."""
        self._reading = reading or not self._private
        self._deadline = time.monotonic() + seconds
        self.refusal, self.expired, self.attached = None, False, False

    def is_late(self) -> bool:
        """Whether the deadline has passed, also when no tick saw it (one long function call)."""
        self.expired = self.expired or time.monotonic() > self._deadline
        return self.expired

    @contextmanager
    def trusted(self, seconds: float = float("inf")) -> Iterator[None]:
        """No rules inside, and a clock of its own: for statements of ours that run no text of the agent's."""
        self._trusted = True
        self._deadline, self.expired = time.monotonic() + seconds, False
        try:
            yield
        finally:
            self._trusted = False

    def _tick(self) -> int:
        return int(self.is_late())

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _inside: str | None
    ) -> int:
        if self._trusted:
            return sqlite3.SQLITE_OK
        sentence = outside_a_copy(action, first, second)
        refusal = Refusal(sentence, on_a_copy=False) if sentence else None
        if refusal is None and self._reading:
            sentence = beyond_reading(action, first)
            refusal = Refusal(sentence, on_a_copy=True) if sentence else None
        if refusal is None:
            self.attached = self.attached or action == sqlite3.SQLITE_ATTACH
            return sqlite3.SQLITE_OK
        self.refusal = self.refusal or refusal
        return sqlite3.SQLITE_DENY
