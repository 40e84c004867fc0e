"""An episode's own SQLite database: whatever is typed, the answer is a value and the source file is safe.

An episode starts on a connection that can only read the source file and to which nothing sticks. The first
statement that the guard refuses there, and would allow on a copy, moves the episode to a private copy in
memory: that statement is run again on the copy and the episode stays there. So every state that a statement
can leave behind (transactions, temporary tables, pragmas) lives in the copy from its beginning.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from birdenv.databases._guard import Guard
from birdenv.databases._limits import LONGEST_SQL, Budget, Limits
from birdenv.databases._results import QueryError, QueryResult, Result, Row
from birdenv.databases._rules import OTHER_THAN_QUERIES
from birdenv.databases._sql_text import first_keyword, split_statements
from birdenv.databases._sqlite_connection import bound_growth, connect_virtual_tables, copy_to_memory
from birdenv.databases._sqlite_errors import DRIVER_ERRORS, is_interruption, kind_and_message
from birdenv.databases._sqlite_schema import content_queries, definitions, read_schema
from birdenv.databases._state import DatabaseState, SchemaObject

__all__ = ["SqliteDatabase"]

_BLANK = "there is no SQL statement in this text"
_CELL_BYTES = 8  # what a cell counts besides the length of its text or blob
_SIZED = (str, bytes)
_T = TypeVar("_T")


class SqliteDatabase:
    """One episode's database; made by `SqliteSource.open`, used by one thread at a time.

    Private to the episode and fully writable; every statement runs under `limits`. SQL never raises: it
    gives a `QueryResult` or a `QueryError`. Using a closed database raises `ValueError`, and Ctrl-C while a
    statement runs raises `KeyboardInterrupt` as ever.
    """

    def __init__(self, connection: sqlite3.Connection, guard: Guard, limits: Limits) -> None:
        """`connection` is a reading one under `guard`; from here on this object owns and closes it."""
        self._connection: sqlite3.Connection | None = connection
        self._guard = guard
        self._limits = limits
        self._is_copy = False

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, as the agent's own.

        `rows`: fetch at most so many (never more than `limits.rows`). The time that the first writing
        statement takes to copy the database is not counted against its deadline. Raises `ValueError` for
        negative `rows`.
        """
        return self._execute(sql, rows, Budget())

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one plain query (SELECT, WITH or VALUES) that only reads, as grading does.

        It sees the current contents, also what `run` and `execute` wrote. Everything else is refused with
        kind `denied` and changes nothing; blank text is a `syntax` error. Raises `ValueError` for negative
        `rows`.
        """
        self._open_connection()
        if len(sql) > LONGEST_SQL:
            return _too_long(sql)
        keyword = first_keyword(sql)
        if keyword in OTHER_THAN_QUERIES:
            return QueryError(
                "denied", f"only a plain query (SELECT, WITH or VALUES) is allowed, not {keyword}"
            )
        if self._is_copy:
            failure = self._ours(connect_virtual_tables)
            if failure is not None:
                return failure
        return self._run_one(sql, rows, Budget(), reading=True)

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts one after another, each cut into its statements, as `execute` does.

        Stops at the first error and returns it, leaving what was done before; otherwise returns the last
        result, which is empty if there was no statement. All of it, copying included, gets
        `limits.seconds_in_all`: the statement that exceeds it is a `timeout`.
        """
        budget = Budget(self._limits.seconds_in_all)
        result: Result = QueryResult((), ())
        for script in statements:
            if len(script) > LONGEST_SQL:
                return _too_long(script)
            for statement in split_statements(script):
                result = self._execute(statement, None, budget)
                if isinstance(result, QueryError):
                    return result
        return result

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Schema and contents as they are now; see `DatabaseState`. An error where they cannot be read.

        A transaction that is still open is rolled back first: what was never committed would not outlive the
        connection. With `like`, contents are read only if the schema is the one of `like`, else left empty.
        Each table is read under `limits`, all together under `limits.seconds_in_all` and `limits.bytes`; what
        goes beyond is an error in the contents.
        """
        budget = Budget(self._limits.seconds_in_all, self._limits.bytes)
        found = self._ours(lambda connection: _read_definitions(connection, budget), budget.seconds)
        if isinstance(found, QueryError):
            return found
        schema, texts, queries = found
        if like is not None and like.schema != schema:
            return DatabaseState(schema, {}, texts)
        contents = {key: self._run_one(sql, None, budget, reading=True) for key, sql in queries.items()}
        return DatabaseState(schema, contents, texts)

    def close(self) -> None:
        """Throw the episode's changes away; closing again does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> SqliteDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ValueError("this database is closed")
        return self._connection

    def _execute(self, sql: str, rows: int | None, budget: Budget) -> Result:
        began = time.monotonic()
        result = self._run_one(sql, rows, budget, reading=False)
        refusal = self._guard.refusal
        if isinstance(result, QueryError) and refusal is not None and refusal.on_a_copy and not self._is_copy:
            failure = self._move_to_copy(began)
            result = failure or self._run_one(sql, rows, budget, reading=False)
        if self._guard.attached and isinstance(result, QueryResult):
            return self._ours(bound_growth) or result
        return result

    def _ours(
        self, work: Callable[[sqlite3.Connection], _T], seconds: float = float("inf")
    ) -> _T | QueryError:
        """What `work` gives, run without rules because the agent has no say in it; an error as a value."""
        connection, began = self._open_connection(), time.monotonic()
        try:
            with self._guard.trusted(seconds):
                return work(connection)
        except DRIVER_ERRORS as error:
            if is_interruption(error) and not self._guard.is_late():
                raise KeyboardInterrupt from error
            elapsed = time.monotonic() - began
            if self._guard.is_late():
                return QueryError("timeout", self._timeout_message(in_all=True), elapsed)
            return QueryError(*kind_and_message(error), elapsed)

    def _move_to_copy(self, began: float) -> QueryError | None:
        source, guard = self._open_connection(), Guard(private=True)
        try:
            self._connection = copy_to_memory(source, guard)
        except DRIVER_ERRORS as error:
            kind, message = kind_and_message(error)
            return QueryError(kind, message, time.monotonic() - began)
        source.close()
        self._guard, self._is_copy = guard, True
        return None

    def _run_one(self, sql: str, rows: int | None, budget: Budget, *, reading: bool) -> Result:
        connection = self._open_connection()
        cap = self._limits.rows if rows is None else min(rows, self._limits.rows)
        if cap < 0:
            raise ValueError(f"rows cannot be negative: {rows}")
        began = time.monotonic()
        seconds, most_bytes = min(self._limits.seconds, budget.seconds), min(self._limits.bytes, budget.bytes)
        self._guard.start(seconds, reading=reading)
        is_last = seconds < self._limits.seconds
        fault = _text_fault(sql)
        if fault is not None:
            return fault
        if seconds <= 0:
            return QueryError("timeout", self._timeout_message(in_all=True))
        try:
            cursor = connection.cursor()
            try:
                cursor.execute(sql)
                columns = tuple(column[0] for column in cursor.description or ())
                fetched, truncated, size = _fetch(cursor, cap, most_bytes)
                affected = cursor.rowcount
            finally:
                cursor.close()
        except DRIVER_ERRORS as error:
            if is_interruption(error) and not self._guard.is_late():
                # Ctrl-C arrived while SQLite ran our progress handler, which cannot pass it on.
                raise KeyboardInterrupt from error
            return self._explain(error, time.monotonic() - began, is_last)
        elapsed = time.monotonic() - began
        if self._guard.is_late():
            return QueryError("timeout", self._timeout_message(in_all=is_last), elapsed)
        budget.bytes -= size
        if fetched is None:
            return QueryError("too_large", f"the rows take more than {self._limits.bytes} bytes", elapsed)
        return QueryResult(columns, fetched, truncated, affected, elapsed)

    def _explain(self, error: BaseException, elapsed: float, is_last: bool) -> QueryError:
        if self._guard.is_late():
            return QueryError("timeout", self._timeout_message(in_all=is_last), elapsed)
        if self._guard.refusal is not None:
            return QueryError("denied", self._guard.refusal.sentence, elapsed)
        return QueryError(*kind_and_message(error), elapsed)

    def _timeout_message(self, *, in_all: bool) -> str:
        if in_all:
            return f"stopped after {self._limits.seconds_in_all:g} s for everything together"
        return f"stopped after {self._limits.seconds:g} s"


def _read_definitions(
    connection: sqlite3.Connection, budget: Budget
) -> tuple[Mapping[str, SchemaObject], tuple[str, ...], dict[str, str]]:
    """The schema, its SQL and the queries for its contents, after a rollback of what is not committed."""

    def fetch(sql: str) -> list[tuple[Any, ...]]:
        if budget.seconds <= 0:
            raise sqlite3.OperationalError("interrupted")
        return connection.execute(sql).fetchall()

    if connection.in_transaction:
        connection.rollback()
    connect_virtual_tables(connection)
    return read_schema(fetch), definitions(fetch), content_queries(fetch)


def _too_long(sql: str) -> QueryError:
    return QueryError(
        "too_large", f"the SQL has {len(sql)} characters, and at most {LONGEST_SQL} are allowed"
    )


def _text_fault(sql: str) -> QueryError | None:
    """What keeps a text from reaching SQLite at all; None if nothing does."""
    if len(sql) > LONGEST_SQL:
        return _too_long(sql)
    if "\0" in sql:
        return QueryError("syntax", "the text holds a NUL character")
    try:
        sql.encode()
    except UnicodeEncodeError:
        return QueryError("syntax", "the text holds a lone surrogate, which is not a character")
    return None if first_keyword(sql) else QueryError("syntax", _BLANK)


def _fetch(cursor: sqlite3.Cursor, cap: int, most_bytes: float) -> tuple[list[Row] | None, bool, int]:
    """At most `cap` rows, whether there was one more, and their size; None for rows beyond `most_bytes`.

    Row by row, because one row may hold 2,000 cells of 10 MB.
    """
    rows: list[Row] = []
    size = 0
    for row in cursor:
        if len(rows) == cap:
            return rows, True, size
        size += _CELL_BYTES * len(row) + sum([len(cell) for cell in row if type(cell) in _SIZED])
        if size > most_bytes:
            return None, False, size
        rows.append(row)
    return rows, False, size
