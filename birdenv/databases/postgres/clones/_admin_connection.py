"""Create and drop the databases and roles of episodes, as a superuser.

The connection holds an advisory lock, whose number is part of the name of every database and role that is
created for an episode. If no process holds that lock, the database or role was left behind by a killed
process, or by this process before it lost its connection to the server. The next process then drops it. These
names begin with `birdenv-`, whereas the names of templates begin with `birdenv_`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg import sql

from birdenv.databases.postgres.clones._leftovers import (
    MEMORY,
    drop_memory,
    has_room,
    impatient,
    make_memory,
    number_of_lock,
    sweep,
)
from birdenv.databases.postgres.loading._templates import needed_names
from birdenv.databases.postgres.server._server import PostgresServer, ServerError, one_line
from birdenv.errors import InputError

_TEMPORARY_FILES: Final = "1GB"  # limit for each session, for sorting and joining
_DROPS_BETWEEN_VACUUMS: Final = 256
_SHARED_CATALOGS: Final = "pg_database, pg_authid, pg_shdepend, pg_db_role_setting"
_TRIALS: Final = 3
_LEAVING_SECONDS: Final = 0.05
_T = TypeVar("_T")


class AdminConnection:
    """A connection for creating and dropping databases. Only one thread may use it.

    The connection is opened on first use, and reopened if the server was lost.

    Args:
        server: the server.
        when_connected: a function to call after each new connection.
    """

    def __init__(self, server: PostgresServer, when_connected: Callable[[], None]) -> None:
        self.server = server
        self.token = ""
        """The number of the lock that is held now, as 16 hexadecimal digits."""
        self._when_connected = when_connected
        self._connection: psycopg.Connection[Any] | None = None
        self._count = 0
        self._dropped = 0

    def attempt(self, work: Callable[[], _T]) -> _T:
        """Connect if necessary, call `work`, and return its result. Retry once if the connection was lost.

        Raises `ServerError` if `work` or the connection fails, and `InputError` if the role is not a
        superuser.
        """
        is_old = self._connect()
        try:
            return work()
        except psycopg.Error as error:
            if not is_old or not self._is_lost():
                raise self._explained(error) from None
        self._connect()
        try:
            return work()
        except psycopg.Error as error:
            raise self._explained(error) from None

    def run(self, statement: str | sql.Composed, *values: object) -> list[tuple[Any, ...]]:
        """Run one of birdenv's own statements, and return its rows.

        This method and most of the following methods can raise `psycopg.Error`, so call them within
        `attempt`.
        """
        assert self._connection is not None
        text = statement.encode() if isinstance(statement, str) else statement
        cursor = self._connection.execute(text, values or None)
        return cursor.fetchall() if cursor.description else []

    def exists(self, database: str) -> bool:
        """Return whether a database with this name exists."""
        return bool(self.run("SELECT 1 FROM pg_database WHERE datname = %s", database))

    def size(self, database: str) -> int:
        """Return the size of a database's files in bytes, including free space."""
        return int(self.run("SELECT pg_database_size(%s)", database)[0][0])

    def locks(self, database: str) -> int:
        """Return the number of locks that sessions hold on objects in a database."""
        of_database = "database = (SELECT oid FROM pg_database WHERE datname = %s)"
        return int(self.run(f"SELECT count(*) FROM pg_locks WHERE {of_database}", database)[0][0])

    def new_name(self) -> str:
        """Return a new, unique name for an episode's database."""
        self._count += 1
        return f"birdenv-episode-{self.token}-{self._count}"

    def create(self, origin: str, *, for_an_episode: bool = True) -> str:
        """Copy the database `origin`, which must have no connections, and return the name of the copy.

        On the embedded server, a copy for an episode is stored in memory if there is enough space.
        """
        name = self.new_name()
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} {}").format(
            sql.Identifier(name), sql.Identifier(origin), sql.SQL(self._how_to_copy(origin, for_an_episode))
        )
        self._wait_until_empty(origin)
        for trial in range(_TRIALS):
            try:
                self.run(statement)
                break
            except psycopg.errors.ObjectInUse:  # for example by `birdenv db verify`
                if trial == _TRIALS - 1:
                    raise
        return name

    def _how_to_copy(self, origin: str, for_an_episode: bool) -> str:
        # Copying files makes the server write all its data before and after: cheap only without fsync.
        if not self.server.is_ours:
            return "STRATEGY WAL_LOG" if self.server.version_number >= 150_000 else ""
        strategy = "STRATEGY FILE_COPY" if self.server.version_number >= 150_000 else ""
        assert self._connection is not None
        in_memory = for_an_episode and has_room(self.size(origin)) and make_memory(self._connection)
        return f"{strategy} TABLESPACE {MEMORY if in_memory else 'pg_default'}"

    def rename(self, name: str, final: str) -> None:
        """Give a complete database its final name, or drop it if a different process has taken that name."""
        self._wait_until_empty(name)
        try:
            self.run(
                sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(name), sql.Identifier(final))
            )
        except psycopg.errors.DuplicateDatabase:
            self.drop_database(name)

    def drop_database(self, name: str) -> None:
        """End all sessions on a database, and drop it if it exists.

        If this takes more than a few seconds, it fails, and a later `sweep` drops the database.
        """
        self._wait_until_empty(name)
        assert self._connection is not None
        with impatient(self._connection):
            self.run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        self._dropped += 1
        if self.server.is_ours and not self._dropped % _DROPS_BETWEEN_VACUUMS:
            self.run(f"VACUUM {_SHARED_CATALOGS}")  # autovacuum is off

    def _wait_until_empty(self, name: str) -> None:
        """Wait for closed sessions to end; otherwise, the server would not check for 100 ms."""
        end = time.monotonic() + _LEAVING_SECONDS
        while time.monotonic() < end:
            if not self.run("SELECT 1 FROM pg_stat_activity WHERE datname = %s LIMIT 1", name):
                break
            time.sleep(0.001)

    def make_role(self, role: str, password: str | None, group: str | None = None) -> None:
        """Create a role that can log in and has only the privileges of `group`."""
        name = sql.Identifier(role)
        self.run(
            sql.SQL("CREATE ROLE {} {}").format(
                name, sql.SQL("IN ROLE {}").format(sql.Identifier(group)) if group else sql.SQL("")
            )
        )
        self.reset_role(role, password)

    def reset_role(self, role: str, password: str | None) -> None:
        """Reset a role's password, and its settings in all databases, to those of a new role."""
        name = sql.Identifier(role)
        places = self.run(
            "SELECT d.datname FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = s.setdatabase"
            " WHERE s.setrole = (SELECT oid FROM pg_roles WHERE rolname = %s)",
            role,
        )
        for (database,) in places:
            place = sql.SQL("ALTER ROLE {} IN DATABASE {} RESET ALL")
            self.run(place.format(name, sql.Identifier(database)))
        self.run(
            sql.SQL(
                "ALTER ROLE {0} RESET ALL; ALTER ROLE {0} LOGIN PASSWORD {1};"
                " ALTER ROLE {0} SET temp_file_limit = {2}"
            ).format(name, sql.Literal(password), sql.Literal(_TEMPORARY_FILES))
        )

    def is_up(self) -> bool:
        """Return whether the connection is open and the server accepts and answers sessions.

        After the server's first process was killed, an old session may answer once more.
        """
        try:
            self.server.connect().close()
            self.run("SELECT 1")
        except (psycopg.Error, ServerError, AssertionError):
            return False
        return True

    def close(self) -> None:
        """Drop everything that was created for episodes, and disconnect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error), connection:
                connection.execute("SELECT pg_advisory_unlock_all()")
                sweep(connection)
                if self.server.is_ours:
                    drop_memory(connection)

    def _connect(self) -> bool:
        """Connect if necessary. Return whether there already was a connection."""
        if not self._is_lost():
            return True
        connection = self.server.connect()
        try:
            if not self.server.is_superuser:
                raise InputError(
                    f"the role at {self.server.shown} is not a superuser, but birdenv needs a superuser to "
                    "isolate agents: name one in the DSN, or leave --dsn and BIRDENV_DSN out"
                )
            # Other processes rely on these databases, but a killed server loses its last commits.
            connection.execute("SET synchronous_commit = on")
            self.token = secrets.token_hex(8)
            connection.execute("SELECT pg_advisory_lock(%s)", [number_of_lock(self.token)])
            sweep(connection, needed_names(self.server))
            self._connection = connection
            self._when_connected()
        except psycopg.Error as error:
            raise self._explained(error) from None
        return False

    def _is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def _explained(self, error: psycopg.Error) -> ServerError:
        return ServerError(
            f"cannot create a database for an episode on the PostgreSQL server at {self.server.shown}: "
            f"{one_line(error)}"
        )
