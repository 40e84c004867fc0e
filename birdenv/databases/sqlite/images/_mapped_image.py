"""Images in memory: the file mapped privately, whose pages are copied when they are written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._memory_map import PrivateMemory, is_supported
from birdenv.databases.sqlite.images._protocol import (
    CONNECT_OPTIONS,
    GROWTH_BYTES,
    WAL_FORMAT,
    ImageKind,
    within,
)
from birdenv.databases.sqlite.images._sqlite_library import (
    READ_ONLY,
    connect_with_handle,
    defend,
    deserialize,
    library,
    serialized,
)


class MappedImage:
    kind: ImageKind = "memory-map"
    file: Path | None = None

    def __init__(self, path: Path, start: Checkpoint | None) -> None:
        found = library()
        if found is None or not is_supported():
            raise OSError("SQLite's own functions cannot be called by this Python, or its memory not mapped")
        self._library = found
        self._memory = PrivateMemory(path, GROWTH_BYTES)
        try:
            self.connection, self._handle = connect_with_handle(found, **CONNECT_OPTIONS)
            defend(found, self._handle)
        except BaseException:
            self._memory.free()
            raise
        try:
            for offset, page in (start.pages if start else {}).items():
                self._memory.write(offset, page)
            self._memory.write(WAL_FORMAT.start, b"\1\1")
            size = start.size if start else self._memory.size
            deserialize(found, self._handle, self._memory.address, size, self._memory.capacity)
        except BaseException:
            self.close()
            raise

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        _, size = serialized(self._library, self._handle)
        return size, within(most_bytes, self._memory.written(size))

    def committed(self) -> sqlite3.Connection:
        address, size = serialized(self._library, self._handle)
        connection, handle = connect_with_handle(self._library, **CONNECT_OPTIONS)
        try:
            deserialize(self._library, handle, address, size, size, READ_ONLY)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        self.connection.close()  # first: it may still write while it rolls back
        self._memory.free()

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()
