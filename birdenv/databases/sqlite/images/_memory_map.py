"""A file's bytes as private memory: mapped, not read, and copied page by page only where they are written.

Every mapping of the same file shares the pages that nobody wrote, with each other and with the system's file
cache. Room to grow behind the file costs nothing until it is used.

The C library behind Python's sqlite3 module: the few calls that the module does not pass on.

It is the very library that runs every statement, found through the module's own file, so that there is
never a second SQLite in play. Where its functions cannot be reached (a Python with SQLite linked into it and
hidden), `library()` is None and images are made another way.

Images in memory: a file mapped privately, whose pages are copied when they are written, or read whole.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_uint, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._protocol import (
    CONNECT_OPTIONS,
    GROWTH_BYTES,
    PIECE,
    WAL_FORMAT,
    ImageKind,
    bound_growth,
    in_memory,
    within,
)

_MAP_FIXED = 0x10
_MAP_NORESERVE = 0x4000  # Linux; elsewhere memory is not reserved anyway
_FAILED = c_void_p(-1).value
_PAGE = mmap.PAGESIZE
_PAGEMAP_BYTES = 8  # of one page in /proc/self/pagemap
_IN_MEMORY, _SWAPPED, _OF_A_FILE = 1 << 63, 1 << 62, 1 << 61


def is_supported() -> bool:
    """Whether this platform can map files privately at a place of its own: 64-bit Linux and macOS."""
    return sys.platform in ("linux", "darwin") and sys.maxsize > 2**32


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.argtypes = [c_void_p, c_size_t, c_int, c_int, c_int, c_int64]
    libc.mmap.restype = c_void_p
    libc.munmap.argtypes = [c_void_p, c_size_t]
    libc.munmap.restype = c_int
    return libc


class PrivateMemory:
    """`size` bytes of a file at `address`, writable, with room for `capacity` bytes; the file never changes.

    The file must not be truncated while it is mapped. Raises `OSError` if it cannot be mapped.
    """

    def __init__(self, path: Path, room: int) -> None:
        self._path = path
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.size = os.fstat(descriptor).st_size
            self.capacity = -(-(self.size + room) // _PAGE) * _PAGE
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            flags |= _MAP_NORESERVE if sys.platform == "linux" else 0
            self.address = _map(None, self.capacity, flags, -1)
            try:
                _map(self.address, self.size, mmap.MAP_PRIVATE | _MAP_FIXED, descriptor)
            except OSError:
                self.free()
                raise
        finally:
            os.close(descriptor)

    def write(self, offset: int, data: bytes) -> None:
        """Put `data` at `offset`; raises `ValueError` outside the capacity."""
        if not 0 <= offset <= offset + len(data) <= self.capacity:
            raise ValueError(f"{len(data)} bytes at {offset} are outside of {self.capacity}")
        ctypes.memmove(self.address + offset, data, len(data))

    def written(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Offset and bytes of every memory page in the first `size` bytes that may differ from the file.

        Known from the page tables where the system shows them (Linux), without looking at the contents;
        elsewhere by comparing all of it with the file. Raises `OSError` if the file cannot be read for that.
        """
        marked = self._marked(-(-size // _PAGE))
        if marked is None:
            yield from self._compared(size)
            return
        for page in marked:
            yield page * _PAGE, self._page(page * _PAGE, size)

    def free(self) -> None:
        """Give the memory back; nothing may use it any more. Once is enough."""
        if self.address:
            _libc().munmap(self.address, self.capacity)
            self.address = 0

    def _page(self, start: int, size: int) -> bytes:
        return ctypes.string_at(self.address + start, min(_PAGE, size - start))

    def _marked(self, pages: int) -> Iterator[int] | None:
        """Which of the first pages are no longer the file's; None if the page tables are not shown."""
        try:
            with Path("/proc/self/pagemap").open("rb", buffering=0) as table:
                table.seek(self.address // _PAGE * _PAGEMAP_BYTES)
                entries = memoryview(table.read(pages * _PAGEMAP_BYTES)).cast("Q")
        except (OSError, TypeError):  # TypeError: cut off within an entry
            return None
        if len(entries) < pages:
            return None
        return (
            page
            for page, entry in enumerate(entries)
            if entry & (_IN_MEMORY | _SWAPPED) and not entry & _OF_A_FILE
        )

    def _compared(self, size: int) -> Iterator[tuple[int, bytes]]:
        with self._path.open("rb") as file:
            for start in range(0, size, _PAGE):
                page = self._page(start, size)
                if page != file.read(_PAGE).ljust(len(page), b"\0")[: len(page)]:
                    yield start, page


def _map(address: int | None, size: int, flags: int, descriptor: int) -> int:
    found: int | None = _libc().mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, descriptor, 0)
    if found is None or found == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, errno.errorcode.get(number, "cannot map the file"))
    return found


_NEEDED = (
    "sqlite3_auto_extension",
    "sqlite3_cancel_auto_extension",
    "sqlite3_db_config",
    "sqlite3_deserialize",
    "sqlite3_libversion",
    "sqlite3_memory_used",
    "sqlite3_serialize",
)
_NO_COPY = 1  # SQLITE_SERIALIZE_NOCOPY
_DEFENSIVE = 1010  # SQLITE_DBCONFIG_DEFENSIVE
_READ_ONLY = 4  # SQLITE_DESERIALIZE_READONLY
_ENTRY_POINT = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
_lock = threading.Lock()
_opened = threading.local()  # the handle of the connection that this thread opened last


def _remember(handle: int, _message: int, _routines: int) -> int:
    _opened.handle = handle
    return 0


def _renew_lock() -> None:
    """In a forked child: whoever held it is not there."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)
_hook = _ENTRY_POINT(_remember)  # never freed: another thread may be about to call it


@cache
def library() -> ctypes.CDLL | None:
    """The SQLite that Python's sqlite3 module calls; None if its functions cannot be reached by name."""
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


def memory_used() -> int:
    """The bytes that SQLite takes in this process now, without images; 0 where it cannot be asked."""
    found = library()
    return 0 if found is None else int(found.sqlite3_memory_used())


def _declare(found: ctypes.CDLL) -> None:
    found.sqlite3_libversion.restype = c_char_p
    found.sqlite3_memory_used.restype = c_int64
    found.sqlite3_deserialize.argtypes = [c_void_p, c_char_p, c_void_p, c_int64, c_int64, c_uint]
    found.sqlite3_deserialize.restype = c_int
    found.sqlite3_serialize.argtypes = [c_void_p, c_char_p, ctypes.POINTER(c_int64), c_uint]
    found.sqlite3_serialize.restype = c_void_p
    found.sqlite3_auto_extension.argtypes = [_ENTRY_POINT]
    found.sqlite3_cancel_auto_extension.argtypes = [_ENTRY_POINT]


def connect_with_handle(
    library: ctypes.CDLL, database: str | Path = ":memory:", **options: Any
) -> tuple[sqlite3.Connection, int]:
    """A connection to a database, by default a new one in memory, and its `sqlite3*`.

    The handle comes through SQLite's automatic extensions, the documented way to see a connection being
    opened. They are the process's: other threads' connections pass the hook too, even after it was cancelled
    if they were being opened at that moment.
    """
    with _lock:
        library.sqlite3_auto_extension(_hook)
        try:
            connection = sqlite3.connect(database, **options)
        finally:
            library.sqlite3_cancel_auto_extension(_hook)
    return connection, _opened.handle


def connect_privately(database: str | Path = ":memory:") -> sqlite3.Connection:
    """A connection for an episode's image, in SQLite's defensive mode where it can be had.

    In it, nobody but a module writes to the tables that the module keeps its data in.
    """
    found = library()
    if found is None:
        return sqlite3.connect(database, **CONNECT_OPTIONS)  # type: ignore[no-any-return]
    connection, handle = connect_with_handle(found, database, **CONNECT_OPTIONS)
    defend(found, handle)
    return connection


def defend(library: ctypes.CDLL, handle: int) -> None:
    """Put a connection in defensive mode."""
    library.sqlite3_db_config(c_void_p(handle), c_int(_DEFENSIVE), c_int(1), c_void_p(None))


def deserialize(
    library: ctypes.CDLL, handle: int, address: int, size: int, capacity: int, flags: int = 0
) -> None:
    """Make the `size` bytes at `address` the connection's main database, with room to `capacity`.

    The memory stays the caller's and must outlive the connection. Raises `sqlite3.OperationalError`.
    """
    code = library.sqlite3_deserialize(handle, b"main", address, size, capacity, flags)
    if code != sqlite3.SQLITE_OK:
        raise sqlite3.OperationalError(f"cannot take the database over (SQLite code {code})")


def serialized(library: ctypes.CDLL, handle: int) -> tuple[int, int]:
    """Address and size of a deserialized main database as it stands in memory; nothing is copied."""
    size = c_int64()
    address = library.sqlite3_serialize(handle, b"main", ctypes.byref(size), _NO_COPY)
    return address or 0, size.value


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
            deserialize(self._library, handle, address, size, size, _READ_ONLY)
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
        self.connection = connect_privately()
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

    def committed(self) -> sqlite3.Connection:
        return in_memory(self.connection.serialize())

    def close(self) -> None:
        self.connection.close()
