"""The interface of private images, and functions that all kinds of images share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

ImageKind: TypeAlias = Literal["auto", "memory-map", "copy"]
IMAGE_KINDS: Final = get_args(ImageKind)

GROWTH_BYTES = 2**30
"""Maximum number of bytes by which an image may outgrow its file."""

PIECE = 2**16
"""The number of bytes that are compared at a time to find the changes in a copy."""
HEADER_BYTES = 100
LARGEST_PAGE = 2**16
WAL_FORMAT = slice(18, 20)
"""Position of the file format in the header: 2 if a -wal file belongs to the file, 1 if not."""
CONNECT_OPTIONS: dict[str, Any] = {
    "isolation_level": None,
    "check_same_thread": False,
    "cached_statements": 0,
}

_PAGE_SIZE = slice(16, 18)  # position of the page size in the header; 1 means the largest


class Image(Protocol):
    """A private, writable image of a database file.

    Attributes:
        kind: `memory-map` or `copy`.
        connection: a connection to the image, without a guard.
        file: the private file that holds the image; None if the image is in memory.
    """

    kind: ImageKind
    connection: sqlite3.Connection
    file: Path | None

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        """Return the committed size in bytes, and the contents of the changed pages, keyed by offset.

        No transaction may be open. Raises `OverflowError` if the pages exceed `most_bytes`.
        """

    def committed(self) -> sqlite3.Connection:
        """Return a second connection, without a guard, that reads the committed contents.

        No transaction may be open. The caller must close this connection before the image is changed or
        closed. Raises `sqlite3.Error` or `MemoryError`.
        """

    def close(self) -> None:
        """Discard the image. Closing again does nothing."""


def bound_growth(connection: sqlite3.Connection, header: bytes, size: int) -> None:
    """Limit the growth of a database to `GROWTH_BYTES`.

    `header` is the header of the database's file, and `size` is the size of the file in bytes.
    """
    page = int.from_bytes(header[_PAGE_SIZE])
    page = LARGEST_PAGE if page == 1 else max(page, 1)
    connection.execute(f"PRAGMA max_page_count = {(size + GROWTH_BYTES) // page}").close()


def within(most_bytes: float, pages: Iterator[tuple[int, bytes]]) -> dict[int, bytes]:
    """Collect pages in a dict keyed by offset. Raises `OverflowError` if their total exceeds `most_bytes`."""
    taken: dict[int, bytes] = {}
    total = 0
    for offset, page in pages:
        total += len(page)
        if total > most_bytes:
            raise OverflowError(f"the changes take more than {most_bytes:.0f} bytes")
        taken[offset] = page
    return taken
