"""Which server `find_server` would take here, told without starting or asking it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from birdenv.databases._postgres_queries import PostgresQueries
from birdenv.databases.postgres._binaries import find_binaries, has_package
from birdenv.databases.postgres._server import DSN_VARIABLE
from birdenv.errors import InputError

__all__ = ["ServerChoice", "server_choice"]


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """`server`: what would be used, or why nothing can be and what to do, without a password.
    `has_extra`: whether the package of the extra `postgres` is there."""

    server: str
    has_extra: bool


def server_choice() -> ServerChoice:
    """What `find_server()` would take: it looks at BIRDENV_DSN and for programs, and never raises."""
    return ServerChoice(_server(), has_package())


def _server() -> str:
    dsn = os.environ.get(DSN_VARIABLE)
    try:
        if dsn:
            return f"the server that {DSN_VARIABLE} names: {PostgresQueries(dsn).shown} (not asked here)"
        found = find_binaries()
    except InputError as error:
        return f"none: {DSN_VARIABLE}: {error}" if dsn else f"none: {error}"
    origin = "of the extra `postgres`" if found.package else f"installed in {found.folder}"
    return f"a server of birdenv's own, PostgreSQL {found.version} {origin}"
