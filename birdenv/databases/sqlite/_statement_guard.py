"""Guard a connection while a statement runs, with SQLite's authorizer, its progress handler, and a clock.

While SQLite compiles a statement, it calls the authorizer for every action, including nested actions (in
views, triggers, table-valued functions, the `ATTACH` inside `VACUUM INTO`). The module `_authorizer_rules`
contains the rules. While the statement runs, the progress handler and the watchdog check the clock. If they
cannot stop a late statement, the kernel kills this process, which is a worker.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from birdenv.databases._results import ErrorKind
from birdenv.databases.sqlite._authorizer_rules import HARMLESS, LIST_OF_FILES, rule_of
from birdenv.databases.sqlite._deadline import NEVER, Deadline, Expiry, watchdog

LARGEST_VALUE: Final = 10_000_000
"""Maximum size of a string or blob, and of one row of a table, in bytes."""

_WHOLE_INDEX: Final = 1_000_000_000
"""The same limit for modules that store a whole index as one value: SQLite's own limit."""

_MODULES_OF_WHOLE_INDEXES: Final = frozenset({"fts3", "fts4"})
_TICK_INSTRUCTIONS: Final = 10_000  # instructions of SQLite's virtual machine between two checks of the clock

SPILLED_BYTES: Final = 2**30
"""Maximum bytes that a statement may write to temporary files, for sorting and for transient tables."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why the guard refused a statement.

    Attributes:
        sentence: the explanation for the agent.
        on_a_copy: whether the statement would be allowed on a private copy of the database.
        kind: the kind of error to report.
    """

    sentence: str
    on_a_copy: bool
    kind: ErrorKind = "denied"


_SPILLED = Refusal(
    f"stopped: the statement wrote more than {SPILLED_BYTES >> 20} MiB of temporary files (sorting, joining)",
    False,
    "too_large",
)


class StatementGuard:
    """The rules and the clock of one connection. Call `start` before and `finish` after each statement.

    Args:
        connection: the connection.
        private: whether the connection belongs to an episode, which may write. If not, only reading is
            allowed.
        lists_files: whether SQL may read the paths of open files.
        virtual_tables: the names of all virtual tables in lower case; empty for a private copy.
        modules: the modules of the virtual tables of a private copy.
        file_bytes: maximum number of bytes that a statement may write to the database's own file.

    Attributes:
        deadline: the deadline of the running statement; None if no statement is running.
        refusal: the first reason why the latest statement was refused; None if it was not refused.
        expired: the clock whose limit the latest statement exceeded, even if the statement was not stopped;
            None if no limit was exceeded.
        attaches: whether the latest statement may have attached a database.
        wants_temporary: whether the statement needs temporary tables, whose size must be limited before it
            can run.
        has_temporary: whether the size of temporary tables is limited now.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        private: bool,
        lists_files: bool = True,
        virtual_tables: frozenset[str] = frozenset(),
        modules: Iterable[str] = (),
        file_bytes: int = 0,
    ) -> None:
        self._connection = connection
        self._most_written = SPILLED_BYTES + file_bytes
        self._virtual_tables = virtual_tables
        self._lists_files = lists_files
        self._private = private
        self._reading = not private
        self._trusted = False
        self.deadline: Deadline | None = None
        self._soonest = NEVER  # the earliest time at which the running statement can be late
        self._written: tuple[Deadline, int | None] | None = None  # by this process, at the first check
        self._spilled: Deadline | None = None  # the deadline of the statement that wrote too much
        self._lock = threading.Lock()  # keeps a late interrupt from hitting the next statement
        self._may_vary = False
        self.expired: Expiry | None = None
        self.attaches = False
        self.refusal: Refusal | None = None
        self.wants_temporary = self.has_temporary = False
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
        for module in modules:
            self._make_room_for(module)
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._tick, _TICK_INSTRUCTIONS)

    @property
    def is_repeatable(self) -> bool:
        """Return whether the latest statement returns the same rows whenever it runs on the same contents.

        The answer is based on the actions that SQLite reports when it prepares a statement, so the connection
        must not cache statements. Statements that read a virtual table never count as repeatable, because the
        module may prepare a statement of its own once and reuse it for many statements.
        """
        return not (self._private or self._may_vary)

    def start(self, deadline: Deadline, *, reading: bool) -> None:
        """Start the clock for a statement. `reading` forbids writing, even on a private copy."""
        self._reading = reading or not self._private
        self.refusal = None
        self.expired = None
        self._may_vary = self.attaches = self.wants_temporary = False
        self.deadline = deadline
        self._soonest = deadline.soonest
        watchdog.begin(self)

    def finish(self) -> float:
        """Stop the clock after a statement, even if it failed. Return the value of `time.monotonic()`."""
        now = time.monotonic()
        if now > self._soonest:
            with self._lock:  # the watchdog may be about to interrupt
                self._look_at_clocks()
                self._soonest = NEVER
        self._soonest = NEVER
        watchdog.end()
        return now

    def interrupt_if_late(self, now: float) -> None:
        """Interrupt the running statement if it is late. `now` is the value of `time.monotonic()`."""
        self._look_at_written()
        if now <= self._soonest:
            return
        with self._lock:
            if now > self._soonest and self._look_at_clocks():
                self._connection.interrupt()

    def _look_at_written(self) -> None:
        """Check whether the running statement has written too much. If so, the progress handler stops it."""
        deadline = self.deadline
        if deadline is None or self._trusted:
            return
        written = _written_bytes()
        if self._written is None or self._written[0] is not deadline:
            self._written = deadline, written
        elif written is not None and written - (self._written[1] or 0) > self._most_written:
            self._spilled = deadline

    def _look_at_clocks(self) -> bool:
        """Return whether the running statement is late."""
        if self.expired is None and self.deadline is not None:
            self.expired = self.deadline.expiry()
        return self.expired is not None

    @contextmanager
    def trusted(self) -> Iterator[None]:
        """Suspend all rules and time limits in the `with` block, which must run only birdenv's own SQL."""
        self._trusted = True
        try:
            self.start(Deadline(NEVER, NEVER), reading=False)
            yield
        finally:
            self.finish()
            self._trusted = False

    @contextmanager
    def within(self, deadline: Deadline) -> Iterator[None]:
        """Apply time limits and the rules for a private copy during the `with` block.

        Use this when birdenv's own code may run untrusted SQL, for example to connect a virtual table. Its
        module reads its own tables, which may be views, and prepares to write to them, which the rules for
        reading forbid.
        """
        try:
            self.start(deadline, reading=False)
            self._reading = False
            yield
        finally:
            self.finish()
            self.refusal = None

    def _tick(self) -> bool:
        """Check the clock, and return whether the statement must stop."""
        is_late = time.monotonic() > self._soonest and self._look_at_clocks()
        if self._spilled is not None and self._spilled is self.deadline:
            self.refusal = self.refusal or _SPILLED
        return is_late or self.refusal is not None

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, _inside: str | None
    ) -> int:
        rule = rule_of(action, first, second)  # called for every column of every statement
        if self._virtual_tables and (first or "").lower() in self._virtual_tables:
            self._may_vary = True
        if rule is HARMLESS or self._trusted:
            return sqlite3.SQLITE_OK
        if first == LIST_OF_FILES and not self._lists_files:
            self._refuse(f"the table {first} is not allowed here: use PRAGMA database_list")
            return sqlite3.SQLITE_DENY
        if rule.on_a_copy:
            self._refuse(rule.on_a_copy)
            return sqlite3.SQLITE_DENY
        if self._reading and rule.reading:
            self._refuse(rule.reading, on_a_copy=True)
            return sqlite3.SQLITE_DENY
        self._may_vary = self._may_vary or not rule.is_repeatable
        if action == sqlite3.SQLITE_INSERT and database == "temp" and not self.has_temporary:
            self.wants_temporary = True
            return sqlite3.SQLITE_DENY
        self.attaches = self.attaches or action == sqlite3.SQLITE_ATTACH
        if action == sqlite3.SQLITE_CREATE_VTABLE:
            self._make_room_for(second or "")
        return sqlite3.SQLITE_OK

    def _refuse(self, sentence: str, *, on_a_copy: bool = False) -> None:
        self.refusal = self.refusal or Refusal(sentence, on_a_copy)

    def _make_room_for(self, module: str) -> None:
        if module.lower() in _MODULES_OF_WHOLE_INDEXES:
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _WHOLE_INDEX)


def _written_bytes() -> int | None:
    """Return how many bytes this process has written to files; None if the kernel does not say."""
    try:
        with open("/proc/self/io", "rb") as told:  # noqa: PTH123 (often)
            return int(told.read().split(b"wchar: ")[1].split()[0])
    except (OSError, IndexError):
        return None
