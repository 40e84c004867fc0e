"""What birdenv has made on a server besides the templates: swept by every run; `db clean`.

`sweep` runs by itself whenever an `AdminConnection` connects or closes: it drops databases and roles of
processes that were killed, and of older templates. `leftovers` and `remove_leftovers` are for people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg import sql

from birdenv.databases.postgres.clones._memory_tablespace import MEMORY, drop_memory
from birdenv.databases.postgres.loading._loading import drop_unfinished
from birdenv.databases.postgres.loading._templates import LOADING
from birdenv.databases.postgres.server._server import PostgresServer

_FOUND: Final = """
SELECT 'database', datname,
    CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) ELSE 0 END
  FROM pg_database WHERE starts_with(datname, 'birdenv-') OR starts_with(datname, %(loading)s)
UNION ALL SELECT 'role', rolname, 0 FROM pg_roles
  WHERE starts_with(rolname, 'birdenv-') OR starts_with(rolname, %(loading)s)
UNION ALL SELECT 'tablespace', spcname, 0 FROM pg_tablespace WHERE spcname = %(memory)s
ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A database, role or tablespace of ours. `size`: bytes on the server."""

    kind: str
    name: str
    size: int


def leftovers(server: PostgresServer) -> list[Leftover]:
    """Return everything that runs and loading have made on the server but the templates, sorted.

    Copies that episodes share (`birdenv-master-...`, `birdenv-reading-...`) stay on purpose: they save the
    next run their making. The others belong to running processes, or to ones that were killed.
    """
    with server.connect() as connection:
        return _found(connection)


def remove_leftovers(server: PostgresServer) -> list[Leftover]:
    """Remove what no running process uses, including shared copies. Return what was removed.

    Raises `ServerError` where the server is out of reach.
    """
    with server.connect() as connection:
        before = _found(connection)
        sweep(connection, needed=())
        drop_unfinished(connection)
        if server.is_ours:
            drop_memory(connection)
        after = {(each.kind, each.name) for each in _found(connection)}
    return [each for each in before if (each.kind, each.name) not in after]


def _found(connection: psycopg.Connection[Any]) -> list[Leftover]:
    rows = connection.execute(_FOUND, {"loading": LOADING, "memory": MEMORY}).fetchall()
    return [Leftover(*row) for row in rows]


_OF_EPISODES: Final = "^birdenv-(episode|agent)-[0-9a-f]{16}-[0-9]+$"
_DROPPING_SECONDS: Final = 5
_SHARED: Final = "^birdenv-(master|reading)-[0-9a-f]{16}$"


def number_of_lock(token: str) -> int:
    """Return the number of the advisory lock for 16 hexadecimal digits."""
    number = int(token, 16)
    return number - 2**64 if number >= 2**63 else number


def sweep(connection: psycopg.Connection[Any], needed: Collection[str] | None = None) -> None:
    """Drop what belongs to no living process; with `needed`, also other shared copies that nobody uses.

    What another process drops at the same time, or still uses, is left alone.
    """
    living = connection.execute(
        "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks"
        " WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
    ).fetchall()
    found = connection.execute(
        "SELECT datname, 'DATABASE' FROM pg_database WHERE datname ~ %(name)s"
        " UNION ALL SELECT rolname, 'ROLE' FROM pg_roles WHERE rolname ~ %(name)s ORDER BY 2, 1",
        {"name": _OF_EPISODES},
    ).fetchall()
    for name, kind in found:
        if (number_of_lock(name.split("-")[2]),) not in living:
            _drop(connection, kind, name, "WITH (FORCE)" if kind == "DATABASE" else "")
    if needed is not None:
        shared = connection.execute("SELECT datname FROM pg_database WHERE datname ~ %s", [_SHARED])
        for (name,) in shared.fetchall():
            if name not in needed:
                _drop(connection, "DATABASE", name)


def _drop(connection: psycopg.Connection[Any], kind: str, name: str, force: str = "") -> None:
    statement = sql.SQL("DROP {} IF EXISTS {} {}").format(sql.SQL(kind), sql.Identifier(name), sql.SQL(force))
    with suppress(psycopg.Error), impatient(connection):
        connection.execute(statement)


@contextmanager
def impatient(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Let statements inside fail after seconds.

    Dropping a database waits until every session on the server has noticed, and one that is stuck must not
    stop all others.
    """
    connection.execute(f"SET statement_timeout = '{_DROPPING_SECONDS}s'")
    try:
        yield
    finally:
        with suppress(psycopg.Error):
            connection.execute("RESET statement_timeout")
