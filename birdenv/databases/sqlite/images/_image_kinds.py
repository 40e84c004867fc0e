"""Make private images of a database file.

An image is a private, writable copy of the file, or behaves like one. The file itself never changes:

* `memory-map`: SQLite works on a private memory map of the file. Its pages are copied when they are written.
  Unwritten pages are shared with other maps of the file and with the system's file cache. Space to grow costs
  nothing until it is used.
* `copy`: the image is a copy of the file in the scratch folder.

`auto` chooses `memory-map` if that works on this machine, and otherwise `copy`. The changes in an image can
be saved as a `Checkpoint`, and applied to a different image of the same file, even an image of the other
kind.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from ctypes import c_int, c_int64, c_size_t, c_void_p
from functools import cache
from pathlib import Path

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._protocol import (
    CONNECT_OPTIONS,
    GROWTH_BYTES,
    HEADER_BYTES,
    LARGEST_PAGE,
    PIECE,
    WAL_FORMAT,
    Image,
    ImageKind,
    bound_growth,
    within,
)
from birdenv.databases.sqlite.images._scratch import new_folder, remove_folder
from birdenv.databases.sqlite.images._sqlite_library import (
    READ_ONLY,
    connect_privately,
    connect_with_handle,
    defend,
    deserialize,
    library,
    serialized,
)
from birdenv.errors import InputError

_MAP_FIXED = 0x10
_MAP_NORESERVE = 0x4000  # for Linux; other systems do not reserve memory
_FAILED = c_void_p(-1).value
_PAGE = mmap.PAGESIZE
_PAGEMAP_BYTES = 8  # per page, in /proc/self/pagemap
_IN_MEMORY, _SWAPPED, _OF_A_FILE = 1 << 63, 1 << 62, 1 << 61


def is_supported() -> bool:
    """Return whether this platform is 64-bit Linux or macOS, which memory-mapped images need."""
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
    """A private, writable memory map of a file, with room to grow.

    Writing to the memory never changes the file. The file must not be truncated while it is mapped. Raises
    `OSError` if the file cannot be mapped.

    Attributes:
        address: the address of the first byte; 0 after `free`.
        size: the size of the file in bytes.
        capacity: the size of the memory in bytes.
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
        """Write `data` at `offset`. Raises `ValueError` if the data would exceed the capacity."""
        if not 0 <= offset <= offset + len(data) <= self.capacity:
            raise ValueError(f"{len(data)} bytes at {offset} are outside of {self.capacity}")
        ctypes.memmove(self.address + offset, data, len(data))

    def written(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Yield the offset and contents of each page in the first `size` bytes that may differ from the file.

        On Linux, the system's page tables show which pages were written. On other systems, all pages are
        compared with the file. Raises `OSError` if the file cannot be read.
        """
        marked = self._marked(-(-size // _PAGE))
        if marked is None:
            yield from self._compared(size)
            return
        for page in marked:
            yield page * _PAGE, self._page(page * _PAGE, size)

    def free(self) -> None:
        """Release the memory, which must not be used afterwards. Releasing it again does nothing."""
        if self.address:
            _libc().munmap(self.address, self.capacity)
            self.address = 0

    def _page(self, start: int, size: int) -> bytes:
        return ctypes.string_at(self.address + start, min(_PAGE, size - start))

    def _marked(self, pages: int) -> Iterator[int] | None:
        """Return the numbers of the written pages that are less than `pages`; None if they are unknown."""
        try:
            with Path("/proc/self/pagemap").open("rb", buffering=0) as table:
                table.seek(self.address // _PAGE * _PAGEMAP_BYTES)
                entries = memoryview(table.read(pages * _PAGEMAP_BYTES)).cast("Q")
        except (OSError, TypeError):  # TypeError: the last entry is incomplete
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


class CopiedImage:
    """An image that is a copy of the file in the scratch folder."""

    kind: ImageKind = "copy"

    def __init__(self, path: Path, start: Checkpoint | None) -> None:
        self._source = path
        self._folder = new_folder()
        self.file: Path | None = self._folder / path.name
        self._file = self.file
        try:
            shutil.copyfile(path, self._file)
            with self._file.open("r+b") as file:
                for offset, page in (start.pages if start else {}).items():
                    file.seek(offset)
                    file.write(page)
                if start is not None:
                    file.truncate(start.size)
                file.seek(WAL_FORMAT.start)
                file.write(b"\1\1")
            # Without locks there is no WAL mode: committed changes are in the file, for any reader.
            self.connection = connect_privately(f"{self._file.as_uri()}?nolock=1")
        except BaseException:
            remove_folder(self._folder)
            raise
        try:
            self.connection.execute("PRAGMA synchronous = OFF").close()
            with path.open("rb") as file:
                bound_growth(self.connection, file.read(HEADER_BYTES), path.stat().st_size)
        except BaseException:
            self.close()
            raise

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        return self._file.stat().st_size, within(most_bytes, self._changed())

    def _changed(self) -> Iterator[tuple[int, bytes]]:
        with self._file.open("rb") as now, self._source.open("rb") as before:
            start = 0
            while piece := now.read(PIECE):
                if piece != before.read(PIECE):
                    yield start, piece
                start += len(piece)

    def committed(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self._file.as_uri()}?mode=ro&immutable=1", uri=True, **CONNECT_OPTIONS)  # type: ignore[no-any-return]

    def close(self) -> None:
        self.connection.close()
        remove_folder(self._folder)

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()


class MappedImage:
    """An image that is a private memory map of the file."""

    kind: ImageKind = "memory-map"
    file: Path | None = None

    def __init__(self, path: Path, start: Checkpoint | None) -> None:
        found = library()
        if found is None or not is_supported():
            raise OSError("this Python cannot call SQLite's functions, or this system cannot map files")
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
        self.connection.close()  # before the memory is freed, because a rollback may still write
        self._memory.free()

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()


def open_image(path: Path, kind: ImageKind = "auto", start: Checkpoint | None = None) -> Image:
    """Open a private image of a file.

    Args:
        path: the file.
        kind: `auto`, `memory-map` or `copy`.
        start: a checkpoint whose changes to apply; None for the unchanged file.

    Raises:
        OSError, sqlite3.Error: the image cannot be created.
        InputError: there is not enough disk space for a copy.
        ValueError: the checkpoint is too large for the file.
    """
    size = path.stat().st_size
    if start is not None and start.size > size + GROWTH_BYTES + LARGEST_PAGE:
        raise ValueError(f"a checkpoint of {start.size} bytes does not fit into an image of {path.name}")
    if kind == "copy":
        return CopiedImage(path, start)
    try:
        return MappedImage(path, start)
    except (OSError, sqlite3.OperationalError):
        if kind != "auto":
            raise
    return CopiedImage(path, start)


def trial(path: Path, kind: ImageKind) -> str:
    """Return the reason why an image of this kind cannot be created, or an empty string if it can."""
    try:
        image = open_image(path, kind)
    except (OSError, sqlite3.Error, InputError) as error:
        return str(error)
    image.close()
    return ""
