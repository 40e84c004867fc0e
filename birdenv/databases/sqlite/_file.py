"""One version of a database file: known to be a database, with all its contents in one place.

`FileId` tells one version from another by what the file system says, without reading the file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import threading
import weakref
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
    """The identity of a file and its journals, and what the file system says about their contents."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int
    """When the file's place or contents changed: the one time stamp that no program can set."""
    journals: tuple[tuple[str, int, int, int], ...] = ()
    """A `-wal`, even an empty one, and a hot `-journal`: which, size and the two times."""

    def __hash__(self) -> int:
        """Return a hash of a few fields, because every graded pair is looked up by it; other versions differ
        here, mostly.
        """
        return hash((self.inode, self.changed_ns))

    @property
    def is_settled(self) -> bool:
        """Return whether the file itself holds everything: no journal has changes that belong to it."""
        return not any(size for _, size, *_ in self.journals)


def look_at(path: Path) -> FileId:
    """Return the current version of the file. Raises `OSError`, and `InputError` if it is not a file."""
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
    """Return the version with the journals that belong to it."""
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
    """Name this process's build of SQLite: version, source id, and a digest of its compile options."""
    connection = sqlite3.connect(":memory:")
    try:
        (source,) = connection.execute("SELECT sqlite_source_id()").fetchone()
        options = sorted(option for (option,) in connection.execute("PRAGMA compile_options"))
    finally:
        connection.close()
    digest = hashlib.sha256("\n".join(options).encode()).hexdigest()[:16]
    return f"SQLite {sqlite3.sqlite_version}, {source}, options {digest}"


_MAGIC: Final = b"SQLite format 3\0"
_FORMAT_VERSIONS: Final = slice(18, 20)
_WAL_MODE: Final = 2
_LFS_POINTER: Final = b"version https://git-lfs"
_ATTEMPTS: Final = 3  # at copying a file together with its journal while nobody writes to it


class SqliteFile:
    """A version of a file that is known to be a database.

    Args:
        version: which file, as it was when it was looked at.
        image_path: the file that has all the contents; not `version.path` if a journal belongs to it.
        in_wal_mode: the file may change without being written to, by a `-wal` file beside it.
    """

    def __init__(self, version: FileId, image_path: Path, in_wal_mode: bool = False) -> None:
        self.version = version
        self._in_wal_mode = in_wal_mode
        self.path = Path(version.path)
        self.image_path = image_path

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the contents in hexadecimal, of the bytes that belong to `version` and no
        others.

        Raises `InputError` if the file is not the same any more after it was read.
        """
        digest = file_digest(self.image_path)
        if self.image_path == self.path and with_journals(self.path, look_at(self.path)) != self.version:
            raise InputError(f"{self.path} changed while it was read: run it again when nobody writes to it")
        return digest

    def scope(self, limits: Limits) -> Scope:
        """Return what results on this version of the file depend on, besides the statement."""
        return Scope(engine_build(), self.version, limits)

    def is_current(self) -> bool:
        """Return whether the file is still the same; one with changes in a journal is always looked at
        again.
        """
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
    """Return the database at an absolute path as it is now; one object in a process for each version of a
    file.

    Raises `InputError` if the file is missing, unreadable, empty, a Git LFS pointer, not SQLite, damaged, or
    being written to.
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
    """Open a connection without a guard that can only read the file, and read its schema.

    Nothing in the schema is run.

    Raises:
        InputError: SQLite cannot open the file.
        InfrastructureError: there is no memory for it.
    """
    try:
        connection = sqlite3.connect(
            f"{file.image_path.as_uri()}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=0,  # the guard asks what each compiles to; and new SQL is compiled sooner
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
    """Return a private copy of a file and its journals, with what stands in the journals taken in or rolled
    back.

    Nothing is written beside the file itself. Raises `InputError` if somebody goes on writing to it.
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
            raise InputError(f"{path} is being written to: close the program that does, or make a copy")
        connection = sqlite3.connect(copy, isolation_level=None)
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        finally:
            connection.close()
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
            f"{path} is a Git LFS pointer, not the database: run `git lfs pull` where it was cloned"
        )
    if not head.startswith(_MAGIC):
        raise InputError(f"{path} is not an SQLite database")


def _in_forked_child() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_in_forked_child)
