"""What birdenv has made on a server besides the templates: found, and removed where nobody uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from birdenv.databases.postgres._admin import MEMORY, drop_memory, sweep
from birdenv.databases.postgres.loading._loading import drop_unfinished
from birdenv.databases.postgres.loading._templates import LOADING
from birdenv.databases.postgres.server._server import PostgresServer

if TYPE_CHECKING:
    import psycopg

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
    """Everything that runs and loading have made on the server but the templates, sorted.

    Copies that episodes share (`birdenv-master-...`, `birdenv-reading-...`) stay on purpose: they save the
    next run their making. The others belong to running processes, or to ones that were killed.
    """
    with server.connect() as connection:
        return _found(connection)


def remove_leftovers(server: PostgresServer) -> list[Leftover]:
    """Remove what no running process uses, shared copies too; gives what was removed.

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
