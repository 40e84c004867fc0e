"""Room for clones in memory, beside the embedded server's data: making a database there makes no disk wait.

A database is some three hundred files, which many file systems are slow to create. Clones live for minutes,
so where this machine has a file system in memory with plenty of room, they go there; everything else stays on
the disk. The folder is the server's own, made by itself under a name that nobody can guess beforehand.
"""

from __future__ import annotations

import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

MEMORY: Final = "birdenv_memory"
_PLACE: Final = Path("/dev/shm")
_LEAST_FREE: Final = 4 * 2**30  # bytes
_TIMES: Final = 16  # the size of the database that is to be copied
_LOOK_UP: Final = "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = %s"


def has_room(size: int) -> bool:
    """Return whether a copy of a database of so many bytes, and what agents may do to it, has room in
    memory.
    """
    try:
        return shutil.disk_usage(_PLACE).free >= _LEAST_FREE + _TIMES * size
    except OSError:
        return False


def make_memory(connection: psycopg.Connection[Any]) -> bool:
    """See to it that the tablespace is there; whether it is."""
    found = connection.execute(_LOOK_UP, [MEMORY]).fetchone()
    if found is not None and Path(found[0]).is_dir():
        return True
    with suppress(psycopg.Error):
        if found is not None:  # its folder went with the memory of a machine that was stopped
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
    """Remove the tablespace, unless somebody has a database there."""
    found = connection.execute(_LOOK_UP, [MEMORY]).fetchone()
    if found is not None:
        with suppress(psycopg.Error):
            connection.execute(f"DROP TABLESPACE {MEMORY}")
            _run_program(connection, f"rmdir {found[0]}")


def _run_program(connection: psycopg.Connection[Any], command: str) -> None:
    """Run a command of ours as the account that the server runs as."""
    connection.execute(sql.SQL("COPY (SELECT) TO PROGRAM {}").format(sql.Literal(command)))
