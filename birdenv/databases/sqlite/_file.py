"""One version of a database file, and the connections of this process that only read it, by `mmap` if told.

A reading connection keeps nothing of what ran on it, so any number of episodes take turns on a few of them,
statement by statement; their pages are in memory once.

Memory maps take a fifth to a third off a large scan. A file that is cut short while it is mapped ends the
process that reads it (SIGBUS). So this is only for processes that are made to be killed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import threading
import weakref
from collections import deque
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from birdenv.databases._limits import Limits
from birdenv.databases._results import Scope
from birdenv.databases.sqlite._connection import GuardedConnection
from birdenv.databases.sqlite._file_id import FileId, look_at, with_journals
from birdenv.databases.sqlite.images._scratch import new_folder, remove_folder
from birdenv.errors import InfrastructureError, InputError
from birdenv.files import file_digest, file_errors

MAPPED_BYTES: Final = 2 * 2**30
"""Of address space that the maps of one process take, at most."""

_map_lock = threading.Lock()
_left = 0


def map_files() -> None:
    """From here on this process maps the files that it opens, as far as `MAPPED_BYTES` go."""
    global _left
    _left = MAPPED_BYTES


def map_file(connection: sqlite3.Connection, size: int) -> int:
    """Let a new connection read its file, of so many bytes, through a map; the room that this takes, to be
    given back when the connection is gone."""
    global _left
    with _map_lock:
        if size > _left:
            return 0
        _left -= size
    connection.execute(f"PRAGMA mmap_size = {size}").close()
    return size


def give_room_back(size: int) -> None:
    global _left
    with _map_lock:
        _left += size


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
    """A file that is known to be a database, and a pool of connections that read it."""

    def __init__(self, version: FileId, image_path: Path, killable: bool, in_wal_mode: bool = False) -> None:
        """`image_path`: the file that has all the contents; not `version.path` if a journal belongs to it.

        `in_wal_mode`: the file may change without being written to, by a `-wal` that comes to be beside it.
        """
        self.version = version
        self._in_wal_mode = in_wal_mode
        self.path = Path(version.path)
        self._folder = str(self.path.parent)
        self.image_path = image_path
        self.killable = killable
        self._idle: deque[GuardedConnection] = deque()
        self._unused: deque[sqlite3.Connection] = deque()  # open, and nobody's yet
        weakref.finalize(self, _close_all, self._idle)  # a connection and its guard hold each other

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the contents in hexadecimal, of the bytes that belong to `version` and no others.

        Raises `InputError` if the file is not the same any more after it was read.
        """
        digest = file_digest(self.image_path)
        if self.image_path == self.path and with_journals(self.path, look_at(self.path)) != self.version:
            raise InputError(f"{self.path} changed while it was read: run it again when nobody writes to it")
        return digest

    def scope(self, limits: Limits) -> Scope:
        """What results on this version of the file depend on, besides the statement."""
        return Scope(engine_build(), self.version, limits, lambda: self.digest)

    def is_current(self) -> bool:
        """Whether the file is still the same; one with changes in a journal is always looked at again."""
        version = self.version
        try:
            status = os.stat(version.path)  # noqa: PTH116 (at every episode)
            return (
                status.st_mtime_ns == version.modified_ns
                and status.st_ctime_ns == version.changed_ns
                and status.st_size == version.size
                and status.st_ino == version.inode
                and not version.journals
                and not (self._in_wal_mode and self._has_other_files())
            )
        except OSError:
            return False

    def _has_other_files(self) -> bool:
        """Whether files have come or gone beside this one."""
        return os.stat(self._folder).st_mtime_ns != self.version.folder_modified_ns  # noqa: PTH116

    def check(self) -> None:
        """Raise `InputError` unless SQLite can read the schema; what stands in it is not run."""
        self._unused.append(self._open())

    def borrow(self) -> GuardedConnection:
        """A reading connection, to be given back after the statement.

        Raises `InputError` if none can be made, `InfrastructureError` if there is no memory for it.
        """
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def give_back(self, reader: GuardedConnection) -> None:
        if reader.is_spoilt:
            reader.close()
        else:
            self._idle.append(reader)

    def _connect(self) -> GuardedConnection:
        try:
            connection = self._unused.pop()
        except IndexError:
            connection = self._open()
        try:
            mapped = map_file(connection, self.version.size)  # while nothing is refused
            reader = GuardedConnection(connection, private=False, killable=self.killable)
            weakref.finalize(reader, give_room_back, mapped)
            return reader
        except BaseException as error:
            connection.close()
            raise self._fault(error) from error

    def _open(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                f"{self.image_path.as_uri()}?mode=ro&immutable=1",
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
        except (sqlite3.Error, MemoryError) as error:
            raise self._fault(error) from error
        return connection

    def _fault(self, error: BaseException) -> BaseException:
        if isinstance(error, MemoryError):
            return InfrastructureError(f"SQLite has no memory left in this process to open {self.path}")
        is_sqlites = isinstance(error, sqlite3.Error)
        return InputError(f"{self.path} cannot be opened by SQLite: {error}") if is_sqlites else error

    def forget_connections(self) -> None:
        """In a forked child: leave the parent's connections alone, without closing them."""
        _of_the_parent.extend(self._idle)
        self._idle.clear()
        _of_the_parent.extend(self._unused)
        self._unused.clear()


def _close_all(readers: deque[GuardedConnection]) -> None:
    while readers:
        readers.pop().close()


_files: weakref.WeakValueDictionary[tuple[FileId, bool], SqliteFile] = weakref.WeakValueDictionary()
_lock = threading.Lock()
_of_the_parent: list[GuardedConnection | sqlite3.Connection] = []


def sqlite_file(path: Path, *, killable: bool = False) -> SqliteFile:
    """The database at an absolute path as it is now; one object in a process for each version of a file.

    Raises `InputError` if the file is missing, unreadable, empty, a Git LFS pointer, not SQLite, damaged, or
    being written to.
    """
    with file_errors(path), _lock:
        version = with_journals(path, look_at(path))
        found = _files.get((version, killable))
        if found is None:
            with path.open("rb") as file:
                head = file.read(64)
            _check_head(path, head)
            image_path = path if version.is_settled else _settled(path, version)
            found = SqliteFile(version, image_path, killable, _WAL_MODE in head[_FORMAT_VERSIONS])
            if not version.is_settled:
                weakref.finalize(found, remove_folder, image_path.parent)
            found.check()
            _files[version, killable] = found
        found.version = version  # the folder's time may be another
    return found


def _settled(path: Path, version: FileId) -> Path:
    """A private copy of a file and its journals, with what stands in the journals taken in or rolled back.

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
    for file in list(_files.values()):
        file.forget_connections()


os.register_at_fork(after_in_child=_in_forked_child)
