"""Sources of SQLite databases.

`SqliteSource` opens the databases in a directory with BIRD's layout: `<db_id>/<db_id>.sqlite`. `LocalSource`
opens the same databases, but runs statements in the calling process, which must be a worker.
`SqliteFileSource` opens a single file with any name.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Hashable
from contextlib import closing
from operator import methodcaller
from pathlib import Path
from typing import Any, Final, TypeGuard

from birdenv.databases._limits import Limits
from birdenv.databases._protocols import EpisodeDatabase
from birdenv.databases._results import Scope
from birdenv.databases.sqlite._database import SqliteDatabase
from birdenv.databases.sqlite._file import SqliteFile, open_reader, sqlite_file
from birdenv.databases.sqlite._process_database import ProcessDatabase
from birdenv.databases.sqlite._worker import limit_process
from birdenv.databases.sqlite.images._protocol import IMAGE_KINDS, ImageKind
from birdenv.databases.sqlite.images._scratch import sweep_once
from birdenv.errors import InputError
from birdenv.files import file_errors, is_directory

_NAMES_SHOWN: Final = 8
_IMAGES_AT_ONCE: Final = 2  # in a worker that grades: one for the prediction, and one for the gold SQL
_DEFAULT_LIMITS: Final = Limits()
_TOLERANT: Final = methodcaller("decode", "utf-8", "surrogateescape")
_TABLES: Final = (
    "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' "
    "ORDER BY rowid"
)


class SqliteSource:
    """The SQLite databases in a directory. The directory is only read, and no files are created there.

    Args:
        root: the directory.
        image: how to make a private copy of the database for an episode that writes (see `birdenv doctor`):
            `auto`, `memory-map` or `copy`. The environment variable `BIRDENV_SQLITE_IMAGE` overrides `auto`.

    Raises:
        InputError: `root` is not a directory, or `image` is unknown.
    """

    dialect = "sqlite"

    def __init__(self, root: Path | str, image: ImageKind = "auto") -> None:
        self.root = Path(root).absolute()
        self.image: ImageKind = _known("image", image, IMAGE_KINDS)
        if self.image == "auto" and "BIRDENV_SQLITE_IMAGE" in os.environ:
            self.image = _known("BIRDENV_SQLITE_IMAGE", os.environ["BIRDENV_SQLITE_IMAGE"], IMAGE_KINDS)
        self._files: dict[str, SqliteFile] = {}
        self._schemas: dict[Hashable, str] = {}
        if not is_directory(self.root):
            raise InputError(f"there is no database directory at {self.root}")
        sweep_once()

    @property
    def engine(self) -> str:
        """Return the name and version of the engine, because results can differ between SQLite versions."""
        return f"SQLite {sqlite3.sqlite_version}"

    def names(self) -> list[str]:
        """Return the sorted ids of the databases.

        `X` is an id if the directory contains a file `X/X.sqlite`, or a folder `X` without permission to look
        for it. Raises `InputError` if the directory cannot be read.
        """
        with file_errors(self.root):
            entries = [entry.name for entry in self.root.iterdir()]
        named = filter(is_database_name, entries)
        return sorted(name for name in named if _may_exist(self._path(name)))

    def path(self, db_id: str) -> Path:
        """Check the file of a database, and return its path.

        Raises `InputError` if the database is unknown, `db_id` is not a plain name, or the file is missing,
        unreadable, empty, damaged, not an SQLite database, a Git LFS pointer, or being written to.
        """
        return self._file(db_id).path

    def contents_path(self, db_id: str) -> Path:
        """Return the path of a file that contains a whole database, so that no journal is needed.

        This is the database's own file or, if that file has a journal, a private copy, which exists as long
        as the source. Raises the same errors as `path`.
        """
        return self._file(db_id).image_path

    def check(self, db_id: str) -> None:
        """Raise `InputError` if the database cannot be opened, or if its schema cannot be read.

        Pages of the file outside the schema are not checked.
        """
        self._file(db_id)

    def digest(self, db_id: str) -> str:
        """Return the hexadecimal SHA-256 of a database's contents. Raises the same errors as `path`.

        The digest is recomputed if the file has changed.
        """
        return self._file(db_id).digest

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return everything that determines the results of statements on an unchanged database.

        Raises the same errors as `path`.
        """
        return self._file(db_id).scope(limits)

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """Open a private database with the contents of the file for one episode.

        The limits apply to each statement. Raises the same errors as `path`.
        """
        return ProcessDatabase(self._file(db_id), limits, self.image)

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements of a database in creation order.

        Raises the same errors as `path`, and `InputError` if the schema cannot be read.
        """
        version = self._file(db_id).version
        text = self._schemas.get(version)
        if text is None:
            with closing(open_reader(self._file(db_id))) as connection:
                connection.text_factory = _TOLERANT
                try:
                    rows = connection.execute(_TABLES).fetchall()
                except sqlite3.Error as error:
                    raise InputError(f"{db_id}: the schema cannot be read: {error}") from error
            text = self._schemas[version] = "\n\n".join(f"{sql};" for (sql,) in rows)
        return text

    def close(self) -> None:
        """Do nothing, because the source holds no resources for episodes."""

    def config(self) -> dict[str, Any]:
        """Return a description of the source for a run's configuration."""
        return {
            "db_dir": str(self.root),
            "engine": self.engine,
            "image": self.image,
        }

    def _file(self, db_id: str) -> SqliteFile:
        file = self._files.get(db_id)
        if file is None or not file.is_current():
            file = self._files[db_id] = self._look_up(db_id)
        return file

    def _look_up(self, db_id: str) -> SqliteFile:
        if not is_database_name(db_id):
            raise InputError(f"{db_id!r} is not a database id: expected the plain name of a directory")
        path = self._path(db_id)
        with file_errors(path):
            try:
                path.lstat()
            except (FileNotFoundError, NotADirectoryError):
                raise InputError(self._unknown(db_id)) from None
        return sqlite_file(path)

    def _path(self, db_id: str) -> Path:
        return self.root / db_id / f"{db_id}.sqlite"

    def _unknown(self, db_id: str) -> str:
        if is_directory(self.root / db_id):
            return (
                f"{self.root / db_id} contains no {db_id}.sqlite; if its database is on PostgreSQL, use "
                "--dialect postgres (in Python, dialect='postgres')"
            )
        names = self.names()
        held = ", ".join(names[:_NAMES_SHOWN]) or "no database"
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        return f"there is no database {db_id!r} in {self.root}, which contains {held}{more}"


def _may_exist(path: Path) -> bool:
    try:
        path.lstat()
    except PermissionError:
        return True  # reading it raises an error that says so
    except OSError:
        return False
    return True


def is_database_name(name: object) -> TypeGuard[str]:
    """Return whether a value is a name that cannot refer to a path outside the directory."""
    return (
        isinstance(name, str)
        and name == name.strip()
        and not name.startswith(".")
        and name.isprintable()
        and 0 < len(name.encode()) <= 200
        and not set(name) & set("/\\:")
    )


def _known(setting: str, value: str, known: tuple[str, ...]) -> Any:
    if value not in known:
        raise InputError(f"{setting} {value!r} is unknown; choose from {', '.join(known)}")
    return value


class LocalSource(SqliteSource):
    """A source that runs statements in the calling process, which must be a worker.

    If a statement cannot be interrupted, SIGPROF or SIGALRM kills the process one second after the deadline.

    Args:
        root: the directory.
        file: the file that all database ids refer to, as in `SqliteFileSource`; None for a directory of
            databases.
        image: as in `SqliteSource`.
    """

    def __init__(self, root: Path, file: Path | None, image: ImageKind) -> None:
        super().__init__(root, image)
        self._file_of_all = file

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> SqliteDatabase:
        file = self._file(db_id)
        limit_process(file.version.size, _IMAGES_AT_ONCE)
        return SqliteDatabase(file, limits, self.image)

    def _look_up(self, db_id: str) -> SqliteFile:
        return super()._look_up(db_id) if self._file_of_all is None else sqlite_file(self._file_of_all)


class SqliteFileSource(SqliteSource):
    """A source with a single file, which all database ids refer to.

    Raises `InputError` if the file cannot be used.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = Path(file).absolute()
        sqlite_file(self.file)  # report errors of the file before those of its folder
        super().__init__(self.file.parent)

    def names(self) -> list[str]:
        """Return a list with a single id: the name of the file without its suffix."""
        return [self.file.stem]

    def _look_up(self, db_id: str) -> SqliteFile:
        return sqlite_file(self.file)
