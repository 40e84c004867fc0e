"""Check database files, and identify their versions.

A `FileId` identifies a version of a file by its metadata, without reading the file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import threading
import weakref
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from birdenv.databases._limits import Limits
from birdenv.databases._results import ContentId, Scope
from birdenv.databases.sqlite.images._scratch import new_folder, remove_folder
from birdenv.errors import InfrastructureError, InputError
from birdenv.files import file_digest, file_errors

_HOT_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")


@dataclass(frozen=True, slots=True)
class FileId(ContentId):
    """An identifier of one version of a database file and its journals, based on file system metadata.

    Attributes:
        path: the absolute path.
        device: the number of the device that holds the file.
        inode: the inode number of the file.
        size: the size in bytes.
        modified_ns: the time when the contents were last modified, in nanoseconds.
        changed_ns: the time when the inode last changed, in nanoseconds. No program can forge it.
        journals: the suffix, size, modification time and change time of each journal. A `-wal` file counts as
            a journal even if it is empty, but a `-journal` file only if SQLite would roll it back.
    """

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    journals: tuple[tuple[str, int, int, int], ...] = ()

    @property
    def is_settled(self) -> bool:
        """Return whether the file contains all data, so that no journal has to be applied."""
        return not any(size for _, size, *_ in self.journals)


def look_at(path: Path) -> FileId:
    """Return the current version of a file, ignoring its journals.

    Raises `InputError` if the path is not a file, and `OSError` if it cannot be examined.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a file")
    return FileId(
        str(path),
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def with_journals(path: Path, version: FileId) -> FileId:
    """Return the version of a file with its current journals added."""
    journals = []
    for suffix in ("-wal", "-journal"):
        journal = path.with_name(path.name + suffix)
        if journal.exists() and (suffix == "-wal" or _is_hot(journal)):
            status = journal.stat()
            journals.append((suffix, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return replace(version, journals=tuple(journals))


def _is_hot(journal: Path) -> bool:
    with journal.open("rb") as file:
        return file.read(8) == _HOT_JOURNAL


@cache
def engine_build() -> str:
    """Describe this process's SQLite library: its version, source id, and a digest of its compile options."""
    with closing(sqlite3.connect(":memory:")) as connection:
        (source,) = connection.execute("SELECT sqlite_source_id()").fetchone()
        options = sorted(option for (option,) in connection.execute("PRAGMA compile_options"))
    digest = hashlib.sha256("\n".join(options).encode()).hexdigest()[:16]
    return f"SQLite {sqlite3.sqlite_version}, {source}, options {digest}"


_MAGIC: Final = b"SQLite format 3\0"
_FORMAT_VERSIONS: Final = slice(18, 20)
_WAL_MODE: Final = 2
_LFS_POINTER: Final = b"version https://git-lfs"
_ATTEMPTS: Final = 3  # at copying a file with its journal while nobody writes to it


class SqliteFile:
    """A version of a file that has been verified to be a database.

    Args:
        version: the identity of the version.
        image_path: the path of a file with all the contents: `version.path`, or a private copy if there is a
            journal.
        in_wal_mode: whether changes to the database may be written to a `-wal` file, while the file itself
            stays the same.
    """

    def __init__(self, version: FileId, image_path: Path, in_wal_mode: bool = False) -> None:
        self.version = version
        self._in_wal_mode = in_wal_mode
        self.path = Path(version.path)
        self.image_path = image_path

    @cached_property
    def digest(self) -> str:
        """Return the hexadecimal SHA-256 of this version's contents.

        Raises `InputError` if the file changes while it is read.
        """
        digest = file_digest(self.image_path)
        if self.image_path == self.path and with_journals(self.path, look_at(self.path)) != self.version:
            raise InputError(f"{self.path} changed while it was read: retry when nothing is writing to it")
        return digest

    def scope(self, limits: Limits) -> Scope:
        """Return everything that determines results on this version of the file."""
        return Scope(engine_build(), self.version, limits)

    def is_current(self) -> bool:
        """Return whether the file is still this version. A file with a journal always counts as changed."""
        version = self.version
        try:
            status = os.stat(version.path)  # noqa: PTH116 (at every episode)
            return (
                status.st_mtime_ns == version.modified_ns
                and status.st_ctime_ns == version.changed_ns
                and status.st_size == version.size
                and status.st_ino == version.inode
                and not version.journals
                and not (self._in_wal_mode and os.path.exists(f"{version.path}-wal"))  # noqa: PTH110
            )
        except OSError:
            return False


_files: weakref.WeakValueDictionary[FileId, SqliteFile] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def sqlite_file(path: Path) -> SqliteFile:
    """Return the current version of the database at an absolute path. All callers share one object.

    Raises `InputError` if the file is missing, unreadable, empty, damaged, not an SQLite database, a Git LFS
    pointer, or being written to.
    """
    with file_errors(path), _lock:
        version = with_journals(path, look_at(path))
        found = _files.get(version)
        if found is None:
            with path.open("rb") as file:
                head = file.read(64)
            _check_head(path, head)
            image_path = path if version.is_settled else _settled(path, version)
            found = SqliteFile(version, image_path, _WAL_MODE in head[_FORMAT_VERSIONS])
            if not version.is_settled:
                weakref.finalize(found, remove_folder, image_path.parent)
            open_reader(found).close()
            _files[version] = found
    return found


def open_reader(file: SqliteFile) -> sqlite3.Connection:
    """Open a read-only connection without a guard, and load the schema without running any SQL in it.

    Raises:
        InputError: SQLite cannot open the file.
        InfrastructureError: there is not enough memory.
    """
    try:
        connection = sqlite3.connect(
            f"{file.image_path.as_uri()}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=0,  # the guard sees a statement only when it is compiled
        )
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except BaseException:
            connection.close()
            raise
    except MemoryError as error:
        raise InfrastructureError(f"SQLite has no memory left in this process to open {file.path}") from error
    except sqlite3.Error as error:
        raise InputError(f"{file.path} cannot be opened by SQLite: {error}") from error
    return connection


def _settled(path: Path, version: FileId) -> Path:
    """Return the path of a private copy of a file, with its journals applied or rolled back.

    No file is written beside the original. Raises `InputError` if somebody keeps writing to the original.
    """
    folder = new_folder()
    copy = folder / path.name
    try:
        for _ in range(_ATTEMPTS):
            for suffix in ("", *(name for name, *_ in version.journals)):
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
            now = with_journals(path, look_at(path))
            if now == version:
                break
            version = now
        else:
            raise InputError(
                f"{path} is being written to: close the program that writes to it, or use a copy"
            )
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException as error:
        remove_folder(folder)
        if isinstance(error, sqlite3.Error):
            raise InputError(f"{path} cannot be opened by SQLite: {error}") from error
        raise
    return copy


def _check_head(path: Path, head: bytes) -> None:
    if not head:
        raise InputError(f"{path} is empty")
    if head.startswith(_LFS_POINTER):
        raise InputError(
            f"{path} is a Git LFS pointer, not the database: run `git lfs pull` in its repository"
        )
    if not head.startswith(_MAGIC):
        raise InputError(f"{path} is not an SQLite database")


def _in_forked_child() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_in_forked_child)
