"""Databases and roles that nobody needs any more: of processes that were killed, and of older templates."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg import sql

__all__ = ["number_of_lock", "sweep"]

_OF_EPISODES: Final = "^birdenv-(episode|agent)-[0-9a-f]{16}-[0-9]+$"
_SHARED: Final = "^birdenv-(master|reading)-[0-9a-f]{16}$"


def number_of_lock(token: str) -> int:
    """The number of the advisory lock that stands for 16 hexadecimal digits."""
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
    with suppress(psycopg.Error):
        connection.execute(statement)
