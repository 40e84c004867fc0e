"""An episode's own SQLite database: whatever is typed, the answer is a value and the source file is safe.

An episode starts on a connection that can only read the source file and to which nothing sticks. The first
statement that the guard refuses there, and would allow on a copy, moves the episode to a private copy in
memory: that statement is run again on the copy and the episode stays there. So every state that a statement
can leave behind (transactions, temporary tables, pragmas) lives in the copy from its beginning.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from types import TracebackType

from birdenv.databases._guard import Guard
from birdenv.databases._limits import Limits
from birdenv.databases._results import QueryError, QueryResult, Result, Row
from birdenv.databases._rules import OTHER_THAN_QUERIES
from birdenv.databases._sql_text import first_keyword, quoted, split_statements
from birdenv.databases._sqlite_connection import bound_growth, connect_virtual_tables, copy_to_memory
from birdenv.databases._sqlite_errors import DRIVER_ERRORS, is_interruption, kind_and_message
from birdenv.databases._sqlite_schema import read_schema, table_names
from birdenv.databases._state import DatabaseState

__all__ = ["SqliteDatabase"]

_BLANK = "there is no SQL statement in this text"
_CELL_BYTES = 8  # what a cell counts besides the length of its text or blob
_SIZED = (str, bytes)


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
        began = time.monotonic()
        result = self._run_one(sql, rows, reading=False)
        refusal = self._guard.refusal
        if isinstance(result, QueryError) and refusal is not None and refusal.on_a_copy and not self._is_copy:
            failure = self._move_to_copy(began)
            result = failure or self._run_one(sql, rows, reading=False)
        if self._guard.attached and isinstance(result, QueryResult):
            with self._guard.trusted():
                bound_growth(self._open_connection())
        return result

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one plain query (SELECT, WITH or VALUES) that only reads, as grading does.

        It sees the current contents, also what `run` and `execute` wrote. Everything else is refused with
        kind `denied` and changes nothing; blank text is a `syntax` error. Raises `ValueError` for negative
        `rows`.
        """
        connection = self._open_connection()
        keyword = first_keyword(sql)
        if keyword in OTHER_THAN_QUERIES:
            return QueryError(
                "denied", f"only a plain query (SELECT, WITH or VALUES) is allowed, not {keyword}"
            )
        if self._is_copy:
            with self._guard.trusted():
                connect_virtual_tables(connection)
        return self._run_one(sql, rows, reading=True)

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts one after another, each cut into its statements, as `execute` does.

        Stops at the first error and returns it, leaving what was done before; otherwise returns the last
        result, which is empty if there was no statement.
        """
        result: Result = QueryResult((), ())
        for script in statements:
            for statement in split_statements(script):
                result = self.execute(statement)
                if isinstance(result, QueryError):
                    return result
        return result

    def state(self) -> DatabaseState:
        """Schema and contents as they are now; see `DatabaseState`. Each table is read under `limits`."""
        with self._guard.trusted():
            schema = read_schema(self._open_connection())
            names = table_names(self._open_connection())
        contents = {name.lower(): self.query(f"SELECT * FROM main.{quoted(name)}") for name in names}
        return DatabaseState(schema, contents)

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

    def _run_one(self, sql: str, rows: int | None, *, reading: bool) -> Result:
        connection = self._open_connection()
        cap = self._limits.rows if rows is None else min(rows, self._limits.rows)
        if cap < 0:
            raise ValueError(f"rows cannot be negative: {rows}")
        began = time.monotonic()
        self._guard.start(self._limits.seconds, reading=reading)
        fault = _text_fault(sql)
        if fault:
            return QueryError("syntax", fault)
        try:
            cursor = connection.cursor()
            try:
                cursor.execute(sql)
                columns = tuple(column[0] for column in cursor.description or ())
                fetched, truncated = _fetch(cursor, cap, self._limits.bytes)
                affected = cursor.rowcount
            finally:
                cursor.close()
        except DRIVER_ERRORS as error:
            if is_interruption(error) and not self._guard.is_late():
                # Ctrl-C arrived while SQLite ran our progress handler, which cannot pass it on.
                raise KeyboardInterrupt from error
            return self._explain(error, time.monotonic() - began)
        elapsed = time.monotonic() - began
        if self._guard.is_late():
            return QueryError("timeout", self._timeout_message(), elapsed)
        if fetched is None:
            return QueryError("too_large", f"the rows take more than {self._limits.bytes} bytes", elapsed)
        return QueryResult(columns, fetched, truncated, affected, elapsed)

    def _explain(self, error: BaseException, elapsed: float) -> QueryError:
        if self._guard.is_late():
            return QueryError("timeout", self._timeout_message(), elapsed)
        if self._guard.refusal is not None:
            return QueryError("denied", self._guard.refusal.sentence, elapsed)
        return QueryError(*kind_and_message(error), elapsed)

    def _timeout_message(self) -> str:
        return f"stopped after {self._limits.seconds:g} s"


def _text_fault(sql: str) -> str:
    """What keeps a text from reaching SQLite at all; empty if nothing does."""
    if "\0" in sql:
        return "the text holds a NUL character"
    try:
        sql.encode()
    except UnicodeEncodeError:
        return "the text holds a lone surrogate, which is not a character"
    return "" if first_keyword(sql) else _BLANK


def _fetch(cursor: sqlite3.Cursor, cap: int, most_bytes: int) -> tuple[list[Row] | None, bool]:
    """At most `cap` rows and whether there was one more; None in place of rows beyond `most_bytes`.

    Row by row, because one row may hold 2,000 cells of 10 MB.
    """
    rows: list[Row] = []
    size = 0
    for row in cursor:
        if len(rows) == cap:
            return rows, True
        size += _CELL_BYTES * len(row) + sum([len(cell) for cell in row if type(cell) in _SIZED])
        if size > most_bytes:
            return None, False
        rows.append(row)
    return rows, False
