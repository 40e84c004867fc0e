"""What watches a connection while a statement runs: SQLite's authorizer, its progress handler, the clock.

The authorizer is asked about every action while SQLite compiles a statement, nested ones included (views,
triggers, table-valued functions, the `ATTACH` inside `VACUUM INTO`); `_rules` has the answers. While the
statement runs the progress handler looks at the clock, and so does the watchdog; for work that neither can
stop, `_function_bounds` narrows the size of values.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from birdenv.databases._function_bounds import (
    LARGEST_VALUE,
    FunctionCalls,
    length_bound,
    replace_unbounded_functions,
)
from birdenv.databases._rules import beyond_reading, outside_a_copy
from birdenv.databases._watchdog import alarm, watchdog

__all__ = ["Guard", "Refusal"]

_TICK_INSTRUCTIONS = 10_000  # steps of SQLite's virtual machine between two looks at the clock: < 1 ms
_MOST_REMEMBERED = 512  # statements; more than the connection's own cache holds, which skips the authorizer
_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the guard said no; `on_a_copy` says that a private copy would allow it."""

    sentence: str
    on_a_copy: bool


class Guard:
    """The rules and the clock of one connection.

    `private`: the connection is an episode's own, which may write; else reading is all that is allowed.
    `killable`: what nothing in this process can stop, somebody else will, so values need no narrow bounds.

    `start` and `finish` enclose each statement. After it, `refusal` holds the first refusal, and `is_late`
    says whether the deadline has passed.
    """

    def __init__(self, connection: sqlite3.Connection, *, private: bool, killable: bool = False) -> None:
        self._connection = connection
        self._private = private
        self._killable = killable
        self._watchdog = alarm if killable else watchdog
        self._reading = not private
        self._trusted = False
        self._deadline = _NEVER
        self._lock = threading.Lock()  # of the deadline: no interrupt may hit the next statement
        self._bounds: dict[int, int] = {}  # by hash of the statement, least used first
        self._length = LARGEST_VALUE
        self._calls: FunctionCalls | None = None  # of the statement being compiled
        self.refusal: Refusal | None = None
        self._expired = False
        if not killable:
            replace_unbounded_functions(connection, self._refuse_call)
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._tick, _TICK_INSTRUCTIONS)

    @property
    def bound(self) -> int:
        """Bytes that a value could have in the statement that ran last."""
        return self._length

    def start(self, sql: str, seconds: float, *, reading: bool) -> None:
        """Start the clock for a statement; `reading` narrows a private copy's rules to reading."""
        self._reading = reading or not self._private
        self.refusal, self._expired = None, False
        if not self._killable:
            self._calls = None
            self._set_length(self._bounds.pop(hash(sql), 0) or length_bound(sql))
        self._deadline = time.monotonic() + seconds
        self._watchdog.watch(self, seconds)

    def finish(self, sql: str) -> None:
        """The statement is over, however it ended."""
        with self._lock:
            self._expired = self._expired or time.monotonic() > self._deadline
            self._deadline = _NEVER
        self._watchdog.release(self)
        if not self._killable:
            self._bounds[hash(sql)] = self._length
            if len(self._bounds) > _MOST_REMEMBERED:
                del self._bounds[next(iter(self._bounds))]

    def is_late(self) -> bool:
        """Whether the deadline passed while the statement ran, also when nothing could stop it."""
        return self._expired or time.monotonic() > self._deadline

    def interrupt_if_late(self, now: float) -> None:
        with self._lock:
            if now > self._deadline:
                self._expired = True
                self._connection.interrupt()

    @contextmanager
    def trusted(self, seconds: float = _NEVER) -> Iterator[None]:
        """No rules inside, and a clock of its own: for statements of ours that run no text of the agent's."""
        self._trusted = True
        self.start("", seconds, reading=False)
        try:
            yield
        finally:
            self.finish("")
            self._trusted = False

    def _tick(self) -> int:
        return int(self.is_late())

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _inside: str | None
    ) -> int:
        if self._trusted:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and not self._killable:
            self._count_call(second or "")
        sentence = outside_a_copy(action, first, second)
        refusal = Refusal(sentence, on_a_copy=False) if sentence else None
        if refusal is None and self._reading:
            sentence = beyond_reading(action, first)
            refusal = Refusal(sentence, on_a_copy=True) if sentence else None
        if refusal is None:
            return sqlite3.SQLITE_OK
        self.refusal = self.refusal or refusal
        return sqlite3.SQLITE_DENY

    def _count_call(self, name: str) -> None:
        self._calls = self._calls or FunctionCalls()
        if self._calls.add(name):
            self._set_length(min(self._length, self._calls.bound()))

    def _refuse_call(self, sentence: str) -> None:
        self.refusal = self.refusal or Refusal(sentence, on_a_copy=False)

    def _set_length(self, length: int) -> None:
        if length != self._length:
            self._length = length
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
