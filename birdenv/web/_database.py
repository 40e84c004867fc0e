"""An SQLite file in which every call commits: a killed server loses nothing that was answered (WAL)."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import file_errors


class Database:
    """One file, safe from any thread.

    Args:
        path: the file.
        tables: statements that make what is not there.

    Attributes:
        path: the file.

    Raises:
        InputError: the file cannot be used.
    """

    def __init__(self, path: Path | str, tables: str) -> None:
        self.path = path
        if isinstance(path, Path):  # for its owner only; SQLite's other files take its mode
            with file_errors(path, "made"):
                os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {tables}")
        except sqlite3.Error as error:
            raise InputError(f"{path}: no database of a study: {error}") from None
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is done inside one change."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement, and return its rows."""
        with self._lock, closing(self._db.execute(sql, values)) as cursor:
            return cursor.fetchall()
