"""Small SQLite databases for tests: a script runs once in a process; its file is copied from then on."""

from __future__ import annotations

import sqlite3
import tempfile
from functools import lru_cache
from pathlib import Path


def copy_database(path: Path, script: str) -> None:
    """Write to `path`, whose folder exists, the database that the script makes."""
    path.write_bytes(_prepared(script))


@lru_cache(maxsize=64)
def _prepared(script: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prepared.sqlite"
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA synchronous = OFF")  # where there is no room in memory for it
        connection.executescript(script)
        connection.close()
        return path.read_bytes()
