"""Run statements on a guarded connection, and return errors instead of raising them.

Exceptions of Python's sqlite3 module are converted into `QueryError`s.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from operator import methodcaller
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from birdenv.databases._results import (
    OUT_OF_MEMORY,
    Allowance,
    Cell,
    ErrorKind,
    QueryError,
    QueryResult,
    Result,
    RowSink,
    fetch,
)
from birdenv.databases.sqlite._deadline import Deadline, timeout_message
from birdenv.databases.sqlite._preparation import (
    bound_attached,
    bound_temporary,
    connect_virtual_tables,
    modules_of,
    set_limits,
    use_table_functions,
    virtual_tables,
)
from birdenv.databases.sqlite._statement_guard import LARGEST_VALUE, StatementGuard
from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES
from birdenv.sql import LONGEST_SQL, first_keyword

DRIVER_ERRORS = (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError, MemoryError)
"""The exceptions that executing arbitrary text may raise, including `UnicodeError` for names that are not
UTF-8, and `OverflowError` and `MemoryError` for sizes."""

_BY_CODE: dict[int, ErrorKind] = {
    sqlite3.SQLITE_CONSTRAINT: "constraint",
    sqlite3.SQLITE_MISMATCH: "constraint",
    sqlite3.SQLITE_AUTH: "denied",
    sqlite3.SQLITE_TOOBIG: "too_large",
    sqlite3.SQLITE_FULL: "too_large",
    sqlite3.SQLITE_NOMEM: "too_large",
}
_BY_MESSAGE: tuple[tuple[re.Pattern[str], ErrorKind], ...] = (
    (re.compile(r'near ".*": syntax error$', re.DOTALL), "syntax"),
    (re.compile(r"incomplete input|unrecognized token: |variable number must be"), "syntax"),
    (re.compile(r"no such |no tables specified|unknown database |table .* has no column named "), "missing"),
    (
        re.compile(
            r"Expression tree is too large|parser stack overflow|too many |LIKE or GLOB pattern too complex"
            r"|query string is too large|string or blob too big|at most \d+ tables in a join"
        ),
        "too_large",
    ),
)
_BIND_MARKER = "bind markers (?, :name, @name, $name) have no values here: write the value itself"
_ONE_STATEMENT = "only one statement at a time is allowed, but this text contains several"
_OF_A_CALLBACK: Final = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_AUTH})
_FUNCTION_FAILED: Final = "user-defined function raised exception"
NOT_UTF8: Final = "a name or text in this statement, or in what it reads, is not UTF-8"


def is_from_callback(error: BaseException) -> bool:
    """Return whether an error means that a Python callback failed, or stopped the statement."""
    code = getattr(error, "sqlite_errorcode", None)
    return code in _OF_A_CALLBACK or str(error) == _FUNCTION_FAILED


def kind_and_message(error: BaseException) -> tuple[ErrorKind, str]:
    """Return the kind and message for an exception from the driver, omitting details of the host."""
    if isinstance(error, MemoryError):
        return "too_large", OUT_OF_MEMORY
    message = str(error)
    if not isinstance(error, (sqlite3.Error, sqlite3.Warning)):
        return "engine", f"the result cannot be read: {message}"
    if message.startswith("You can only execute one statement"):
        return "syntax", _ONE_STATEMENT
    if message.startswith("Incorrect number of bindings"):
        return "syntax", _BIND_MARKER
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BY_CODE:
        return _BY_CODE[code], message
    for pattern, kind in _BY_MESSAGE:
        if pattern.match(message):
            return kind, message
    return "engine", message


_LISTED: Final = ("seq", "name", "file")  # columns of PRAGMA database_list
_TIMES_WRITTEN: Final = 4  # that one statement may write a page: the page, its journal, VACUUM's copy
_TO_CONNECT: Final = Allowance(0, 2.0, 0)
_PROGRAM: Final = ("addr", "opcode")  # the first columns of an EXPLAIN
_ADDRESS: Final = re.compile(r"\bvtab:[0-9A-Fa-f]+")
_BLANK: Final = "there is no SQL statement in this text"
_TOLERANT: Final = methodcaller("decode", "utf-8", "surrogateescape")
_T = TypeVar("_T")


class GuardedConnection:
    """A connection that can run untrusted SQL, because a guard checks every statement.

    Args:
        connection: the connection. `close` also closes it.
        private: whether the connection belongs to one episode, which may write (see `StatementGuard`).
        file: the private file that the connection uses, if any. Its path is not revealed.

    Attributes:
        is_spoilt: whether a refused statement has left something behind, so that no other episode may use the
            connection.
    """

    def __init__(self, connection: sqlite3.Connection, *, private: bool, file: Path | None = None) -> None:
        self._connection = connection
        self._private = private
        set_limits(connection)
        if private:
            # Do not rely on a second run to read text that is not UTF-8: it could change something twice.
            connection.text_factory = _TOLERANT
        names = [] if private else virtual_tables(connection)
        self._secret = None if file is None else str(file.resolve())
        self._guard = StatementGuard(
            connection,
            private=private,
            lists_files=file is None,
            virtual_tables=frozenset(name.lower() for name in names),
            modules=modules_of(connection) if private else (),
            file_bytes=0 if file is None else _TIMES_WRITTEN * (file.stat().st_size + GROWTH_BYTES),
        )
        self._can_read_tables = not private
        self.is_spoilt = False
        if not private:
            self.within(use_table_functions, _TO_CONNECT)
        if names:  # tables that cannot be connected in time are refused when they are read
            self.within(connect_virtual_tables, _TO_CONNECT)

    @property
    def needs_copy(self) -> bool:
        """Return whether the latest statement was refused only because this connection is not private."""
        return self._guard.refusal is not None and self._guard.refusal.on_a_copy and not self._private

    def execute(
        self, sql: str, allowance: Allowance, *, reading: bool, sink: RowSink | None = None
    ) -> Result:
        """Run one statement.

        Args:
            sql: the statement. It must have passed `text_fault`.
            allowance: the limits on the statement.
            reading: whether to refuse the statement if it could change anything.
            sink: a receiver for the rows. The result then has no rows, and is truncated if not all rows were
                fetched. None to return the rows in the result.
        """
        if reading and not self._can_read_tables:
            failure = self.within(use_table_functions, allowance)
            if failure is not None:
                return failure
            self._can_read_tables = True
        self._guard.refusal = None
        if allowance.seconds <= 0 or allowance.wall_seconds <= 0:
            return QueryError("timeout", timeout_message(allowance, None))
        deadline = Deadline(allowance.seconds, allowance.wall_seconds)
        while True:  # `_may_try_again` prepares another attempt
            try:
                return self._run(sql, allowance, deadline, reading, sink)
            except DRIVER_ERRORS as error:
                if not self._may_try_again(error):
                    return self._explain(error, sql, allowance, monotonic() - deadline.began)

    def _run(
        self, sql: str, allowance: Allowance, deadline: Deadline, reading: bool, sink: RowSink | None
    ) -> Result:
        """Run a statement once. Raises the driver's exceptions."""
        guard = self._guard
        try:
            guard.start(deadline, reading=reading)
            cursor = self._connection.execute(sql)
            try:
                columns = tuple([about[0] for about in cursor.description or ()])
                if sink is not None:
                    sink.begin(columns)
                rows, truncated = fetch(cursor, allowance, len(columns) * LARGEST_VALUE, sink)
                affected = cursor.rowcount
            finally:
                cursor.close()
        finally:
            elapsed = guard.finish() - deadline.began
        if guard.attaches:
            self._trusted(bound_attached)
        if guard.expired:
            return QueryError("timeout", timeout_message(allowance, guard.expired), elapsed)
        if rows is None:
            return QueryError("too_large", f"the rows take more than {allowance.bytes} bytes", elapsed)
        if self._secret is not None and columns == _LISTED:
            rows = [tuple(["" if cell == self._secret else cell for cell in row]) for row in rows]
        if columns[:2] == _PROGRAM:
            rows = [tuple([_without_address(cell) for cell in row]) for row in rows]
        return QueryResult(columns, rows, truncated, affected, elapsed, guard.is_repeatable)

    def _may_try_again(self, error: BaseException) -> bool:
        """Try to remove the cause of a failure. Return whether to retry the statement.

        Retrying it is safe, because a failed statement has changed nothing.
        """
        guard = self._guard
        if guard.expired or guard.refusal is not None:
            return False
        if self._connection.text_factory is str and _is_undecodable(error):
            self._connection.text_factory = _TOLERANT  # from now on, because the file's text is not all UTF-8
            return True
        if guard.wants_temporary:
            guard.has_temporary = self._trusted(bound_temporary)
            return guard.has_temporary
        return False

    def _trusted(self, work: Callable[[sqlite3.Connection], None]) -> bool:
        """Call `work`, which runs only our own SQL, without rules or limits. Return whether it succeeded."""
        with suppress(*DRIVER_ERRORS), self._guard.trusted():
            work(self._connection)
            return True
        return False

    def within(self, work: Callable[[sqlite3.Connection], _T], allowance: Allowance) -> _T | QueryError:
        """Call `work` under time limits and the rules for a private copy. Return its result, or an error.

        Use this for work that may run SQL stored in the database, such as the definition of a view.
        """
        deadline = Deadline(allowance.seconds, allowance.wall_seconds)
        failure: QueryError | None = None
        try:
            with self._guard.within(deadline):
                result = work(self._connection)
        except DRIVER_ERRORS as error:
            failure = QueryError(*kind_and_message(error), monotonic() - deadline.began)
        if self._guard.expired:
            message = timeout_message(allowance, self._guard.expired)
            return QueryError("timeout", message, monotonic() - deadline.began)
        return failure or result

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _explain(self, error: BaseException, sql: str, allowance: Allowance, elapsed: float) -> QueryError:
        guard = self._guard
        if guard.expired:
            return QueryError("timeout", timeout_message(allowance, guard.expired), elapsed)
        if guard.refusal is not None:
            # VACUUM is the only statement that is refused after it has begun: it disconnects virtual tables.
            self.is_spoilt = self.is_spoilt or first_keyword(sql) == "VACUUM"
            return QueryError(guard.refusal.kind, guard.refusal.sentence, elapsed)
        if is_from_callback(error):  # Python cannot call it with text that is not UTF-8
            return QueryError("denied", NOT_UTF8, elapsed)
        kind, message = kind_and_message(error)
        is_lasting = kind in ("syntax", "missing") and guard.is_repeatable
        return QueryError(kind, message, elapsed, is_lasting)


def text_fault(sql: str) -> QueryError | None:
    """Return an error if SQL is too long, blank or not valid UTF-8, or None if the engine can run it."""
    if len(sql) > LONGEST_SQL:
        return QueryError(
            "too_large",
            f"the SQL has {len(sql)} characters, but at most {LONGEST_SQL} are allowed",
            repeatable=True,
        )
    if "\0" in sql:
        return QueryError("syntax", "the text contains a NUL character", repeatable=True)
    if not sql.isascii():
        try:
            sql.encode()
        except UnicodeEncodeError:
            return QueryError(
                "syntax", "the text contains a lone surrogate, which is not a character", repeatable=True
            )
    if not sql[:1].isalpha() and not first_keyword(sql):
        return QueryError("syntax", _BLANK, repeatable=True)
    return None


def _without_address(cell: Cell) -> Cell:
    """Remove memory addresses, which EXPLAIN uses as names of virtual tables."""
    return _ADDRESS.sub("vtab", cell) if isinstance(cell, str) else cell


def _is_undecodable(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")
