"""Find and remove the databases, roles and tablespace that birdenv has created, except templates.

`sweep` runs whenever an `AdminConnection` connects or closes. It drops the databases and roles of killed
processes, and copies of templates that have been replaced. The command `db clean` uses `leftovers` and
`remove_leftovers`.

A database consists of about 300 files, which many file systems are slow to create. Therefore, if the machine
has an in-memory file system with enough space, clones are created there, in a tablespace of the embedded
server. Everything else stays on disk. The server itself creates the tablespace's folder, under a random name.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from birdenv.databases.postgres.loading._loading import drop_unfinished
from birdenv.databases.postgres.loading._templates import LOADING
from birdenv.databases.postgres.server._server import PostgresServer

MEMORY: Final = "birdenv_memory"
_PLACE: Final = Path("/dev/shm")
_LEAST_FREE: Final = 4 * 2**30  # bytes
_TIMES: Final = 16  # multiple of the size of the copied database that must be free
_LOOK_UP: Final = "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = %s"


def has_room(size: int) -> bool:
    """Return whether the in-memory file system has enough space for a clone of `size` bytes that may grow."""
    try:
        return shutil.disk_usage(_PLACE).free >= _LEAST_FREE + _TIMES * size
    except OSError:
        return False


def make_memory(connection: psycopg.Connection[Any]) -> bool:
    """Create the in-memory tablespace if it does not exist. Return False if that is impossible."""
    found = connection.execute(_LOOK_UP, [MEMORY]).fetchone()
    if found is not None and Path(found[0]).is_dir():
        return True
    with suppress(psycopg.Error):
        if found is not None:  # its folder was lost when the machine stopped
            connection.execute(f"DROP TABLESPACE {MEMORY}")
        folder = _PLACE / f"birdenv-{secrets.token_hex(8)}"
        _run_program(connection, f"mkdir -m 700 {folder}")
        try:
            connection.execute(f"CREATE TABLESPACE {MEMORY} LOCATION '{folder}'")
        except psycopg.Error:
            _run_program(connection, f"rmdir {folder}")
            raise
    return connection.execute(_LOOK_UP, [MEMORY]).fetchone() is not None


def drop_memory(connection: psycopg.Connection[Any]) -> None:
    """Drop the in-memory tablespace, unless it contains databases."""
    found = connection.execute(_LOOK_UP, [MEMORY]).fetchone()
    if found is not None:
        with suppress(psycopg.Error):
            connection.execute(f"DROP TABLESPACE {MEMORY}")
            _run_program(connection, f"rmdir {found[0]}")


def _run_program(connection: psycopg.Connection[Any], command: str) -> None:
    """Run a shell command of birdenv itself, as the account of the server."""
    connection.execute(sql.SQL("COPY (SELECT) TO PROGRAM {}").format(sql.Literal(command)))


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
    """A database, role or tablespace that birdenv has created on a server.

    Attributes:
        kind: `database`, `role` or `tablespace`.
        name: the name on the server.
        size: the size of a database in bytes; 0 for a role or tablespace.
    """

    kind: str
    name: str
    size: int


def leftovers(server: PostgresServer) -> list[Leftover]:
    """Return a sorted list of everything that birdenv has created on the server, except templates.

    The copies that episodes share (`birdenv-master-...`, `birdenv-reading-...`) are kept for later runs. All
    other databases and roles belong to a running or killed process.
    """
    with server.connect() as connection:
        return _found(connection)


def remove_leftovers(server: PostgresServer) -> list[Leftover]:
    """Remove and return all leftovers that no running process is using, including shared copies.

    Raises `ServerError` if the server cannot be reached.
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
    """Return the number of the advisory lock for a token of 16 hexadecimal digits."""
    number = int(token, 16)
    return number - 2**64 if number >= 2**63 else number


def sweep(connection: psycopg.Connection[Any], needed: Collection[str] | None = None) -> None:
    """Drop the databases and roles of processes that have ended.

    If `needed` is given, also drop shared copies whose names are not in it, unless they are in use.
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
    """Limit each statement in the `with` block to `_DROPPING_SECONDS`.

    To drop a database, PostgreSQL waits for every session on the server. Without this limit, a single stuck
    session could therefore block all others.
    """
    connection.execute(f"SET statement_timeout = '{_DROPPING_SECONDS}s'")
    try:
        yield
    finally:
        with suppress(psycopg.Error):
            connection.execute("RESET statement_timeout")
