"""Share a worker process's read-only connections among episodes.

Statements leave nothing behind on a read-only connection. Therefore any number of episodes can take turns on
a few connections, and the pages of the file are in memory only once.

Files are mapped into memory, which makes large scans 20 to 33% faster. If a file is truncated while it is
mapped, the process that reads it is killed (SIGBUS).
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from pathlib import Path
from typing import Final

from birdenv.databases.sqlite._connection import GuardedConnection
from birdenv.databases.sqlite._file import FileId, SqliteFile, open_reader
from birdenv.errors import InfrastructureError, InputError

MAPPED_BYTES: Final = 2 * 2**30
"""Maximum address space for the memory maps of one process."""

_MOST_FILES: Final = 32  # with open connections


class FileReaders:
    """This process's read-only connections to one version of a file.

    Args:
        file: the file.
        mapped: whether to read the file through a memory map.
    """

    def __init__(self, file: SqliteFile, mapped: bool) -> None:
        self._file = file
        self._mapped = mapped
        self._idle: list[GuardedConnection] = []

    @property
    def mapped_bytes(self) -> int:
        """Return the size of the memory map in bytes, or 0 if there is none."""
        return self._file.version.size if self._mapped else 0

    def borrow(self) -> GuardedConnection:
        """Return a connection, which the caller must give back after one statement.

        Raises:
            InputError: SQLite cannot open the file.
            InfrastructureError: there is not enough memory.
        """
        if self._idle:
            return self._idle.pop()
        connection = open_reader(self._file)
        try:
            if self._mapped:  # before the guard refuses this pragma
                connection.execute(f"PRAGMA mmap_size = {self._file.version.size}").close()
            return GuardedConnection(connection, private=False)
        except sqlite3.Error as error:
            connection.close()
            raise InputError(f"{self._file.path} cannot be opened by SQLite: {error}") from error
        except MemoryError as error:
            connection.close()
            raise InfrastructureError(f"SQLite has no memory left to open {self._file.path}") from error

    def give_back(self, reader: GuardedConnection) -> None:
        """Take back a borrowed connection, and close it if a statement has left something behind."""
        if reader.is_spoilt:
            reader.close()
        else:
            self._idle.append(reader)

    def close(self) -> None:
        """Close all connections that are not currently borrowed."""
        while self._idle:
            self._idle.pop().close()


_by_file: OrderedDict[tuple[FileId, Path], FileReaders] = OrderedDict()  # least recently used first


def readers_of(file: SqliteFile) -> FileReaders:
    """Return this process's read-only connections to a version of a file."""
    key = (file.version, file.image_path)
    found = _by_file.pop(key, None)
    if found is None:
        mapped = sum(readers.mapped_bytes for readers in _by_file.values())
        found = FileReaders(file, mapped + file.version.size <= MAPPED_BYTES)
    _by_file[key] = found
    if len(_by_file) > _MOST_FILES:
        _by_file.popitem(last=False)[1].close()
    return found
