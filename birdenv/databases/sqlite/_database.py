"""The SQLite database of one episode, whose changes never reach the source file.

An episode starts on read-only connections, on which statements can leave nothing behind. The first statement
that needs a private database moves the episode to an image, which is a private, writable copy of the file.
That statement and all later ones run on the image. Therefore everything that a statement can leave behind
(transactions, temporary tables, pragmas) stays in the image.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from birdenv.databases._limits import Limits
from birdenv.databases._protocols import ScannedDatabase
from birdenv.databases._results import (
    Allowance,
    Checkpoint,
    DatabaseState,
    QueryError,
    QueryResult,
    Result,
    RowSink,
    SchemaObject,
    Scope,
    bytes_of,
)
from birdenv.databases.sqlite._authorizer_rules import OTHER_THAN_QUERIES
from birdenv.databases.sqlite._connection import GuardedConnection, kind_and_message, text_fault
from birdenv.databases.sqlite._deadline import Deadline
from birdenv.databases.sqlite._file import SqliteFile
from birdenv.databases.sqlite._preparation import connect_virtual_tables
from birdenv.databases.sqlite._readers import readers_of
from birdenv.databases.sqlite._schema import content_queries, definitions, read_schema
from birdenv.databases.sqlite.images import open_image
from birdenv.databases.sqlite.images._protocol import Image, ImageKind
from birdenv.sql import LONGEST_SQL, first_keyword, split_statements


class SqliteDatabase(ScannedDatabase):
    """The database of one episode, run in this process. Not thread-safe.

    The database is private and fully writable, and every statement runs within `limits`. A statement returns
    a `QueryResult` or a `QueryError`, and never raises an exception. Using a closed database raises
    `ValueError`.
    """

    def __init__(self, file: SqliteFile, limits: Limits, image_kind: ImageKind = "auto") -> None:
        self._file = file
        self._readers = readers_of(file)
        self._limits = limits
        self._image_kind: ImageKind = image_kind
        self._image: Image | None = None
        self._private: GuardedConnection | None = None  # on the image
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Return whether the episode has written something, and therefore works on its own image."""
        return self._private is not None

    @property
    def scope(self) -> Scope | None:
        """Return everything that determines results, or None if the episode has written something."""
        return None if self.is_private else self._file.scope(self._limits)

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, for example one that an agent submitted.

        `rows` is the maximum number of rows to fetch, up to `limits.rows`. The time to make a private copy
        for the first writing statement does not count towards the limits. Raises `ValueError` if `rows` is
        negative.
        """
        return self._execute(sql, self._allowance(rows))

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one query (SELECT, WITH or VALUES) that only reads, as grading does.

        The query sees everything that `run` and `execute` wrote. Other statements are refused as `denied` and
        change nothing; blank text is a `syntax` error. Raises `ValueError` if `rows` is negative.
        """
        return self._query(sql, self._allowance(rows), None)

    def scan(self, sql: str, sink: RowSink) -> Result:
        """Run a query as `query` does, but stream its rows to `sink`.

        The result contains no rows. It is marked as truncated if the sink stopped early, or if there were
        more than `limits.rows` rows. The time that the sink takes counts towards the limits.
        """
        return self._query(sql, self._allowance(None), sink)

    def run(self, statements: Iterable[str]) -> Result:
        """Split scripts into statements, and run them in order within `limits.seconds_in_all`.

        The first error ends the run and is returned; earlier statements are not undone. If there is no error,
        the result is that of the last statement, or an empty result if there were no statements.
        """
        deadline = self._deadline_in_all()
        result: Result = QueryResult((), ())
        for script in statements:
            if len(script) > LONGEST_SQL:
                return text_fault(script) or result
            for statement in split_statements(script):
                result = self._execute(statement, self._allowance_until(deadline))
                if isinstance(result, QueryError):
                    return result
        return result

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Roll back any open transaction. Return the committed schema and contents, or an error.

        A separate connection reads them, so that the episode's temporary objects and settings have no effect.
        `like` is a state to compare with. If the schemas differ, the contents are not read. Each table is
        read within `limits`, and all tables together within `limits.seconds_in_all` and `limits.bytes`. If a
        table exceeds a limit, its entry in the contents is an error.
        """
        self._check_open()
        deadline = self._deadline_in_all()
        if self._image is None or self._private is None:
            reader = self._readers.borrow()
            try:
                return self._state(reader, like, deadline)
            finally:
                self._readers.give_back(reader)
        failure = self._private.within(_roll_back, self._allowance_until(deadline))
        if isinstance(failure, QueryError):
            return failure
        try:
            connection = GuardedConnection(self._image.committed(), private=True, file=self._image.file)
        except (sqlite3.Error, MemoryError) as error:
            return QueryError(*kind_and_message(error))
        with closing(connection):
            return self._state(connection, like, deadline)

    def checkpoint(self) -> Checkpoint | QueryError:
        """Roll back any open transaction and return a checkpoint of the committed contents.

        The checkpoint can be passed to `restore` on any database opened from the same file. It does not
        include temporary tables or pragmas, and the episode continues in a new session without them. If the
        pages that the episode has changed exceed `limits.bytes`, the result is an error.
        """
        self._check_open()
        if self._image is None or self._private is None:
            return Checkpoint(self._file.version, 0, {})
        image, connection = self._image, self._private
        allowance = self._allowance_until(self._deadline_in_all())
        failure = connection.within(_roll_back, allowance)
        if isinstance(failure, QueryError):
            return failure
        try:
            size, pages = image.changes(self._limits.bytes)
        except (OverflowError, MemoryError, OSError, sqlite3.Error) as error:
            return QueryError("too_large", f"cannot create a checkpoint: {error}")
        made = Checkpoint(self._file.version, size, pages)
        self._drop_image()
        return self._make_private(made) or made

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Restore the contents of a checkpoint, discarding all other changes.

        Raises `ValueError` if the checkpoint belongs to a different file, or to a different version of this
        file.
        """
        self._check_open()
        if checkpoint.version != self._file.version:
            raise ValueError(
                "the checkpoint belongs to a different database, or to a different version of its file"
            )
        self._drop_image()
        return self._make_private(checkpoint) if checkpoint.size else None

    def close(self) -> None:
        """Close the database, and discard the episode's changes. Closing again does nothing."""
        self._drop_image()
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("this database is closed")

    def _allowance(self, rows: int | None) -> Allowance:
        self._check_open()
        if rows is not None and rows < 0:
            raise ValueError(f"rows cannot be negative: {rows}")
        limits = self._limits
        cap = limits.rows if rows is None else min(rows, limits.rows)
        return Allowance(cap, limits.seconds, limits.bytes, wall_seconds=limits.wall_seconds)

    def _deadline_in_all(self) -> Deadline:
        limits = self._limits
        return Deadline(limits.seconds_in_all, limits.wall_seconds_in_all)

    def _allowance_until(self, deadline: Deadline) -> Allowance:
        """Return the limits on the next of several statements that share a deadline."""
        allowance, left, wall_left = self._allowance(None), deadline.seconds_left, deadline.wall_seconds_left
        if left >= allowance.seconds and wall_left >= allowance.wall_seconds:
            return allowance
        return replace(
            allowance,
            seconds=min(left, allowance.seconds),
            wall_seconds=min(wall_left, allowance.wall_seconds),
            in_all=self._limits.seconds_in_all,
        )

    def _execute(self, sql: str, allowance: Allowance) -> Result:
        fault = text_fault(sql)
        if fault is not None:
            return fault
        if self._private is None:
            reader = self._readers.borrow()
            try:
                result = reader.execute(sql, allowance, reading=True)
                if type(result) is QueryResult or not reader.needs_copy:
                    return result
            finally:
                self._readers.give_back(reader)
            failure = self._make_private(None)
            if failure is not None:
                return failure
        assert self._private is not None
        return self._private.execute(sql, allowance, reading=False)

    def _query(self, sql: str, allowance: Allowance, sink: RowSink | None) -> Result:
        fault = text_fault(sql)
        if fault is not None:
            return fault
        keyword = first_keyword(sql)
        if keyword in OTHER_THAN_QUERIES:
            sentence = f"only a plain query (SELECT, WITH or VALUES) is allowed, not {keyword}"
            return QueryError("denied", sentence, repeatable=True)
        if self._private is not None:
            connected = self._private.within(connect_virtual_tables, allowance)
            if isinstance(connected, QueryError):
                return connected
            return self._private.execute(sql, allowance, reading=True, sink=sink)
        reader = self._readers.borrow()
        try:
            return reader.execute(sql, allowance, reading=True, sink=sink)
        finally:
            self._readers.give_back(reader)

    def _make_private(self, start: Checkpoint | None) -> QueryError | None:
        try:
            image = open_image(self._file.image_path, self._image_kind, start)
            try:
                self._private = GuardedConnection(image.connection, private=True, file=image.file)
            except BaseException:
                image.close()
                raise
        except MemoryError as error:
            return QueryError(*kind_and_message(error))
        except (OSError, sqlite3.Error) as error:
            kind, message = (
                kind_and_message(error) if isinstance(error, sqlite3.Error) else ("engine", str(error))
            )
            return QueryError(kind, f"cannot create a private image of the database: {message}")
        self._image = image
        return None

    def _drop_image(self) -> None:
        image, self._image, self._private = self._image, None, None
        if image is not None:
            image.close()

    def _state(
        self, connection: GuardedConnection, like: DatabaseState | None, deadline: Deadline
    ) -> DatabaseState | QueryError:
        limits = self._limits
        in_all = Allowance(
            limits.rows,
            deadline.seconds_left,
            limits.bytes,
            limits.seconds_in_all,
            deadline.wall_seconds_left,
        )
        found = connection.within(lambda ours: _read_definitions(ours, deadline), in_all)
        if isinstance(found, QueryError):
            return found
        schema, texts, queries = found
        if like is not None and like.schema != schema:
            return DatabaseState(schema, {}, texts)
        contents: dict[str, Result] = {}
        left = float(limits.bytes)
        for key, sql in queries.items():
            allowance = replace(self._allowance_until(deadline), bytes=left)
            content = contents[key] = connection.execute(sql, allowance, reading=True)
            left -= bytes_of(content.rows) if isinstance(content, QueryResult) else 0
        return DatabaseState(schema, contents, texts)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.rollback()


def _read_definitions(
    connection: sqlite3.Connection, deadline: Deadline
) -> tuple[Mapping[str, SchemaObject], tuple[str, ...], dict[str, str]]:
    """Return the schema, the SQL of its objects, and the queries that read its contents."""

    def fetch(sql: str) -> list[tuple[Any, ...]]:
        if deadline.expiry():
            raise sqlite3.OperationalError("interrupted")
        return connection.execute(sql).fetchall()

    connect_virtual_tables(connection)
    return read_schema(fetch), definitions(fetch), content_queries(fetch)
