"""What a private image of a database is, and what the ways to make one have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

ImageKind: TypeAlias = Literal["auto", "memory-map", "copy"]
IMAGE_KINDS: Final = get_args(ImageKind)

GROWTH_BYTES = 2**30
"""How much an image may grow beyond its file."""

PIECE = 2**16
"""Bytes compared at a time, where nothing tells which pages were written."""
HEADER_BYTES = 100
LARGEST_PAGE = 2**16
WAL_FORMAT = slice(18, 20)
"""Of the header: 2 says that a -wal file belongs to it, 1 that none does."""
CONNECT_OPTIONS: dict[str, Any] = {
    "isolation_level": None,
    "check_same_thread": False,
    "cached_statements": 0,
}

_PAGE_SIZE = slice(16, 18)  # of the header; 1 stands for the largest


class Image(Protocol):
    """A private, writable database; the connection has no guard yet."""

    kind: ImageKind
    connection: sqlite3.Connection
    file: Path | None
    """The file that the connection has open; None if there is none."""

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        """Return size and changed pages of what is committed; no transaction may be open.

        Raises `OverflowError` beyond `most_bytes`.
        """

    def committed(self) -> sqlite3.Connection:
        """Return a second connection, without a guard, which reads what is committed and shares no session;
        no transaction may be open.

        To be closed before the image is, or changes. Raises `sqlite3.Error` or `MemoryError`.
        """

    def close(self) -> None:
        """Throw the image away; closing again does nothing."""


def bound_growth(connection: sqlite3.Connection, header: bytes, size: int) -> None:
    page = int.from_bytes(header[_PAGE_SIZE])
    page = LARGEST_PAGE if page == 1 else max(page, 1)
    connection.execute(f"PRAGMA max_page_count = {(size + GROWTH_BYTES) // page}").close()


def within(most_bytes: float, pages: Iterator[tuple[int, bytes]]) -> dict[int, bytes]:
    taken: dict[int, bytes] = {}
    total = 0
    for offset, page in pages:
        total += len(page)
        if total > most_bytes:
            raise OverflowError(f"the changes take more than {most_bytes:.0f} bytes")
        taken[offset] = page
    return taken
