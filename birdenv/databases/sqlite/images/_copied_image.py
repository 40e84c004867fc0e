"""Images that are plain copies of the file, in the scratch folder."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._protocol import (
    CONNECT_OPTIONS,
    HEADER_BYTES,
    PIECE,
    WAL_FORMAT,
    ImageKind,
    bound_growth,
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
                file.seek(WAL_FORMAT.start)
                file.write(b"\1\1")
            # Without locks there is no WAL mode: what is committed is in the file, and anybody may read it.
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
