"""Reading database files through memory maps, which takes a large scan a fifth to a third less time.

A file that is cut short while it is mapped ends the process that reads it (SIGBUS). So this is only for
processes that are made to be killed.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import Final

__all__ = ["MAPPED_BYTES", "give_room_back", "map_file", "map_files"]

MAPPED_BYTES: Final = 2 * 2**30
"""Of address space that the maps of one process take, at most."""

_lock = threading.Lock()
_left = 0


def map_files() -> None:
    """From here on this process maps the files that it opens, as far as `MAPPED_BYTES` go."""
    global _left
    _left = MAPPED_BYTES


def map_file(connection: sqlite3.Connection, size: int) -> int:
    """Let a new connection read its file, of so many bytes, through a map; the room that this takes, to be
    given back when the connection is gone."""
    global _left
    with _lock:
        if size > _left:
            return 0
        _left -= size
    connection.execute(f"PRAGMA mmap_size = {size}").close()
    return size


def give_room_back(size: int) -> None:
    global _left
    with _lock:
        _left += size
