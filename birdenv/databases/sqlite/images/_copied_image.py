"""Images that are plain copies of the file, in the scratch folder."""

from __future__ import annotations

import io
import shutil
import sqlite3
from collections.abc import Iterator
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


class CopiedImage:
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
        self.connection.close()
        remove_folder(self._folder)

    def __del__(self) -> None:
        if hasattr(self, "connection"):
            self.close()
