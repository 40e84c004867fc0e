"""The connections of a worker that only read a file.

A reading connection keeps nothing of what ran on it, so any number of episodes take turns on a few of them,
statement by statement; their pages are in memory once.

Files are mapped into memory, which takes a fifth to a third off a large scan. A file that is cut short while
it is mapped ends the process that reads it (SIGBUS).
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
"""Of address space that the maps of one process take, at most."""

_MOST_FILES: Final = 32  # whose connections are kept open


class FileReaders:
    """The reading connections to one version of a file.

    Args:
        file: the file.
        mapped: whether they read it through a memory map.
    """

    def __init__(self, file: SqliteFile, mapped: bool) -> None:
        self._file = file
        self._mapped = mapped
        self._idle: list[GuardedConnection] = []

    @property
    def mapped_bytes(self) -> int:
        return self._file.version.size if self._mapped else 0

    def borrow(self) -> GuardedConnection:
        """Return a connection, to be given back after the statement.

        Raises:
            InputError: SQLite cannot open the file.
            InfrastructureError: there is no memory for it.
        """
        if self._idle:
            return self._idle.pop()
        connection = open_reader(self._file)
        try:
            if self._mapped:  # while nothing is refused
                connection.execute(f"PRAGMA mmap_size = {self._file.version.size}").close()
            return GuardedConnection(connection, private=False)
        except sqlite3.Error as error:
            connection.close()
            raise InputError(f"{self._file.path} cannot be opened by SQLite: {error}") from error
        except MemoryError as error:
            connection.close()
            raise InfrastructureError(f"SQLite has no memory left to open {self._file.path}") from error

    def give_back(self, reader: GuardedConnection) -> None:
        if reader.is_spoilt:
            reader.close()
        else:
            self._idle.append(reader)

    def close(self) -> None:
        """Close the connections that nobody has borrowed."""
        while self._idle:
            self._idle.pop().close()


_by_file: OrderedDict[tuple[FileId, Path], FileReaders] = OrderedDict()  # the least recently used first


def readers_of(file: SqliteFile) -> FileReaders:
    """Return the readers of this process for a file."""
    key = (file.version, file.image_path)
    found = _by_file.pop(key, None)
    if found is None:
        mapped = sum(readers.mapped_bytes for readers in _by_file.values())
        found = FileReaders(file, mapped + file.version.size <= MAPPED_BYTES)
    _by_file[key] = found
    if len(_by_file) > _MOST_FILES:
        _by_file.popitem(last=False)[1].close()
    return found
