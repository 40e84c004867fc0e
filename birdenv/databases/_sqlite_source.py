"""A directory of SQLite databases in BIRD's layout: `<db_id>/<db_id>.sqlite`."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import TypeGuard

from birdenv.databases._guard import Guard
from birdenv.databases._limits import Limits
from birdenv.databases._sqlite_connection import connect_reading
from birdenv.databases._sqlite_database import SqliteDatabase
from birdenv.errors import InputError
from birdenv.files import file_digest, file_errors, is_directory

__all__ = ["SqliteSource", "is_database_name"]

_MAGIC = b"SQLite format 3\0"
_LFS_POINTER = b"version https://git-lfs"
_HOT_JOURNAL = bytes.fromhex("d9d505f920a163d7")
_NAMES_SHOWN = 8


class SqliteSource:
    """Databases to open episodes on; the files are only ever read, and nothing is written beside them.

    Raises `InputError` if `root` is not a directory.
    """

    dialect = "sqlite"

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).absolute()
        self._digests: dict[tuple[Path, int, int], str] = {}
        if not is_directory(self.root):
            raise InputError(f"no directory of databases at {self.root}")

    @property
    def engine(self) -> str:
        """The engine and its version: results may differ between versions of SQLite."""
        return f"SQLite {sqlite3.sqlite_version}"

    def names(self) -> list[str]:
        """The ids of the databases here, sorted: directories that hold a file of their own name.

        Raises `InputError` if the directory cannot be read.
        """
        with file_errors(self.root):
            entries = [entry.name for entry in self.root.iterdir()]
        named = filter(is_database_name, entries)
        return sorted(name for name in named if os.path.lexists(self._file(name)))

    def path(self, db_id: str) -> Path:
        """The file of a database, after looking at its first bytes.

        Raises `InputError` if `db_id` is not a plain name or not known here, or if its file is missing,
        unreadable, empty, a Git LFS pointer, not SQLite, or has changes in a journal beside it.
        """
        if not is_database_name(db_id):
            raise InputError(f"not a database id: {db_id!r} (expected the plain name of a directory)")
        path = self._file(db_id)
        with file_errors(path):
            try:
                path.lstat()
            except (FileNotFoundError, NotADirectoryError):
                raise InputError(self._unknown(db_id)) from None
            if not stat.S_ISREG(path.stat().st_mode):
                raise InputError(f"{path} is not a file")
            with path.open("rb") as file:
                head = file.read(64)
            _check_head(path, head)
            _check_journals(path)
        return path

    def check(self, db_id: str) -> None:
        """Raise `InputError` unless the database can be opened and its schema read (not all its pages)."""
        self.open(db_id).close()

    def digest(self, db_id: str) -> str:
        """SHA-256 of the file in hexadecimal; computed again when its size or modification time changes.

        Raises `InputError` as `path` does.
        """
        path = self.path(db_id)
        with file_errors(path):
            status = path.stat()
        key = (path, status.st_size, status.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = file_digest(path)
        return self._digests[key]

    def open(self, db_id: str, limits: Limits | None = None) -> SqliteDatabase:
        """A database for one episode, private and with the contents of the file; `limits` hold for each
        statement (default `Limits()`).

        Raises `InputError` as `path` does, and if SQLite finds the file damaged.
        """
        path, guard = self.path(db_id), Guard(private=False)
        try:
            connection = connect_reading(path, guard)
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be opened by SQLite: {error}") from error
        return SqliteDatabase(connection, guard, limits or Limits())

    def _file(self, db_id: str) -> Path:
        return self.root / db_id / f"{db_id}.sqlite"

    def _unknown(self, db_id: str) -> str:
        if is_directory(self.root / db_id):
            return f"{self.root / db_id} holds no {db_id}.sqlite"
        names = self.names()
        held = ", ".join(names[:_NAMES_SHOWN]) or "no database"
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        return f"no database {db_id!r} in {self.root}: it holds {held}{more}"


def is_database_name(name: object) -> TypeGuard[str]:
    """Whether a value is a plain name: one that cannot lead out of the directory of databases."""
    return (
        isinstance(name, str)
        and name == name.strip()
        and not name.startswith(".")
        and name.isprintable()
        and 0 < len(name.encode()) <= 200
        and not set(name) & set("/\\:")
    )


def _check_head(path: Path, head: bytes) -> None:
    if not head:
        raise InputError(f"{path} is empty")
    if head.startswith(_LFS_POINTER):
        raise InputError(
            f"{path} is a Git LFS pointer, not the database: run `git lfs pull` where it was cloned"
        )
    if not head.startswith(_MAGIC):
        raise InputError(f"{path} is not an SQLite database")


def _check_journals(path: Path) -> None:
    """Changes that are still in a journal would not be seen, since nothing may be written beside the file."""
    wal, journal = path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal")
    has_changes = wal.exists() and wal.stat().st_size > 0
    if journal.exists():
        with journal.open("rb") as file:
            has_changes = has_changes or file.read(8) == _HOT_JOURNAL
    if has_changes:
        raise InputError(
            f"{path} has changes in a journal file beside it that are not yet part of it: close the program"
            f" that writes to it, or run `sqlite3 {path.name} 'PRAGMA wal_checkpoint(TRUNCATE)'`"
        )
