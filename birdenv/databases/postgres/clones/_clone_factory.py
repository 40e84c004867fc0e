"""Create shared databases for episodes that only read, and a clone for each episode that writes.

A clone is a database with its own role, which owns everything in that database and nothing else on the
server.
"""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg import sql

from birdenv.databases.postgres._connection import LOCK_BYTES
from birdenv.databases.postgres._privileges import (
    CLOSE_DATABASES,
    CONTENTS_OWNER,
    HAND_OVER,
    HIDE_THE_SERVER,
    ONLY_READING,
)
from birdenv.databases.postgres._session import Session, open_session
from birdenv.databases.postgres.clones._admin_connection import AdminConnection
from birdenv.databases.postgres.loading._templates import TemplateCopies
from birdenv.databases.postgres.server._server import PostgresServer

_EXISTS: Final = (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation)
_READERS: Final = "birdenv_reader"
_SHOWN_ROLE: Final = "birdenv_agent"


@dataclass(frozen=True, slots=True)
class Login:
    """The name and password of a role.

    Attributes:
        role: the name of the role.
        password: the password; None if the server does not require one.
    """

    role: str
    password: str | None


@dataclass(eq=False, slots=True)
class Clone:
    """A private copy of a template.

    Attributes:
        db_id: the database's id in the benchmark.
        token: the number of the lock held by the process that created the clone (`AdminConnection.token`).
        name: the name of the clone on the server.
        owner: the login of the clone's owner.
        size: the size of the template in bytes.
        session: the episode's session; None while the clone is idle.
    """

    db_id: str
    token: str
    name: str
    owner: Login
    size: int
    session: Session | None = None


class CloneFactory:
    """Creates and drops clones. Only one thread may use it.

    Pass methods to `attempt`, which connects before it calls them (see `AdminConnection.attempt`). Only
    `let_in`, `is_living` and `close` can be called directly.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._maker = AdminConnection(server, self._begin)
        self.attempt = self._maker.attempt
        self._databases_of: Counter[str] = Counter()  # by role
        self._sizes: dict[TemplateCopies, int] = {}
        self._reader = Login(_READERS, None)

    def reader(self, copies: TemplateCopies) -> Login:
        """Create the shared databases of a template if necessary, and return the login for them."""
        self._share(copies)
        return self._reader

    def clone(self, copies: TemplateCopies) -> Clone:
        """Return a new clone of a template, with an open session."""
        self._share(copies)
        name = self._maker.create(copies.master)
        role = name.replace("-episode-", "-agent-")
        owner = Login(role, None if self._server.is_ours else secrets.token_urlsafe(24))
        self._maker.make_role(role, owner.password)
        clone = self._given(Clone(copies.db_id, self._maker.token, name, owner, self._sizes[copies]))
        with self._server.connect(name) as inside:
            contents = sql.Identifier(CONTENTS_OWNER)
            inside.execute(sql.SQL("REASSIGN OWNED BY {} TO {}").format(contents, sql.Identifier(role)))
        clone.session = open_clone(self._server, clone)
        return clone

    def clone_of(self, frozen: Clone) -> Clone:
        """Copy `frozen`, a clone without a session, to a new clone with an open session."""
        name = self._maker.create(frozen.name)
        clone = self._given(Clone(frozen.db_id, self._maker.token, name, frozen.owner, frozen.size))
        self._let_in(clone)
        clone.session = open_clone(self._server, clone)
        return clone

    def drop(self, clone: Clone) -> None:
        """Drop a clone, and also its owner if the owner has no other database."""
        if clone.token != self._maker.token:
            return  # made before the server was lost, and dropped by the sweep after that
        role = clone.owner.role
        self._maker.drop_database(clone.name)
        self._databases_of[role] -= 1
        if not self._databases_of[role]:
            del self._databases_of[role]
            self._maker.run(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))

    def end_session(self, process: int) -> None:
        """End an unresponsive session. `process` is its process id on the server."""
        self._maker.run("SELECT pg_terminate_backend(%s)", process)

    def growth(self, clone: Clone) -> int:
        """Return by how many bytes a clone exceeds its template. Each lock counts as `LOCK_BYTES`."""
        return self._maker.size(clone.name) + LOCK_BYTES * self._maker.locks(clone.name) - clone.size

    def let_in(self, clone: Clone) -> bool:
        """Reset the login of a clone's owner for a new session. Return False if the clone was lost.

        This is necessary because an agent's SQL can change the password, settings and privileges of its own
        role.
        """
        return self.is_living(clone) and self.attempt(lambda: self._let_in(clone))

    def is_living(self, clone: Clone) -> bool:
        """Return whether the server has been running without interruption since the clone was created."""
        return clone.token == self._maker.token and self._maker.is_up()

    def close(self) -> None:
        """Drop everything that was created for episodes, and disconnect."""
        self._maker.close()

    def _begin(self) -> None:
        """Prepare the server for a new admin connection."""
        self._databases_of.clear()
        self._sizes.clear()
        self._maker.run(CLOSE_DATABASES.replace("{all}", "true" if self._server.is_ours else "false"))
        with suppress(*_EXISTS):
            self._maker.run(f"CREATE ROLE {CONTENTS_OWNER}")
        if self._server.is_ours:
            with suppress(*_EXISTS):
                self._maker.make_role(_READERS, None)
        else:  # logging in may need a password, so each process has its own role
            with suppress(*_EXISTS):
                self._maker.run(f"CREATE ROLE {_READERS}")
            role = self._maker.new_name().replace("-episode-", "-agent-")
            self._reader = Login(role, secrets.token_urlsafe(24))
            self._maker.make_role(role, self._reader.password, _READERS)

    def _share(self, copies: TemplateCopies) -> None:
        maker = self._maker
        if not maker.exists(copies.master):
            name = maker.create(copies.template, for_an_episode=False)
            self._inside(name, HAND_OVER, HIDE_THE_SERVER)
            self._inside(name)  # the first session leaves a cache file, which clones then share
            new = sql.Identifier(name)
            maker.run(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(new))
            maker.run(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(new))
            maker.rename(name, copies.master)
        if not maker.exists(copies.reading):
            name = maker.create(copies.master, for_an_episode=False)
            self._inside(name, ONLY_READING.replace("{reader}", _READERS))
            readers = sql.Identifier(_READERS)
            maker.run(
                sql.SQL(
                    "REVOKE ALL ON DATABASE {0} FROM PUBLIC; GRANT CONNECT ON DATABASE {0} TO {1}"
                ).format(sql.Identifier(name), readers)
            )
            maker.rename(name, copies.reading)
        if copies not in self._sizes:
            self._sizes[copies] = maker.size(copies.master)

    def _let_in(self, clone: Clone) -> bool:
        self._maker.reset_role(clone.owner.role, clone.owner.password)
        self._maker.run(
            sql.SQL("GRANT ALL ON DATABASE {} TO {}").format(
                sql.Identifier(clone.name), sql.Identifier(clone.owner.role)
            )
        )
        return True

    def _given(self, clone: Clone) -> Clone:
        """Let only the clone's owner connect to it, and return the clone."""
        self._databases_of[clone.owner.role] += 1
        self._maker.run(
            sql.SQL("REVOKE ALL ON DATABASE {0} FROM PUBLIC; GRANT ALL ON DATABASE {0} TO {1}").format(
                sql.Identifier(clone.name), sql.Identifier(clone.owner.role)
            )
        )
        return clone

    def _inside(self, database: str, *statements: str) -> None:
        with self._server.connect(database) as connection:
            for statement in statements:
                connection.execute(statement.encode())


def open_clone(server: PostgresServer, clone: Clone) -> Session:
    """Open a session in a clone as its owner. Raises `ServerError` if that fails."""
    shown = {clone.name: clone.db_id, clone.owner.role: _SHOWN_ROLE}
    return open_session(server, clone.name, clone.owner.role, clone.owner.password, shown, reading=False)


def open_reading(server: PostgresServer, copies: TemplateCopies, reader: Login) -> Session:
    """Open a session in the shared database of a template.

    Raises `ServerError` if that fails.
    """
    shown = {copies.reading: copies.db_id, reader.role: _SHOWN_ROLE}
    return open_session(server, copies.reading, reader.role, reader.password, shown, reading=True)
