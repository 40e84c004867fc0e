"""A file's bytes as private memory: mapped, not read, and copied page by page only where they are written.

Every mapping of the same file shares the pages that nobody wrote, with each other and with the system's file
cache. Room to grow behind the file costs nothing until it is used.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from collections.abc import Iterator
from ctypes import c_int, c_int64, c_size_t, c_void_p
from functools import cache
from pathlib import Path

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
