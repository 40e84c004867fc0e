"""A source for a process that is made to be killed: statements run in it, and the kernel ends late ones."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Final

from birdenv.databases._limits import Limits
from birdenv.databases._mapped_files import MAPPED_BYTES
from birdenv.databases._sqlite_database import SqliteDatabase
from birdenv.databases._sqlite_file import SqliteFile, sqlite_file
from birdenv.databases._sqlite_source import SqliteSource

__all__ = ["ExpendableSource"]

_MEMORY_BYTES: Final = 4 * 2**30 + MAPPED_BYTES  # of address space
_DEFAULT_LIMITS: Final = Limits()


class ExpendableSource(SqliteSource):
    """Gives the answers of `isolation="process"`, from the very process that asks.

    A statement that nothing can interrupt ends the process, by SIGALRM, a second after its deadline. Only
    queries run here (`EpisodeDatabase.query` and `scan`).

    Args:
        root: the directory, as of `SqliteSource`.
        file: the one file that every id means, as of `SqliteFileSource`.
    """

    def __init__(self, root: Path, file: Path | None = None) -> None:
        super().__init__(root, "process")
        self._file_of_all = file
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> SqliteDatabase:
        return SqliteDatabase(self._file(db_id), limits)

    def _look_up(self, db_id: str) -> SqliteFile:
        path = self._file_of_all or super()._look_up(db_id).path
        return sqlite_file(path, killable=True)
