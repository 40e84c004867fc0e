"""An SQLite database that commits after every call, so that a server crash loses no confirmed data."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from birdenv.errors import InputError
from birdenv.files import file_errors


class Database:
    """A thread-safe SQLite database in one file.

    Args:
        path: the path of the file.
        tables: SQL statements that create missing tables.
        for_reading: True to open an existing file without writing to the file or its folder. A server can
            still write to the file at the same time.

    Attributes:
        path: the path of the file.

    Raises:
        InputError: the file cannot be used, or belongs to a different program.
    """

    def __init__(self, path: Path | str, tables: str, for_reading: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._for_reading = for_reading
        if for_reading:
            with file_errors(Path(path)), Path(path).open("rb"):
                self._log = _has_log(path)
        elif isinstance(path, Path):  # readable by its owner only; SQLite's other files inherit the mode
            with file_errors(path, "made"):
                os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        try:
            self._db = self._opened()
            self._check(tables)
            if not for_reading:
                self._db.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {tables}")
        except sqlite3.Error as error:
            raise self._fault(error) from None

    def _opened(self) -> sqlite3.Connection:
        name = str(self.path)
        if self._for_reading:  # without a log, nobody has it open, and SQLite would create a log
            name = f"file:{quote(name)}?mode=ro" + ("" if self._log else "&immutable=1")
        return sqlite3.connect(name, check_same_thread=False, isolation_level=None, uri=self._for_reading)

    def _check(self, tables: str) -> None:
        """Reject a different program's file and, if it is opened for reading, a file without our tables."""
        ours = sqlite3.connect(":memory:")
        with closing(ours):
            ours.executescript(tables)
            needed = _tables(ours)
        found = _tables(self._db)
        if (needed - found) if self._for_reading else (found and not found & needed):
            raise sqlite3.DatabaseError("it is empty" if not found else "it belongs to another program")

    def _fault(self, error: sqlite3.Error) -> InputError:
        if self._for_reading and str(error).startswith("unable to open"):  # the log of a killed server
            return InputError(f"{self.path} is in a read-only folder: copy the folder to a writable place")
        return InputError(f"{self.path} is not a study's database: {error}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes in the `with` block as one transaction."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Execute an SQL statement, and return the result rows.

        Raises:
            InputError: the file was opened for reading and is damaged.
        """
        with self._lock:
            if not self._for_reading:
                return self._run(sql, values)
            try:
                self._follow()
                return self._run(sql, values)
            except sqlite3.Error as error:
                raise self._fault(error) from None

    def parsed(self, text: str | None) -> Any:
        """Parse a cell that contains JSON; return None if the cell is NULL.

        Raises:
            InputError: the cell contains invalid JSON.
        """
        try:
            return None if text is None else json.loads(text)
        except ValueError:
            raise InputError(
                f"{self.path} is damaged: it contains {str(text)[:40]!r} instead of JSON"
            ) from None

    def _run(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        with closing(self._db.execute(sql, values)) as cursor:
            return cursor.fetchall()

    def _follow(self) -> None:
        """Reopen the file if its log has appeared or disappeared: a server has started or stopped."""
        log = _has_log(self.path)
        if log != self._log:
            self._db.close()
            self._log = log
            self._db = self._opened()


def _has_log(path: Path | str) -> bool:
    return Path(f"{path}-wal").exists()


def _tables(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
