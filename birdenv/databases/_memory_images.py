"""Images in memory: a file mapped privately, whose pages are copied when they are written, or read whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from birdenv.databases._image import (
    CONNECT_OPTIONS,
    GROWTH_BYTES,
    PIECE,
    WAL_FORMAT,
    Checkpoint,
    ImageKind,
    bound_growth,
    within,
)
from birdenv.databases._private_memory import PrivateMemory, is_supported
from birdenv.databases._sqlite_library import connect_with_handle, deserialize, library, serialized

__all__ = ["DeserializedImage", "MappedImage"]


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

    def close(self) -> None:
        self.connection.close()  # first: it may still write while it rolls back
        self._memory.free()

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()


class DeserializedImage:
    kind: ImageKind = "deserialize"
    file: Path | None = None

    def __init__(self, path: Path, start: Checkpoint | None) -> None:
        data = bytearray(path.read_bytes())
        if not data:
            raise OSError("an empty file cannot be deserialized")
        self._original = bytes(data)
        if start is not None:
            data = data[: start.size].ljust(start.size, b"\0")
            for offset, page in start.pages.items():
                data[offset : offset + len(page)] = page
        data[WAL_FORMAT] = b"\1\1"
        self.connection = sqlite3.connect(":memory:", **CONNECT_OPTIONS)
        try:
            self.connection.deserialize(data)
            bound_growth(self.connection, self._original, len(self._original))
        except BaseException:
            self.connection.close()
            raise

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        now = self.connection.serialize()
        original = self._original

        def pieces() -> Iterator[tuple[int, bytes]]:
            for start in range(0, len(now), PIECE):
                piece = now[start : start + PIECE]
                if piece != original[start : start + PIECE]:
                    yield start, piece

        return len(now), within(most_bytes, pieces())

    def close(self) -> None:
        self.connection.close()
