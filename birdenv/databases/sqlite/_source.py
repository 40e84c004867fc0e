"""A directory of SQLite databases in BIRD's layout: `<db_id>/<db_id>.sqlite`.

`SqliteSource` is the directory. `LocalSource` is the same inside a worker, where statements run.
`SqliteFileSource` is one file of any name, with a single database.
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
_IMAGES_AT_ONCE: Final = 2  # in a worker that grades: of the prediction, and of the gold
_DEFAULT_LIMITS: Final = Limits()
_TOLERANT: Final = methodcaller("decode", "utf-8", "surrogateescape")
_TABLES: Final = (
    "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' "
    "ORDER BY rowid"
)


class SqliteSource:
    """Databases to open episodes on; the files are only ever read, and nothing is written beside them.

    Args:
        root: the directory.
        image: how a writing episode gets its private image (see `birdenv doctor`): `auto`, `memory-map` or
            `copy`. The environment variable `BIRDENV_SQLITE_IMAGE` stands in
            for `auto`.

    Raises `InputError` if `root` is not a directory, or a setting is unknown.
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
            raise InputError(f"no directory of databases at {self.root}")
        sweep_once()

    @property
    def engine(self) -> str:
        """Return the engine and its version: results may differ between versions of SQLite."""
        return f"SQLite {sqlite3.sqlite_version}"

    def names(self) -> list[str]:
        """Return the ids of the databases here, sorted: directories that hold a file of their own name.

        Raises `InputError` if the directory cannot be read.
        """
        with file_errors(self.root):
            entries = [entry.name for entry in self.root.iterdir()]
        named = filter(is_database_name, entries)
        return sorted(name for name in named if os.path.lexists(self._path(name)))

    def path(self, db_id: str) -> Path:
        """Return the file of a database, after looking at it.

        Raises `InputError` if `db_id` is not a plain name or not known here, or if its file is missing,
        unreadable, empty, a Git LFS pointer, not SQLite, damaged, or being written to.
        """
        return self._file(db_id).path

    def contents_path(self, db_id: str) -> Path:
        """Return a file with all the contents, to be opened as immutable: the file of the database, or a
        private copy where a journal belongs to it. It is there as long as the source.

        Raises `InputError` as `path` does.
        """
        return self._file(db_id).image_path

    def check(self, db_id: str) -> None:
        """Raise `InputError` unless the database can be opened and its schema read (not all its pages)."""
        self._file(db_id)

    def digest(self, db_id: str) -> str:
        """Return the SHA-256 of the contents in hexadecimal; computed again when the file changes.

        Raises `InputError` as `path` does.
        """
        return self._file(db_id).digest

    def version(self, db_id: str) -> Hashable:
        """Return what tells these contents from others of the same file, in this process; no page of it is
        read.

        Raises `InputError` as `path` does.
        """
        return self._file(db_id).version

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return what results on a fresh database depend on, besides the statement.

        Raises `InputError` as `path` does.
        """
        return self._file(db_id).scope(limits)

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """Return a database for one episode, private and with the contents of the file; `limits` hold for
        each statement.

        Raises `InputError` as `path` does.
        """
        return ProcessDatabase(self._file(db_id), limits, self.image)

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements, in the order in which the tables were made.

        Raises `InputError` as `path` does, or if the schema cannot be read.
        """
        version = self.version(db_id)
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
        """Nothing to do: an episode holds what it needs itself."""

    def config(self) -> dict[str, Any]:
        """Return what a run writes down about the source."""
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
            raise InputError(f"not a database id: {db_id!r} (expected the plain name of a directory)")
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
                f"{self.root / db_id} holds no {db_id}.sqlite; if its database is on PostgreSQL, say "
                "--dialect postgres (in Python, dialect='postgres')"
            )
        names = self.names()
        held = ", ".join(names[:_NAMES_SHOWN]) or "no database"
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        return f"no database {db_id!r} in {self.root}: it holds {held}{more}"


def is_database_name(name: object) -> TypeGuard[str]:
    """Return whether a value is a plain name: one that cannot lead out of the directory of databases."""
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
        raise InputError(f"{setting} {value!r} is unknown; known: {', '.join(known)}")
    return value


class LocalSource(SqliteSource):
    """Runs statements in the very process that asks: for workers, which are made to be killed.

    A statement that nothing can interrupt ends the process, by SIGPROF or SIGALRM, a second after its
    deadline.

    Args:
        root: the directory, as of `SqliteSource`.
        file: the one file that every id means, as of `SqliteFileSource`.
        image: as of `SqliteSource`.
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
    """A source whose every database id means the same file; else like `SqliteSource`.

    Raises `InputError` if the file cannot be used.
    """

    def __init__(self, file: Path | str, image: ImageKind = "auto") -> None:
        self.file = Path(file).absolute()
        sqlite_file(self.file)  # its own fault before any of its folder
        super().__init__(self.file.parent, image)

    def names(self) -> list[str]:
        """Return the file's name without its ending."""
        return [self.file.stem]

    def _look_up(self, db_id: str) -> SqliteFile:
        return sqlite_file(self.file)
