"""Call functions of the SQLite library that Python's sqlite3 module does not offer.

The library is found through the file of the sqlite3 module, so that it is the same SQLite that runs all
statements. If its functions cannot be called (because Python contains SQLite without exporting its symbols),
`library()` returns None, and each image is a full copy of the database file.
"""

from __future__ import annotations

import ctypes
import sqlite3
import sys
import threading
from ctypes import c_char_p, c_int, c_int64, c_uint, c_void_p
from functools import cache
from typing import Any

from birdenv.databases.sqlite.images._protocol import (
    CONNECT_OPTIONS,
)

_NEEDED = (
    "sqlite3_auto_extension",
    "sqlite3_cancel_auto_extension",
    "sqlite3_db_config",
    "sqlite3_deserialize",
    "sqlite3_libversion",
    "sqlite3_serialize",
)
_NO_COPY = 1  # SQLITE_SERIALIZE_NOCOPY
_DEFENSIVE = 1010  # SQLITE_DBCONFIG_DEFENSIVE
READ_ONLY = 4  # SQLITE_DESERIALIZE_READONLY
_ENTRY_POINT = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
_lock = threading.Lock()
_opened = threading.local()  # the handle of this thread's most recently opened connection


def _remember(handle: int, _message: int, _routines: int) -> int:
    _opened.handle = handle
    return 0


_hook = _ENTRY_POINT(_remember)  # never freed, because another thread may be about to call it


@cache
def library() -> ctypes.CDLL | None:
    """Return the SQLite library of Python's sqlite3 module, or None if its functions cannot be called."""
    module = sys.modules.get("_sqlite3")
    path: str | None = getattr(module, "__file__", None)  # None: the module is built into the interpreter
    try:
        found = ctypes.CDLL(path)
        if not all(hasattr(found, name) for name in _NEEDED):
            return None
    except OSError:
        return None
    _declare(found)
    is_the_same = found.sqlite3_libversion().decode() == sqlite3.sqlite_version
    return found if is_the_same else None


def _declare(found: ctypes.CDLL) -> None:
    found.sqlite3_libversion.restype = c_char_p
    found.sqlite3_deserialize.argtypes = [c_void_p, c_char_p, c_void_p, c_int64, c_int64, c_uint]
    found.sqlite3_deserialize.restype = c_int
    found.sqlite3_serialize.argtypes = [c_void_p, c_char_p, ctypes.POINTER(c_int64), c_uint]
    found.sqlite3_serialize.restype = c_void_p
    found.sqlite3_auto_extension.argtypes = [_ENTRY_POINT]
    found.sqlite3_cancel_auto_extension.argtypes = [_ENTRY_POINT]


def connect_with_handle(
    library: ctypes.CDLL, database: str = ":memory:", **options: Any
) -> tuple[sqlite3.Connection, int]:
    """Connect to a database. Return the connection, and the address of its `sqlite3` object (the handle).

    SQLite reports the handle to an automatic extension while it opens the connection. Automatic extensions
    apply to the whole process, so connections in other threads may also call it.
    """
    with _lock:
        library.sqlite3_auto_extension(_hook)
        try:
            connection = sqlite3.connect(database, **options)
        finally:
            library.sqlite3_cancel_auto_extension(_hook)
    return connection, _opened.handle


def connect_privately(uri: str) -> sqlite3.Connection:
    """Connect to the image of an episode, in SQLite's defensive mode if possible.

    In this mode, SQL cannot write to the tables in which virtual tables store their data.
    """
    found = library()
    if found is None:
        return sqlite3.connect(uri, uri=True, **CONNECT_OPTIONS)  # type: ignore[no-any-return]
    connection, handle = connect_with_handle(found, uri, uri=True, **CONNECT_OPTIONS)
    defend(found, handle)
    return connection


def defend(library: ctypes.CDLL, handle: int) -> None:
    """Put a connection into SQLite's defensive mode."""
    library.sqlite3_db_config(c_void_p(handle), c_int(_DEFENSIVE), c_int(1), c_void_p(None))


def deserialize(
    library: ctypes.CDLL, handle: int, address: int, size: int, capacity: int, flags: int = 0
) -> None:
    """Use the `size` bytes at `address` as the main database of a connection.

    The database may grow to `capacity` bytes. The memory still belongs to the caller, and must outlive the
    connection. Raises `sqlite3.OperationalError` if SQLite refuses.
    """
    code = library.sqlite3_deserialize(handle, b"main", address, size, capacity, flags)
    if code != sqlite3.SQLITE_OK:
        raise sqlite3.OperationalError(f"cannot take the database over (SQLite code {code})")


def serialized(library: ctypes.CDLL, handle: int) -> tuple[int, int]:
    """Return the current address and size of a deserialized main database, without copying the database."""
    size = c_int64()
    address = library.sqlite3_serialize(handle, b"main", ctypes.byref(size), _NO_COPY)
    return address or 0, size.value
