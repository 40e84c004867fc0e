"""One guarded connection: running a statement on it gives a value, whatever the text and the data are."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from operator import methodcaller
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from birdenv.databases._fetching import Allowance, RowSink, fetch, show
from birdenv.databases._results import Cell, QueryError, QueryResult, Result, Row
from birdenv.databases.sqlite._error_kinds import (
    DRIVER_ERRORS,
    NOT_UTF8,
    is_from_callback,
    is_long_pattern,
    is_too_big,
    kind_and_message,
)
from birdenv.databases.sqlite._preparation import (
    EXPLAIN,
    bound_attached,
    bound_temporary,
    confine_files,
    connect_virtual_tables,
    modules_of,
    set_growth,
    set_limits,
    store_put_off,
    use_table_functions,
    views_of,
    virtual_tables,
)
from birdenv.databases.sqlite.guard._compiling import HARMLESS, compiling_fault, expansion_fault
from birdenv.databases.sqlite.guard._deadline import Deadline, timeout_message
from birdenv.databases.sqlite.guard._expansion import KnownViews
from birdenv.databases.sqlite.guard._statement_guard import STORES_TOO_LITTLE, StatementGuard
from birdenv.databases.sqlite.guard._value_bounds import LARGEST_VALUE
from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES
from birdenv.sql import LONGEST_SQL, first_keyword

_LISTED: Final = ("seq", "name", "file")  # columns of PRAGMA database_list
_TIMES_WRITTEN: Final = 4  # a page of a database's file by one statement: itself, its journal, VACUUM's copy
_TO_CONNECT: Final = Allowance(0, 2.0, 0)
_PROGRAM: Final = ("addr", "opcode")  # how the columns of an EXPLAIN begin
_ADDRESS: Final = re.compile(r"\bvtab:[0-9A-Fa-f]+")
_BLANK: Final = "there is no SQL statement in this text"
_MAKES_A_VIEW: Final = re.compile(r"CREATE\s+(?:TEMP\s+|TEMPORARY\s+)?VIEW\b", re.IGNORECASE)
_TOLERANT: Final = methodcaller("decode", "utf-8", "surrogateescape")
_T = TypeVar("_T")


class GuardedConnection:
    """A connection under a guard, on which text of any origin can be run; it owns and closes the connection.

    `private`, `killable`: see `StatementGuard`. `file`: a file of ours, whose path nobody is to see.
    `is_spoilt`: a refused statement has left something behind: no other episode may use the connection.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        private: bool,
        killable: bool = False,
        file: Path | None = None,
    ) -> None:
        self._connection = connection
        self._private = private
        set_limits(connection)
        if private:
            # Here running a statement again, to read text that is no UTF-8, could change something twice.
            connection.text_factory = _TOLERANT
        names = [] if private else virtual_tables(connection)
        self._secret = None if file is None else str(file.resolve())
        self._guard = StatementGuard(
            connection,
            private=private,
            killable=killable,
            lists_files=file is None,
            virtual_tables=frozenset(name.lower() for name in names),
            modules=modules_of(connection) if private else (),
            file_bytes=0 if file is None else _TIMES_WRITTEN * (file.stat().st_size + GROWTH_BYTES),
        )
        self._killable = killable
        self._growth: dict[str, int] | None = None  # while files are confined: their bounds from before
        self._can_read_tables = not private
        self._views: KnownViews | None = None  # that there are now; None where they have to be looked up
        self.is_spoilt = False
        if not private:
            self.within(use_table_functions, _TO_CONNECT)
        if names:  # what cannot be connected in time is refused when it is read
            self.within(connect_virtual_tables, _TO_CONNECT)

    @property
    def needs_copy(self) -> bool:
        """Whether the last statement was refused only because this connection is not private."""
        return self._guard.refusal is not None and self._guard.refusal.on_a_copy and not self._private

    @property
    def is_only_its_image(self) -> bool:
        """Whether another connection to what is committed would do as well."""
        return not (self._guard.keeps_session or self._connection.in_transaction)

    def execute(
        self, sql: str, allowance: Allowance, *, reading: bool, sink: RowSink | None = None
    ) -> Result:
        """Run one statement, which has no `text_fault`. `reading`: only if nothing can change by it.

        With a `sink` the rows go there, and the result has none; it is truncated if the sink, or the
        allowance, ended it before the last row.
        """
        if reading and not self._can_read_tables:
            failure = self.within(use_table_functions, allowance)
            if failure is not None:
                return failure
            self._can_read_tables = True
        guard = self._guard
        guard.refusal = None
        if allowance.seconds <= 0 or allowance.wall_seconds <= 0:
            return QueryError("timeout", timeout_message(allowance, None))
        is_alone = not self._connection.in_transaction
        fault = self._expansion_fault(sql)
        if fault is not None:
            return fault
        deadline = Deadline(allowance.seconds, allowance.wall_seconds, of_process=self._killable)
        is_unexplained = False
        try:
            while True:  # again as long as something is learned about the statement
                try:
                    return self._run(sql, allowance, deadline, reading, sink)
                except DRIVER_ERRORS as error:
                    if guard.interrupted:
                        raise KeyboardInterrupt from error
                    if self._is_unexplained(error):
                        if is_unexplained:
                            return QueryError("denied", NOT_UTF8, monotonic() - deadline.began)
                        is_unexplained = True
                    elif not self._may_try_again(error, sql, deadline, reading):
                        return self._explain(error, sql, allowance, monotonic() - deadline.began)
        finally:
            self._settle(was_alone=is_alone)

    def _settle(self, *, was_alone: bool) -> None:
        """Forget what a statement may have changed, and give back what it was allowed."""
        if self._guard.changes_schema or not was_alone or self._connection.in_transaction:
            self._views = None  # also those of a transaction, which may be rolled back
        if self._growth is not None:
            self.ours(partial(set_growth, pages=self._growth))
            self._growth = None

    def _expansion_fault(self, sql: str) -> QueryError | None:
        """Why a statement would become too large to compile, with the views that there are now."""
        if self._killable or _MAKES_A_VIEW.match(sql):  # a view that is made is not expanded yet
            return None
        if self._views is None:
            found = self.ours(views_of)
            self._views = KnownViews([] if isinstance(found, QueryError) else found)
        return expansion_fault(sql, self._views)

    def _run(
        self, sql: str, allowance: Allowance, deadline: Deadline, reading: bool, sink: RowSink | None
    ) -> Result:
        """Run a statement once; raises what the driver raises."""
        guard = self._guard
        try:
            guard.start(sql, deadline, reading=reading, counting=_is_explanation(sql))
            if guard.wants_count or guard.refusal is not None or self._lacks_room:
                raise sqlite3.OperationalError("not to be run like this")
            cursor = self._connection.execute(sql)
            try:
                columns = tuple([about[0] for about in cursor.description or ()])
                widest = len(columns) * guard.bound
                if sink is None:
                    rows, truncated = fetch(cursor, allowance, widest)
                else:
                    sink.begin(columns)
                    rows, truncated = show(cursor, allowance, widest, sink)
                affected = cursor.rowcount
            finally:
                cursor.close()
        finally:
            elapsed = guard.finish() - deadline.began
        if guard.attaches:
            self.ours(bound_attached)
        if guard.expired:
            return QueryError("timeout", timeout_message(allowance, guard.expired), elapsed)
        if rows is None:
            return QueryError("too_large", f"the rows take more than {allowance.bytes} bytes", elapsed)
        if self._secret is not None and columns == _LISTED:
            rows = [tuple(["" if cell == self._secret else cell for cell in row]) for row in rows]
        if columns[:2] == _PROGRAM:
            rows = [tuple([_without_address(cell) for cell in row]) for row in rows]
        return QueryResult(columns, rows, truncated, affected, elapsed, guard.is_repeatable)

    def _may_try_again(self, error: BaseException, sql: str, deadline: Deadline, reading: bool) -> bool:
        """Whether the statement may fare better now: something was learned about it, or about its data.

        A statement that failed has changed nothing.
        """
        guard = self._guard
        if guard.expired or guard.refusal is not None:
            return False
        if self._connection.text_factory is str and _is_undecodable(error):
            self._connection.text_factory = _TOLERANT  # from here on: this file's text is not all UTF-8
            return True
        if self._lacks_room:
            return self._make_room(deadline)
        is_longer = guard.may_match_longer and is_long_pattern(error)
        if guard.wants_count or is_longer or (guard.may_be_counted and is_too_big(error)):
            program = self._program(sql, deadline, reading)
            if guard.expired:
                return False
            if not guard.wants_temporary:  # else its program is not known yet
                guard.count(sql, program, longer=is_longer)
                return True
        if guard.wants_temporary:
            guard.has_temporary = not isinstance(self.ours(bound_temporary), QueryError)
            return guard.has_temporary
        return False

    @property
    def _lacks_room(self) -> bool:
        modules = self._guard.modules
        return modules.wants_stored or (modules.wants_small_files and self._growth is None)

    def _make_room(self, deadline: Deadline) -> bool:
        """Make room for what modules of virtual tables have to store; whether the statement may run now."""
        guard, modules = self._guard, self._guard.modules
        if not modules.wants_stored:
            growth = self.ours(partial(confine_files, most=guard.bound))
            if isinstance(growth, dict):
                self._growth = growth
                return True
            modules.lack_room()
        if modules.wants_stored:
            stored = self._value_of(store_put_off, guard.within(deadline, storing=True), None)
            modules.has_put_off = isinstance(stored, QueryError)
            if not modules.has_put_off:
                return True
        guard.refusal = STORES_TOO_LITTLE
        return False

    def _program(self, sql: str, deadline: Deadline, reading: bool) -> list[Row] | None:
        """What SQLite compiles a statement to; None if it does not say, as of an `EXPLAIN`."""
        guard = self._guard
        try:
            guard.start(sql, deadline, reading=reading, counting=True)
            return self._connection.execute(EXPLAIN + sql).fetchall()
        except DRIVER_ERRORS:
            return None
        finally:
            guard.finish()

    def ours(self, work: Callable[[sqlite3.Connection], _T]) -> _T | QueryError:
        """What `work` gives, run without rules because nobody else has a say in it; an error as a value."""
        return self._value_of(work, self._guard.trusted(), None)

    def within(self, work: Callable[[sqlite3.Connection], _T], allowance: Allowance) -> _T | QueryError:
        """What `work` gives, run under the rules of a private copy, against the clock and with small values:
        for work in which SQL of others may run. An error as a value."""
        deadline = Deadline(allowance.seconds, allowance.wall_seconds, of_process=self._killable)
        return self._value_of(work, self._guard.within(deadline), allowance)

    def _value_of(
        self,
        work: Callable[[sqlite3.Connection], _T],
        guarded: AbstractContextManager[None],
        allowance: Allowance | None,
    ) -> _T | QueryError:
        began = monotonic()
        guard = self._guard
        failure: QueryError | None = None
        try:
            with guarded:
                result = work(self._connection)
        except DRIVER_ERRORS as error:
            failure = QueryError(*kind_and_message(error), monotonic() - began)
        if guard.interrupted:
            raise KeyboardInterrupt
        if allowance is not None and guard.expired:
            return QueryError("timeout", timeout_message(allowance, guard.expired), monotonic() - began)
        return failure or result

    def _is_unexplained(self, error: BaseException) -> bool:
        """Whether a callback failed before its first line.

        Python cannot call one with a name or text that is not UTF-8, nor in the very moment of a Ctrl-C. The
        error does not say which it was; only the former happens again.
        """
        guard = self._guard
        is_explained = guard.expired or guard.wants_more or guard.refusal is not None
        return not is_explained and is_from_callback(error)

    def close(self) -> None:
        self._connection.close()

    def _explain(self, error: BaseException, sql: str, allowance: Allowance, elapsed: float) -> QueryError:
        guard = self._guard
        if guard.expired:
            return QueryError("timeout", timeout_message(allowance, guard.expired), elapsed)
        if guard.refusal is not None:
            # The one statement that is refused after it has begun; it disconnects virtual tables first.
            self.is_spoilt = self.is_spoilt or first_keyword(sql) == "VACUUM"
            return QueryError(guard.refusal.kind, guard.refusal.sentence, elapsed)
        if is_too_big(error) and guard.bound < LARGEST_VALUE:
            return QueryError("too_large", f"string or blob too big: {_bound_reason(guard.bound)}", elapsed)
        kind, message = kind_and_message(error)
        if self._growth is not None and kind == "too_large":
            message = STORES_TOO_LITTLE.sentence
        is_lasting = kind in ("syntax", "missing") and guard.is_repeatable
        return QueryError(kind, message, elapsed, is_lasting)


def text_fault(sql: str, *, killable: bool = True) -> QueryError | None:
    """What keeps a text from reaching the engine at all; None if nothing does.

    Unless this process is `killable`, that is also what compiling the text could take.
    """
    if len(sql) > LONGEST_SQL:
        return QueryError(
            "too_large",
            f"the SQL has {len(sql)} characters, and at most {LONGEST_SQL} are allowed",
            repeatable=True,
        )
    if "\0" in sql:
        return QueryError("syntax", "the text holds a NUL character", repeatable=True)
    if not sql.isascii():
        try:
            sql.encode()
        except UnicodeEncodeError:
            return QueryError(
                "syntax", "the text holds a lone surrogate, which is not a character", repeatable=True
            )
    if not sql[:1].isalpha() and not first_keyword(sql):
        return QueryError("syntax", _BLANK, repeatable=True)
    return None if killable or len(sql) <= HARMLESS else compiling_fault(sql)


def _without_address(cell: Cell) -> Cell:
    """An EXPLAIN names a virtual table by where it is in memory, which is nobody's business and never twice
    the same."""
    return _ADDRESS.sub("vtab", cell) if isinstance(cell, str) else cell


def _is_explanation(sql: str) -> bool:
    """Whether a statement only shows what it would do."""
    return (sql[0] in "eE" or not sql[0].isalpha()) and first_keyword(sql) == "EXPLAIN"


def _is_undecodable(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


def _bound_reason(bound: int) -> str:
    return (
        f"this statement may only handle values of up to {bound} bytes, because nothing could stop its"
        " functions on larger ones in time"
    )
