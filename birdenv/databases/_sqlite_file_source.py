"""One SQLite file of any name, as a source that knows a single database."""

from __future__ import annotations

from pathlib import Path

from birdenv.databases._image import ImageKind
from birdenv.databases._sqlite_file import SqliteFile, sqlite_file
from birdenv.databases._sqlite_source import Isolation, SqliteSource

__all__ = ["SqliteFileSource"]


class SqliteFileSource(SqliteSource):
    """A source whose every database id means the same file; else like `SqliteSource`.

    Raises `InputError` if the file cannot be used.
    """

    def __init__(self, file: Path | str, isolation: Isolation = "inline", image: ImageKind = "auto") -> None:
        self.file = Path(file).absolute()
        sqlite_file(self.file)  # its own fault before any of its folder
        super().__init__(self.file.parent, isolation, image)

    def names(self) -> list[str]:
        """The file's name without its ending."""
        return [self.file.stem]

    def _look_up(self, db_id: str) -> SqliteFile:
        return sqlite_file(self.file)
