"""Load a template database under a temporary name, so that an incomplete template is never used.

    load(server, "alien", digest, "sqlite", fill)

creates an empty database, calls `fill` to fill it, counts the rows, writes the stamp, and only then renames
the database. If anything fails, the new database is dropped, and an existing template stays unchanged.

The expected size of a set of databases comes from an expectation file, or from numbers published by the
benchmark's authors. An expectation file is JSON, and contains the number of rows in each table of each
database: `{"alien": {"signals": 1000, ...}, ...}`.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from birdenv.databases.postgres.loading._templates import (
    LOADING,
    Stamp,
    database_name,
    differences,
    loading_name,
    row_counts,
    stamped,
    templates,
)
from birdenv.databases.postgres.server._server import PostgresServer, ServerError, one_line
from birdenv.errors import InputError
from birdenv.files import read_json

OWNER: Final = "birdenv_owner"
"""The role that owns the contents of templates. It cannot log in, and has no other rights."""

_LOCKS: Final = 0x62697264  # the first key of our advisory locks
_DISK_FULL: Final = "53100"


@dataclass(frozen=True, slots=True)
class Filled:
    """The result of filling an empty database.

    Attributes:
        rows: the number of rows in each table of the source; None if they are not known before loading.
        notes: messages about objects that were omitted, or loaded differently than declared.
    """

    rows: dict[str, int] | None
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of loading a database.

    Attributes:
        db_id: the id of the database.
        tables: the number of rows in each table.
        notes: messages about objects that were omitted, or loaded differently than declared.
        skipped: True if nothing was done because the database was already loaded from the same files.
    """

    db_id: str
    tables: dict[str, int]
    notes: list[str]
    skipped: bool


Fill = Callable[["psycopg.Connection[Any]"], Filled]


def load(
    server: PostgresServer,
    db_id: str,
    digest: str,
    source: str,
    fill: Fill,
    *,
    again: bool = False,
    expected: dict[str, int] | None = None,
) -> Loaded:
    """Load a database as a template, unless it is already loaded with the same digest.

    Args:
        server: the server.
        db_id: the id of the database.
        digest: a digest of the files to load, and of the rules for loading them.
        source: the kind of source: `sqlite` or `dump`.
        fill: a function that fills an empty database through the given connection, and raises `InputError`
            for bad contents.
        again: True to load the database even if it is already loaded.
        expected: the number of rows that each table must have; None to skip this check.

    Raises:
        InputError: the database cannot be loaded completely.
        ServerError: the server is lost.
    """
    try:
        with server.connect() as connection:
            # Only one process at a time loads a database. The lock ends with the connection.
            connection.execute(
                "SELECT pg_advisory_lock(%s, %s)", [_LOCKS, zlib.crc32(db_id.encode()) - 2**31]
            )
            connection.execute("SET synchronous_commit = on")  # the final name must imply complete data
            there = templates(server).get(db_id)
            if there is not None and there.stamp.digest == digest and not again:
                wrong = differences(expected, there.stamp.tables) if expected is not None else []
                if not wrong:
                    return Loaded(db_id, there.stamp.tables, [], skipped=True)
            stamp = Stamp(db_id=db_id, digest=digest, source=source, tables={})
            return _load(server, connection, stamp, fill, expected)
    except psycopg.Error as error:
        raise _explained(error, db_id, server) from None


def _load(
    server: PostgresServer,
    connection: psycopg.Connection[Any],
    stamp: Stamp,
    fill: Fill,
    expected: dict[str, int] | None,
) -> Loaded:
    db_id, name = stamp.db_id, loading_name(stamp.db_id)
    _drop(server, connection, name)  # left by a killed process: we hold the lock
    try:
        login = _create(server, connection, name)
        with server.connect(name, *login) as inside:
            filled = fill(inside)
            inside.execute("RESET ALL; SET search_path = pg_catalog, pg_temp")
            inside.execute("VACUUM (FREEZE, ANALYZE)")
        _take_over(server, connection, name)
        with server.connect(name) as inside:
            present = row_counts(inside)
        wrong = differences(filled.rows if filled.rows is not None else present, present)
        wrong += differences(expected, present) if expected is not None else []
        if not any(present.values()):
            wrong.append("its tables contain no rows" if present else "it has no tables")
        if wrong:
            raise InputError(
                f"database {db_id!r} was not loaded because it would be incomplete: {'; '.join(wrong)}"
            )
        stamped(connection, name, stamp.model_copy(update={"tables": present}))
        _replace(connection, name, db_id)
    except BaseException:
        _drop_quietly(server, name)
        raise
    return Loaded(db_id, present, filled.notes, skipped=False)


def _create(
    server: PostgresServer, connection: psycopg.Connection[Any], name: str
) -> tuple[str, str | None] | tuple[()]:
    """Create the empty database. Return the role that fills it, with its password; () for our own role.

    A dump is untrusted code. Therefore it runs as a role that can access only this database. Only a superuser
    can create such a role; any other role in a DSN has few rights in any case.
    """
    new = sql.Identifier(name)
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(new)
    if not server.is_superuser:
        connection.execute(create)
        return ()
    password = None if server.is_ours else secrets.token_urlsafe(24)
    connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(new, sql.Literal(password)))
    connection.execute(sql.SQL("{} OWNER {}").format(create, new))
    return name, password


def _take_over(server: PostgresServer, connection: psycopg.Connection[Any], name: str) -> None:
    """Remove the role that filled a database, and all settings that the role made for the database."""
    if not server.is_superuser:
        return
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone():
        with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            connection.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(OWNER)))
    filler, owner = sql.Identifier(name), sql.Identifier(OWNER)
    connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true CONNECTION LIMIT -1").format(filler))
    connection.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(filler))
    with server.connect(name) as inside:
        inside.execute(sql.SQL("REASSIGN OWNED BY {} TO {}").format(filler, owner))
        inside.execute(sql.SQL("DROP OWNED BY {}").format(filler))
    connection.execute(sql.SQL("DROP ROLE {}").format(filler))


def _replace(connection: psycopg.Connection[Any], name: str, db_id: str) -> None:
    final = database_name(db_id)
    old, new = sql.Identifier(final), sql.Identifier(name)
    if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [final]).fetchone():
        connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE false").format(old))
        try:
            connection.execute(sql.SQL("DROP DATABASE {}").format(old))
        except psycopg.errors.ObjectInUse:
            connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE true").format(old))
            raise InputError(
                f"the old database {db_id!r} is in use, so the new one cannot take its place: end the runs "
                "that use it, then reload"
            ) from None
    connection.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(new, old))
    connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE true").format(old))


def _drop(server: PostgresServer, connection: psycopg.Connection[Any], name: str) -> None:
    """Drop a database that is being filled, and the role that fills it."""
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
    if server.is_superuser:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


def drop_unfinished(connection: psycopg.Connection[Any]) -> None:
    """Drop the databases and roles left behind by killed loads, unless another process is loading now."""
    busy = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = %s LIMIT 1"
    if connection.execute(busy, [_LOCKS]).fetchone():
        return
    for table, column, kind in (("pg_database", "datname", "DATABASE"), ("pg_roles", "rolname", "ROLE")):
        query = sql.SQL("SELECT {0} FROM {1} WHERE starts_with({0}, {2})").format(
            sql.Identifier(column), sql.Identifier(table), sql.Literal(LOADING)
        )
        for (name,) in connection.execute(query).fetchall():
            with suppress(psycopg.Error):
                connection.execute(sql.SQL("DROP {} {}").format(sql.SQL(kind), sql.Identifier(name)))


def _drop_quietly(server: PostgresServer, name: str) -> None:
    """Drop a database after an error, without raising a second error. The next load drops what remains."""
    with suppress(psycopg.Error, ServerError, InputError), server.connect() as connection:
        _drop(server, connection, name)


def _explained(error: psycopg.Error, db_id: str, server: PostgresServer) -> InputError | ServerError:
    text = one_line(error)
    if error.sqlstate == _DISK_FULL or "No space left on device" in text:
        return InputError(
            f"database {db_id!r} cannot be loaded, because the disk of the PostgreSQL server at "
            f"{server.shown} is full; nothing was left behind: {text}"
        )
    if error.sqlstate is None or error.sqlstate.startswith(("08", "57P")):
        return ServerError(
            f"database {db_id!r} was not loaded: the PostgreSQL server at {server.shown} was lost: {text}"
        )
    if error.sqlstate == "42501":
        return InputError(
            f"database {db_id!r} cannot be loaded: {text}; the DSN's role needs the right to create "
            "databases (ALTER ROLE ... CREATEDB)"
        )
    return InputError(f"database {db_id!r} cannot be loaded: {text} (SQLSTATE {error.sqlstate})")


@dataclass(frozen=True, slots=True)
class OfficialSet:
    """The published size of a set of databases, from BIRD-Interact's `check_db_metadata.py`.

    Attributes:
        databases: the ids of the databases.
        tables: the total number of tables in all databases.
        mean_rows: the mean number of rows per table, rounded to two decimals.
    """

    databases: tuple[str, ...]
    tables: int
    mean_rows: float

    def differences(self, present: Mapping[str, Mapping[str, int]]) -> list[str]:
        """Return a line for each difference between the published sizes and the databases in `present`.

        `present` maps each database to the number of rows in each of its tables.
        """
        missing = [name for name in self.databases if name not in present]
        if missing:
            return [f"{len(missing)} of {len(self.databases)} databases are missing: {', '.join(missing)}"]
        rows = [count for name in self.databases for count in present[name].values()]
        lines = []
        if len(rows) != self.tables:
            lines.append(f"there are {len(rows)} tables in total, expected {self.tables}")
        mean = round(sum(rows) / max(len(rows), 1), 2)
        if mean != self.mean_rows:
            lines.append(f"there are {mean} rows per table on average, expected {self.mean_rows}")
        return lines


OFFICIAL_SETS: Final[Mapping[str, OfficialSet]] = {
    "lite": OfficialSet(
        tuple(
            "alien archeology credit cross_db crypto cybermarket disaster fake gaming insider mental museum "
            "news polar robot solar vaccine virtual".split()
        ),
        tables=175,
        mean_rows=1038.48,
    ),
    "full": OfficialSet(
        tuple(
            "archeology_scan cold_chain_pharma_compliance cross_border crypto_exchange cybermarket_pattern "
            "disaster_relief exchange_traded_funds fake_account households hulushows insider_trading "
            "labor_certification_applications mental_health museum_artifact organ_transplant planets_data "
            "polar_equipment reverse_logistics robot_fault_prediction solar_panel sports_events "
            "virtual_idol".split()
        ),
        tables=244,
        mean_rows=1121.19,
    ),
}


def read_expectations(path: Path) -> dict[str, dict[str, int]]:
    """Read an expectation file. Return the number of rows in each table, keyed by database.

    Raises `InputError` if the file does not have the format described in this module's docstring.
    """
    value = read_json(path)
    if not isinstance(value, dict) or not value:
        raise InputError(f'{path}: expected {{"database": {{"table": rows}}}}')
    return {name: _tables(tables, f"{path}: database {name!r}") for name, tables in value.items()}


def _tables(value: Any, where: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise InputError(f'{where}: expected {{"table": rows}}')
    for table, rows in value.items():
        if type(rows) is not int or rows < 0:
            raise InputError(f"{where}: table {table!r}: expected a number of rows, found {rows!r:.40}")
    return value
