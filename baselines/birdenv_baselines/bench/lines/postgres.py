"""Time episodes on PostgreSQL against BIRD-Interact's way of resetting a database before each task.

BIRD-Interact runs psql to end all sessions, then dropdb and createdb, each in a new process, and opens a new
connection. The benchmark starts its own server, with files in the benchmark's folder, and uses no other
server.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from birdenv.databases import QueryError, SqliteSource
from birdenv.errors import InfrastructureError, InputError
from birdenv_baselines.bench._databases import SIZES, Size
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Setting,
    Skip,
    in_rounds,
    times_as_fast,
)

if TYPE_CHECKING:
    import psycopg

    from birdenv.databases.postgres import PostgresServer, PostgresSource

__all__ = ["lines"]

_READING: Final = ("SELECT * FROM orders LIMIT 5",)
_WRITING: Final = (
    "CREATE TABLE found (id integer PRIMARY KEY, total double precision)",
    "INSERT INTO found SELECT id, total FROM orders LIMIT 5",
    "SELECT * FROM found",
)
_CLONES: Final = 2
_EPISODES: Final = 4  # sequential writing episodes in a turn: twice as many as there are clones
_MOST_SECONDS: Final = 60.0
_READY: Final = """
SELECT count(DISTINCT d.datname), count(a.pid)
FROM pg_database AS d LEFT JOIN pg_stat_activity AS a ON a.datname = d.datname
WHERE starts_with(d.datname, 'birdenv-episode-')
"""
"""Counts databases of writing episodes and the sessions in them; a clone that is ready has one session."""


def lines(quick: bool) -> list[Line]:
    """Return the lines about PostgreSQL; `quick` uses only the smallest database."""
    sizes = [size for size in SIZES if size.label in ("2 MB", "300 MB")][: 1 if quick else None]
    return [
        Line(
            f"PostgreSQL: {what}, {size.label}",
            "psql, dropdb, createdb -T, connect",
            partial(measure, size),
            bar,
            (size,),
        )
        for what, measure, bar in (
            ("reading episode", _read, Bar("at least", 500.0)),
            ("writing episodes", _write, None),
        )
        for size in sizes
    ]


def _read(size: Size, setting: Setting) -> Figure:
    with _both(size, setting) as (_, source, peer):
        ours = partial(_episode, source, size.db_id, _READING)
        # Dropping a database makes every session of the server reopen its files. The untimed episode before
        # each run takes this cost, which is caused by the other contender.
        contenders = [Contender(ours, before=ours), Contender(partial(peer.episode, _READING))]
        return times_as_fast(*in_rounds(contenders, setting.rounds))


def _write(size: Size, setting: Setting) -> Figure:
    with _both(size, setting) as (server, source, peer), server.connect() as watching:
        _episode(source, size.db_id, _WRITING)  # from now on, clones are made in advance
        ready = partial(_wait_for_clones, watching)

        def ours() -> None:
            for _ in range(_EPISODES):
                _episode(source, size.db_id, _WRITING)
            ready()  # timed, because it restores the state before

        def theirs() -> None:
            for _ in range(_EPISODES):
                peer.episode(_WRITING)

        contenders = [Contender(ours, before=ready), Contender(theirs, before=ready)]
        times = in_rounds(contenders, min(3, setting.rounds))
    note = f"{_EPISODES} in a row; making new clones and dropping old ones are counted"
    return times_as_fast(*times, each=_EPISODES, note=note)


def _episode(source: PostgresSource, db_id: str, statements: tuple[str, ...]) -> None:
    with source.open(db_id) as database:
        for sql in statements:
            result = database.execute(sql)
            if isinstance(result, QueryError):
                raise RuntimeError(result.message)


def _wait_for_clones(connection: psycopg.Connection[Any]) -> None:
    end = time.monotonic() + _MOST_SECONDS
    while connection.execute(_READY).fetchone() != (_CLONES, _CLONES):
        if time.monotonic() > end:
            raise RuntimeError(f"clones were not ready after {_MOST_SECONDS:g} s: is this running twice?")
        time.sleep(0.002)


@dataclass(frozen=True, slots=True)
class _Peer:
    """BIRD-Interact's way: one database, created again from a template by the server's own programs."""

    conninfo: str
    commands: tuple[tuple[str, ...], ...]

    def episode(self, statements: tuple[str, ...]) -> None:
        import psycopg

        self.run(self.commands)
        with psycopg.connect(self.conninfo) as connection:
            for sql in statements:
                cursor = connection.execute(sql.encode())
            cursor.fetchall()

    def run(self, commands: tuple[tuple[str, ...], ...]) -> None:
        for command in commands:
            subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


@contextmanager
def _both(size: Size, setting: Setting) -> Iterator[tuple[PostgresServer, PostgresSource, _Peer]]:
    """Yield a server with a database, the source of birdenv's episodes, and BIRD-Interact's way.

    Raises:
        Skip: no server can be started.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise Skip("not measured: pip install 'birdenv[postgres]'") from None
    from birdenv.databases.postgres import (
        Cluster,
        PostgresServer,
        PostgresSource,
        find_template,
        load_from_sqlite,
    )

    try:
        with patch.dict(os.environ, {"XDG_CACHE_HOME": str(setting.folder)}):
            cluster = Cluster()
        server = PostgresServer(cluster.conninfo, str(cluster.place.root), cluster)
    except (InputError, InfrastructureError) as error:
        raise Skip(f"not measured: no server: {error}") from None
    with server:
        load_from_sqlite(server, SqliteSource(setting.folder), size.db_id)
        peer = _peer(server, find_template(server, size.db_id).name, f"bench_{os.getpid()}")
        with PostgresSource(server, _CLONES) as source:
            source.check(size.db_id)
            try:
                yield server, source, peer
            finally:
                peer.run(peer.commands[:2])


def _peer(server: PostgresServer, template: str, name: str) -> _Peer:
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    with server.connect() as connection:
        row = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
    folder = Path(row[0] if row else "")
    for program in ("psql", "dropdb", "createdb"):
        if not os.access(folder / program, os.X_OK):
            raise Skip(f"not measured: no {program} in {folder}")
    parts = conninfo_to_dict(server.conninfo(name))
    parts.pop("options", None)  # a plain session, like theirs
    options = {"-h": parts.get("host"), "-p": parts.get("port"), "-U": parts.get("user")}
    account = [word for option, value in options.items() if value for word in (option, str(value))]
    ending = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    commands = (
        (str(folder / "psql"), *account, "-d", server.maintenance, "-c", ending),
        (str(folder / "dropdb"), *account, "--if-exists", name),
        (str(folder / "createdb"), *account, name, f"--template={template}"),
    )
    return _Peer(make_conninfo("", **parts), commands)
