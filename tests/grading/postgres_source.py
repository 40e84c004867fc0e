"""The small shop on the PostgreSQL server of this test process, converted from SQLite."""

from __future__ import annotations

from pathlib import Path

from postgres_server import start_postgres

from birdenv.databases import SqliteSource
from birdenv.databases.postgres import PostgresSource, find_server, load_from_sqlite


def postgres_source(root: Path, name: str) -> PostgresSource:
    """Episodes on a database of a SQLite folder; skips the test where no server can be started."""
    server = find_server(start_postgres().admin)
    load_from_sqlite(server, SqliteSource(root), name)
    return PostgresSource(server)
