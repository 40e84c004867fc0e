"""Private images of a database file: a writable connection to all of it, at a cost that does not grow.

Four ways to make one, in the order of preference; all start from the same bytes and never write to the file:

* `reflink`: a clone of the file by the file system (XFS, btrfs), in the scratch folder on that file system.
* `memory-map`: the file mapped privately into memory and handed to SQLite; pages are copied when written.
* `deserialize`: the file read into memory; by itself only for files up to 16 MB.
* `copy`: a plain copy in the scratch folder.

`auto` takes the first that works here. What an image has changed can be taken out as a `Checkpoint` and put
into another image of the same file, made in any of these ways.
"""

from __future__ import annotations

import ctypes
import fcntl
import io
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

from birdenv.databases._private_memory import PrivateMemory, is_supported
from birdenv.databases._scratch import new_folder, remove_folder, scratch_root
from birdenv.databases._sqlite_library import connect_with_handle, deserialize, library, serialized
from birdenv.databases._version import Version
from birdenv.errors import InputError

__all__ = ["GROWTH_BYTES", "IMAGE_KINDS", "Checkpoint", "Image", "ImageKind", "open_image", "trial"]

ImageKind: TypeAlias = Literal["auto", "reflink", "memory-map", "deserialize", "copy"]
IMAGE_KINDS: Final = get_args(ImageKind)

GROWTH_BYTES = 2**30
"""How much an image may grow beyond its file."""

_SMALL_FILE = 16 * 2**20
_PIECE = 2**16  # bytes compared at a time, where nothing tells which pages were written
_FICLONE = 0x40049409
_HEADER = 100  # bytes
_PAGE_SIZE = slice(16, 18)  # of the header; 1 stands for the largest
_LARGEST_PAGE = 2**16
_WAL_FORMAT = slice(18, 20)  # of the header: 2 says that a -wal file belongs to it, 1 that none does
_OPTIONS: dict[str, Any] = {"isolation_level": None, "check_same_thread": False, "cached_statements": 0}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a database holds beyond its file: the pages that differ, by offset, and its size, in bytes.

    `version` says which database it belongs to, and which version of it: for SQLite a `FileVersion`. A `size`
    of 0 is that database as it is. Picklable; as private as what it holds.
    """

    version: Version
    size: int
    pages: dict[int, bytes] = field(repr=False)


class Image(Protocol):
    """A private, writable database; the connection has no guard yet."""

    kind: ImageKind
    connection: sqlite3.Connection
    file: Path | None
    """The file that the connection has open; None if there is none."""

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        """Size and changed pages of what is committed; no transaction may be open.

        Raises `OverflowError` beyond `most_bytes`.
        """

    def close(self) -> None:
        """Throw the image away; closing again does nothing."""


def open_image(path: Path, kind: ImageKind = "auto", start: Checkpoint | None = None) -> Image:
    """A private image of a file, as it is or as `start` says.

    Raises `OSError` or `sqlite3.Error` if it cannot be made, `InputError` if there is no room for its file,
    and `ValueError` for a start that does not fit.
    """
    size = path.stat().st_size
    if start is not None and start.size > size + GROWTH_BYTES + _LARGEST_PAGE:
        raise ValueError(f"a checkpoint of {start.size} bytes does not fit into an image of {path.name}")
    if kind != "auto":
        return _OPENERS[kind](path, start)
    for name in _ORDER:
        if _is_worth_trying(name, path, size):
            try:
                return _OPENERS[name](path, start)
            except (OSError, sqlite3.OperationalError, InputError):
                continue  # not on this platform or file system: the next way
    return _OPENERS["copy"](path, start)


def trial(path: Path, kind: ImageKind) -> str:
    """Whether images of `path` can be made this way here: empty if so, else why not, in a few words."""
    try:
        image = open_image(path, kind)
    except (OSError, sqlite3.Error, InputError) as error:
        return str(error)
    image.close()
    return ""


class _MappedImage:
    kind: ImageKind = "memory-map"
    file: Path | None = None

    def __init__(self, path: Path, start: Checkpoint | None) -> None:
        found = library()
        if found is None or not is_supported():
            raise OSError("SQLite's own functions cannot be called by this Python, or its memory not mapped")
        self._library = found
        self._memory = PrivateMemory(path, GROWTH_BYTES)
        try:
            self.connection, self._handle = connect_with_handle(found, **_OPTIONS)
        except BaseException:
            self._memory.free()
            raise
        try:
            for offset, page in (start.pages if start else {}).items():
                self._memory.write(offset, page)
            self._memory.write(_WAL_FORMAT.start, b"\1\1")
            size = start.size if start else self._memory.size
            deserialize(found, self._handle, self._memory.address, size, self._memory.capacity)
        except BaseException:
            self.close()
            raise

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        _, size = serialized(self._library, self._handle)
        return size, _within(most_bytes, self._memory.written(size))

    def close(self) -> None:
        self.connection.close()  # first: it may still write while it rolls back
        self._memory.free()

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()


class _DeserializedImage:
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
        data[_WAL_FORMAT] = b"\1\1"
        self.connection = sqlite3.connect(":memory:", **_OPTIONS)
        try:
            self.connection.deserialize(data)
            _bound_growth(self.connection, self._original, len(self._original))
        except BaseException:
            self.connection.close()
            raise

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        now = self.connection.serialize()
        original = self._original

        def pieces() -> Iterator[tuple[int, bytes]]:
            for start in range(0, len(now), _PIECE):
                piece = now[start : start + _PIECE]
                if piece != original[start : start + _PIECE]:
                    yield start, piece

        return len(now), _within(most_bytes, pieces())

    def close(self) -> None:
        self.connection.close()


class _FileImage:
    """A file of its own in the scratch folder."""

    def __init__(
        self, path: Path, start: Checkpoint | None, kind: ImageKind, copy: Callable[[Path, Path], None]
    ) -> None:
        self.kind = kind
        self._process = os.getpid()
        self._source = path
        self._folder = new_folder()
        self.file: Path | None = self._folder / path.name
        self._file = self.file
        try:
            copy(path, self._file)
            with self._file.open("r+b") as file:
                for offset, page in (start.pages if start else {}).items():
                    file.seek(offset)
                    file.write(page)
                if start is not None:
                    file.truncate(start.size)
            self.connection = sqlite3.connect(self._file, **_OPTIONS)
        except BaseException:
            remove_folder(self._folder)
            raise
        try:
            self.connection.execute("PRAGMA synchronous = OFF").close()
            with path.open("rb") as file:
                _bound_growth(self.connection, file.read(_HEADER), path.stat().st_size)
        except BaseException:
            self.close()
            raise

    def changes(self, most_bytes: float) -> tuple[int, dict[int, bytes]]:
        contents: bytes | None = None
        try:
            (is_busy, *_) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            is_busy = 1
        if is_busy:  # a full-text index keeps reading after an integrity check: part is in the -wal file
            contents = self.connection.serialize()

        def pieces() -> Iterator[tuple[int, bytes]]:
            whole = self._file.open("rb") if contents is None else io.BytesIO(contents)
            with whole as now, self._source.open("rb") as before:
                start = 0
                while piece := now.read(_PIECE):
                    if piece != before.read(_PIECE):
                        yield start, piece
                    start += len(piece)

        size = self._file.stat().st_size if contents is None else len(contents)
        return size, _within(most_bytes, pieces())

    def close(self) -> None:
        if self._process != os.getpid():
            # In a forked child the file is still the parent's, and so is a transaction that is open in it:
            # closing the connection would roll that back. So it stays open until the child ends.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.connection))
            return
        self.connection.close()
        remove_folder(self._folder)

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()


def _bound_growth(connection: sqlite3.Connection, header: bytes, size: int) -> None:
    page = int.from_bytes(header[_PAGE_SIZE])
    page = _LARGEST_PAGE if page == 1 else max(page, 1)
    connection.execute(f"PRAGMA max_page_count = {(size + GROWTH_BYTES) // page}").close()


def _reflink(path: Path, to: Path) -> None:
    if sys.platform != "linux":
        raise OSError("files can be cloned on Linux only")
    with path.open("rb") as source, to.open("xb") as target:
        fcntl.ioctl(target, _FICLONE, source.fileno())


def _copy(path: Path, to: Path) -> None:
    shutil.copyfile(path, to)


_Opener: TypeAlias = Callable[[Path, Checkpoint | None], Image]

_OPENERS: dict[ImageKind, _Opener] = {
    "reflink": lambda path, start: _FileImage(path, start, "reflink", _reflink),
    "memory-map": _MappedImage,
    "deserialize": _DeserializedImage,
    "copy": lambda path, start: _FileImage(path, start, "copy", _copy),
}
_ORDER: tuple[ImageKind, ...] = ("reflink", "memory-map", "deserialize")
_clones: dict[int, bool] = {}  # whether files of a device can be cloned into the scratch folder


def _is_worth_trying(kind: ImageKind, path: Path, size: int) -> bool:
    if kind == "deserialize":
        return size <= _SMALL_FILE
    if kind != "reflink":
        return True
    return _can_clone(path)


def _can_clone(path: Path) -> bool:
    """Whether the file system clones files into the scratch folder; tried once for each device."""
    device = path.stat().st_dev
    if device not in _clones:
        scratch = scratch_root()
        try:
            there = scratch if scratch.exists() else scratch.parent
            _clones[device] = there.stat().st_dev == device and not trial(path, "reflink")
        except OSError:
            return False
    return _clones[device]


def _within(most_bytes: float, pages: Iterator[tuple[int, bytes]]) -> dict[int, bytes]:
    taken: dict[int, bytes] = {}
    total = 0
    for offset, page in pages:
        total += len(page)
        if total > most_bytes:
            raise OverflowError(f"the changes take more than {most_bytes:.0f} bytes")
        taken[offset] = page
    return taken
