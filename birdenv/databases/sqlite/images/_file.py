"""Images in files: clones by the file system, or plain copies, in the scratch folder."""

from __future__ import annotations

import ctypes
import fcntl
import io
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._protocol import (
    CONNECT_OPTIONS,
    HEADER_BYTES,
    PIECE,
    ImageKind,
    bound_growth,
    in_memory,
    within,
)
from birdenv.databases.sqlite.images._scratch import new_folder, remove_folder
from birdenv.databases.sqlite.images._sqlite_library import connect_privately

_FICLONE = 0x40049409


class FileImage:
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
            self.connection = connect_privately(self._file)
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
                while piece := now.read(PIECE):
                    if piece != before.read(PIECE):
                        yield start, piece
                    start += len(piece)

        size = self._file.stat().st_size if contents is None else len(contents)
        return size, within(most_bytes, pieces())

    def committed(self) -> sqlite3.Connection:
        path = f"{self._file.as_uri()}?mode=ro"
        connection: sqlite3.Connection = sqlite3.connect(path, uri=True, timeout=0, **CONNECT_OPTIONS)
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError:  # the episode's own connection holds a lock
            connection.close()
            return in_memory(self.connection.serialize())
        return connection

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


def reflink(path: Path, to: Path) -> None:
    if sys.platform != "linux":
        raise OSError("files can be cloned on Linux only")
    with path.open("rb") as source, to.open("xb") as target:
        fcntl.ioctl(target, _FICLONE, source.fileno())


def copy(path: Path, to: Path) -> None:
    shutil.copyfile(path, to)
