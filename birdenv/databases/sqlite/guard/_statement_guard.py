"""What watches a connection while a statement runs: SQLite's authorizer, its progress handler, the clock.

The authorizer is asked about every action while SQLite compiles a statement, nested ones included (views,
triggers, table-valued functions, the `ATTACH` inside `VACUUM INTO`); `_authorizer_rules` has the answers.
While the statement runs the progress handler looks at the clock, and so does the watchdog; for work that
they cannot stop, `_value_bounds` narrows the size of values.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from birdenv.databases._results import ErrorKind
from birdenv.databases.sqlite.guard._authorizer_cache import LIST_OF_FILES, AuthorizerCache
from birdenv.databases.sqlite.guard._authorizer_rules import (
    CHANGES_OF_SCHEMA,
    beyond_reading,
    outside_a_copy,
    stays_in_session,
)
from birdenv.databases.sqlite.guard._bounded_functions import replace_unbounded_functions
from birdenv.databases.sqlite.guard._deadline import NEVER, Deadline, Expiry
from birdenv.databases.sqlite.guard._module_storage import LONG_LISTS, ModuleStorage
from birdenv.databases.sqlite.guard._value_bounds import (
    CONTROL,
    LARGEST_VALUE,
    LONGEST_PATTERN,
    OF_CONTROL,
    SHORT_PATTERN,
    SHORTEST_LIMIT,
    Counted,
    count_program,
    first_bound,
    has_long_pattern,
    kind_of_work,
    longest_program,
)
from birdenv.databases.sqlite.guard._watchdog import alarms, watchdog
from birdenv.databases.sqlite.images._sqlite_library import memory_used
from birdenv.sql import first_keyword

_TICK_INSTRUCTIONS = (
    10_000  # steps of SQLite's virtual machine between two looks at the clock, and for Ctrl-C
)
_MOST_REMEMBERED = 512  # statements
_OF_MODULES = 100_000  # bytes of a value while virtual tables are connected and states read
_USUAL_BOUND = first_bound(SHORTEST_LIMIT)
_OK, _READ, _SELECT = sqlite3.SQLITE_OK, sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT
_FUNCTION = sqlite3.SQLITE_FUNCTION
_USUAL_ACTIONS = AuthorizerCache()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the guard said no; `on_a_copy` says that a private copy would allow it."""

    sentence: str
    on_a_copy: bool
    kind: ErrorKind = "denied"


STORES_TOO_LITTLE = Refusal(
    "this statement changes a virtual table, and its functions may only handle values smaller than that table"
    " has to store: first put what they give into an ordinary table",
    False,
)

_EPISODES_BYTES = 768 * 2**20
"""Of SQLite's memory in this process, what statements of episodes that write may take it to: the rest of the
process's bound is left to those that only read, and so to grading."""

SPILLED_BYTES = 2**30
"""What one statement may write for sorting, and for tables that it makes up while it runs."""

_SPILLED = Refusal(
    f"stopped: the statement wrote more than {SPILLED_BYTES >> 20} MiB of temporary files (sorting, joining)",
    False,
    "too_large",
)
_NO_ROOM = Refusal("the episodes of this process have used up their memory", False, "too_large")


class StatementGuard:
    """The rules and the clock of one connection.

    `private`: the connection is an episode's own, which may write; else reading is all that is allowed.
    `killable`: what nothing in this process can stop, somebody else will, so values need no narrow bounds.
    `lists_files`: the paths of open files may be read with SQL. `virtual_tables`: their names in lower case,
    where the schema does not change. `modules`: those of the virtual tables of a private copy. `file_bytes`:
    what a statement may write to the database's own file.

    `start` and `finish` enclose each statement. After it, `refusal` holds the first refusal, `expired` says
    by which clock it was late, also when nothing could stop it, and `wants_count` whether the statement has
    to be counted (`count`) before it may run, and `interrupted` whether a function of ours that SQLite called
    met Ctrl-C. `attaches`: it may have attached a database. `wants_temporary`: the room for temporary tables
    has to be bounded before it may run; `has_temporary`: it is. `bound`: bytes that a value could have in it.
    `keeps_session`: a statement so far may have left something in the connection. `modules`: what those of
    virtual tables have to store.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        private: bool,
        killable: bool = False,
        lists_files: bool = True,
        virtual_tables: frozenset[str] = frozenset(),
        modules: Iterable[str] = (),
        file_bytes: int = 0,
    ) -> None:
        self._connection = connection
        self._most_written = SPILLED_BYTES + file_bytes
        self.modules = ModuleStorage(modules)
        self._plain = AuthorizerCache(virtual_tables) if virtual_tables else _USUAL_ACTIONS
        self._plain_tables, self._plain_functions = self._plain.tables, self._plain.functions
        self._lists_files = lists_files
        self._private = private
        self._killable = killable
        self._reading = not private
        self._trusted = False
        self._deadline: Deadline | None = None
        self._soonest = NEVER  # at which the statement that runs can be late
        self._written: tuple[Deadline, int | None] | None = None  # by its thread, at the first look
        self._spilled: Deadline | None = None  # of the statement that wrote too much
        self._lock = threading.Lock()  # of a deadline that passed: no interrupt may hit the next statement
        self._counted: dict[int, Counted] = {}  # of counted statements, by hash, least used first
        self.bound = LARGEST_VALUE
        self._pattern = LONGEST_PATTERN
        self._longest = 0  # operations that it may have
        self._is_counted = False
        self._changes_schema = False
        self._may_vary = False
        self._schema_works = False  # whether the episode put heavy functions into its schema
        self._reads_lists = False
        self.expired: Expiry | None = None
        self.interrupted = self.attaches = self.keeps_session = False
        self.refusal: Refusal | None = None
        self.wants_count = self.wants_temporary = self.has_temporary = False
        if not killable:
            replace_unbounded_functions(connection, self._refuse_call, self._interrupt)
        connection.set_authorizer(self._authorize)
        ticks = self._ticks()
        next(ticks)
        connection.set_progress_handler(ticks.__next__, _TICK_INSTRUCTIONS)
        watchdog.watch(self)

    @property
    def may_be_counted(self) -> bool:
        """Whether the statement that ran last had a bound that counting may widen."""
        return not self._killable and not self._is_counted

    @property
    def wants_more(self) -> bool:
        """Whether something has to be done before the statement may run."""
        return self.wants_count or self.wants_temporary or self.modules.wants_stored

    @property
    def is_repeatable(self) -> bool:
        """Whether the statement that ran last gives the same whenever it runs on the same contents.

        SQLite asks when it compiles: so the connection must keep no statements compiled. For virtual tables
        that is not enough, see `AuthorizerCache`.
        """
        return not (self._private or self._may_vary)

    def start(self, sql: str, deadline: Deadline, *, reading: bool, counting: bool = False) -> None:
        """Start the clock for a statement.

        `reading` narrows a private copy's rules to reading. `counting`: it is an `EXPLAIN`, which calls no
        function.
        """
        self._reading = reading or not self._private
        self.refusal = None
        self.expired = None
        self.wants_count = self._is_counted = self._changes_schema = False
        self.interrupted = self._may_vary = self.attaches = self.wants_temporary = False
        self._reads_lists = False
        if self.modules.largest:
            self.modules.start()
        if counting or self._trusted:
            self._is_counted = True
            self._set_bound(LARGEST_VALUE)
            self._set_longest(longest_program(sql))
        elif self._killable:
            self._set_bound(max(self.modules.largest, LARGEST_VALUE))
        elif (
            self.bound != _USUAL_BOUND
            or len(sql) > SHORTEST_LIMIT
            or self._longest != SHORTEST_LIMIT
            or (self._counted and hash(sql) in self._counted)
            or self._schema_works
            or self.modules.largest
        ):
            self._set_bounds(sql)
        self._deadline = deadline
        self._soonest = deadline.soonest
        if not watchdog.is_awake:
            watchdog.wake()
        if self._killable:
            alarms.watch_statement(deadline)

    def finish(self) -> float:
        """The statement is over, however it ended; gives the time, on `time.monotonic`'s scale."""
        now = time.monotonic()
        if now > self._soonest:
            with self._lock:  # the watchdog may be about to interrupt
                self._look_at_clocks()
                self._soonest = NEVER
        self._soonest = NEVER
        if self._killable:
            alarms.watch_statement(None)
        if self._changes_schema:
            self._counted.clear()  # the same text may mean something else now
        return now

    @property
    def may_match_longer(self) -> bool:
        """Whether the statement that ran last was counted for short patterns of LIKE and GLOB."""
        return self._pattern < LONGEST_PATTERN

    def count(self, sql: str, program: Iterable[tuple[Any, ...]] | None, *, longer: bool = False) -> None:
        """Work the bound of a statement out from its program; None is one that is not known.

        `longer`: its patterns are not short.
        """
        pattern = LONGEST_PATTERN if longer or has_long_pattern(sql) else SHORT_PATTERN
        counted = count_program(program, self.modules.at_once, pattern)
        self._remember(sql, counted._replace(lengthens=counted.lengthens or self._reads_lists))

    def _remember(self, sql: str, counted: Counted) -> None:
        self._counted[hash(sql)] = counted
        if len(self._counted) > _MOST_REMEMBERED:
            del self._counted[next(iter(self._counted))]

    @property
    def changes_schema(self) -> bool:
        """Whether the statement that ran last may have made names mean something else."""
        return self._changes_schema

    @property
    def is_running(self) -> bool:
        return self._soonest < NEVER

    def forget_parent(self) -> None:
        """In a forked child: whatever ran, ran in the parent."""
        self._lock = threading.Lock()
        self._soonest = NEVER

    def interrupt_if_late(self, now: float) -> None:
        self._look_at_written()
        if now <= self._soonest:
            return
        with self._lock, suppress(OSError):  # the latter: its thread has ended
            if now > self._soonest and self._look_at_clocks():
                self._connection.interrupt()

    def _look_at_written(self) -> None:
        """Find out whether the statement that runs has written too much; its own ticks stop it then."""
        deadline = self._deadline
        if deadline is None or not self.is_running or self._trusted:
            return
        written = deadline.written_bytes()
        if self._written is None or self._written[0] is not deadline:
            self._written = deadline, written
        elif written is not None and written - (self._written[1] or 0) > self._most_written:
            self._spilled = deadline

    def _look_at_clocks(self) -> bool:
        """Whether the statement that runs is late."""
        if self.expired is None and self._deadline is not None:
            self.expired = self._deadline.expiry()
        return self.expired is not None

    @contextmanager
    def trusted(self) -> Iterator[None]:
        """No rules and no clock inside: for statements of ours that run no text of others."""
        self._trusted = True
        try:
            self.start("", Deadline(NEVER, NEVER, of_process=True), reading=False)
            yield
        finally:
            self.finish()
            self._trusted = False

    @contextmanager
    def within(self, deadline: Deadline, *, storing: bool = False) -> Iterator[None]:
        """The rules of a private copy, and the clock: for statements of ours that may run text of others.

        Such as connecting a virtual table: its module reads tables of its own then, which may be views, and
        prepares to write to them, which those who only read may not do themselves. `storing`: it may write.
        """
        try:
            self.start("", deadline, reading=False, counting=True)
            self._reading = False
            if not self._killable:
                self._set_bound(self.modules.largest if storing else _OF_MODULES)
            yield
        finally:
            self.finish()
            self.refusal = None

    def _ticks(self) -> Iterator[int]:
        """Look at the clock at each step, and give 1 to stop the statement.

        A generator, because Ctrl-C that comes while SQLite works is raised where Python code goes on: in a
        function that would be before its first line, where it cannot be caught.
        """
        answer = 0
        is_bounded = self._private and not self._killable
        while True:
            try:
                yield answer
                is_late = time.monotonic() > self._soonest and self._look_at_clocks()
                if is_bounded and memory_used() > _EPISODES_BYTES and not self._trusted:
                    self.refusal = self.refusal or _NO_ROOM
                if self._spilled is not None and self._spilled is self._deadline:
                    self.refusal = self.refusal or _SPILLED
                answer = int(is_late or self.refusal is not None)
            except KeyboardInterrupt:
                self.interrupted = True
                answer = 1

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, _inside: str | None
    ) -> int:
        # Asked about every column of every statement.
        try:
            if action == _READ:
                if first in self._plain_tables:
                    return _OK
            elif action == _SELECT or (action == _FUNCTION and second in self._plain_functions):
                return _OK
            return self._decide(action, first, second, database)
        except KeyboardInterrupt:
            self.interrupted = True
            return sqlite3.SQLITE_DENY

    def _decide(self, action: int, first: str | None, second: str | None, database: str | None) -> int:
        if self._plain.include(action, first, second):
            return _OK
        if self._trusted:
            return _OK
        if first == LIST_OF_FILES and not self._lists_files:
            self._refuse(f"the table {first} is not allowed here: use PRAGMA database_list")
            return sqlite3.SQLITE_DENY
        if action == _FUNCTION and not self._killable and not self._may_call(second or ""):
            return sqlite3.SQLITE_DENY
        if sentence := outside_a_copy(action, first, second):
            self._refuse(sentence)
            return sqlite3.SQLITE_DENY
        if self._reading and (sentence := beyond_reading(action, first)):
            self._refuse(sentence, on_a_copy=True)
            return sqlite3.SQLITE_DENY
        self._may_vary = self._may_vary or not self._plain.are_repeatable(action, first, second)
        self._changes_schema = self._changes_schema or action in CHANGES_OF_SCHEMA
        self._reads_lists = self._reads_lists or (
            action == _READ and (first or "").lower().endswith(LONG_LISTS)
        )
        self.keeps_session = self.keeps_session or stays_in_session(action, first, second, database)
        if action == sqlite3.SQLITE_INSERT and database == "temp" and not self.has_temporary:
            self.wants_temporary = True
            return sqlite3.SQLITE_DENY
        self.attaches = self.attaches or action == sqlite3.SQLITE_ATTACH
        if action == sqlite3.SQLITE_CREATE_VTABLE:
            self.modules.add(second or "")
        return _OK

    def _may_call(self, function: str) -> bool:
        """Whether the statement being compiled may call a function before it has been counted."""
        work = kind_of_work(function)
        self._schema_works = self._schema_works or (work == "heavy" and self._changes_schema)
        if work == "unbounded":
            self._refuse(f"the function {function}() is not allowed where nothing could stop it")
            return False
        if self._is_counted or work != "heavy":
            return True
        self.wants_count = True
        return False

    def _interrupt(self) -> None:
        self.interrupted = True

    def _refuse_call(self, sentence: str) -> None:
        if self.may_be_counted:
            self.wants_count = True
        else:
            self._refuse(sentence)

    def _refuse(self, sentence: str, *, on_a_copy: bool = False) -> None:
        self.refusal = self.refusal or Refusal(sentence, on_a_copy)

    def _set_bounds(self, sql: str) -> None:
        """The bound that was counted, or the one to begin with."""
        counted = self._counted.pop(hash(sql), None) if self._counted else None
        if counted is None and self.modules.largest and first_keyword(sql) in CONTROL:
            counted = OF_CONTROL
        if counted:
            self._remember(sql, counted)  # now it is the one that was used last
        if counted and self.modules.largest:
            counted = self.modules.with_room(counted, in_transaction=self._connection.in_transaction)
            if self.modules.has_no_room:
                self.refusal = STORES_TOO_LITTLE
        self._is_counted = counted is not None
        self.wants_count = bool(self._schema_works or self.modules.largest) and not counted
        longest = longest_program(sql)
        self._set_bound(
            counted.bound if counted else first_bound(longest),
            counted.pattern if counted else LONGEST_PATTERN,
        )
        self._set_longest(longest)

    def _set_longest(self, longest: int) -> None:
        if longest != self._longest and not self._killable:
            self._longest = longest
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_VDBE_OP, longest)

    def _set_bound(self, bound: int, pattern: int = LONGEST_PATTERN) -> None:
        if pattern != self._pattern:
            self._pattern = pattern
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern)
        if bound != self.bound:
            self.bound = bound
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, bound)
