"""Results of statements on disk, so that a statement whose result is known is not executed again.

A result is found by the contents of the database, the SQL, the engine and the limits; what was fetched of a
prediction is part of the value, and whether that is enough is for the reader to say. The store is one SQLite
file for any number of processes and threads. Nothing in it is irreplaceable: a file that is torn is set
aside, and one that cannot be used is done without.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final

from birdenv.databases import QueryError
from birdenv.databases.cache import Key
from birdenv.databases.sqlite import FileId
from birdenv.errors import InputError
from birdenv.grading._fetched_rows import FetchedRows
from birdenv.grading._result_bytes import decoded, encoded
from birdenv.grading._second_run import SECOND_TIME

_OURS: Final = 0x62697264  # "bird", SQLite's application_id
_LAYOUT: Final = 1
_TABLES: Final = f"""
    PRAGMA application_id = {_OURS};
    PRAGMA user_version = {_LAYOUT};
    CREATE TABLE IF NOT EXISTS result (key BLOB PRIMARY KEY, size INT, used INT, value BLOB);
    CREATE INDEX IF NOT EXISTS result_used ON result (used, size);
    CREATE TABLE IF NOT EXISTS digest (file TEXT PRIMARY KEY, digest TEXT);
"""

_MOST_BYTES: Final = 2**30
_MOST_OF_ONE: Final = 32 * 2**20
_WAITING_BYTES: Final = 2 * 2**20  # results that are written together, at most
_BUSY_SECONDS: Final = 20.0
_SETTLED_NS: Final = 2 * 10**9  # a file that changed within so long may change again at the same time stamp
_HOUR: Final = 3600
_THE_MACHINES: Final = re.compile(
    "the process that ran it|out of memory|disk|malformed|unable to open|locked|private image|read-?only"
)
"""Errors that another try may not have, besides timeouts."""


def digest_of_key(key: Key, contents: str) -> bytes:
    """Make a digest of everything that a result depends on, but for the time limit, which cuts nothing.

    Args:
        key: the key.
        contents: the SHA-256 of the database's contents.
    """
    limits = key.scope.limits
    text = json.dumps([key.scope.engine, contents, limits.rows, limits.bytes, *key[1:]])
    return hashlib.sha256(text.encode()).digest()


class ResultStore:
    """A file of results; made if it is not there. May be used by several threads.

    `executed`: statements that were executed because their results were not here; `found`: those whose
    results were. `fault` says why the file is not used (any more), or what was set aside; else it is empty.

    Args:
        path: the file.
        most_bytes: of results that are kept; those that were used last stay.

    Raises `InputError` if the path is another program's database, or no place for a file.
    """

    def __init__(self, path: Path | str, most_bytes: int = _MOST_BYTES) -> None:
        self.path = Path(path).absolute()
        self.most_bytes = most_bytes
        self.executed = 0
        self.found = 0
        self.fault = ""
        self._lock = threading.RLock()
        self._waiting: dict[bytes, bytes] = {}
        self._waiting_bytes = 0
        self._used: set[bytes] = set()
        self._digests: dict[FileId, str] = {}
        self._total: int | None = None
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        with self._lock:
            self._connect()

    @property
    def is_usable(self) -> bool:
        """Whether results can be found and kept here at all."""
        with self._lock:
            return self._connect() is not None

    def find(self, key: Key) -> FetchedRows | QueryError | None:
        """Give the result of a query, if it did not take longer than its second run may take now.

        It is the caller's to change.
        """
        place = self._place(key)
        if place is None:
            return None
        with self._lock:
            data = self._waiting.get(place)
            if data is None:
                row = self._ask("SELECT value, used FROM result WHERE key = ?", (place,))
                if row is None:
                    return None
                data = row[0]
                if row[1] != _hour():
                    self._used.add(place)
        try:
            value = decoded(data)
        except ValueError:
            return None
        return None if value.elapsed > SECOND_TIME * key.scope.limits.seconds else value

    def keep(self, key: Key, value: object) -> None:
        """Remember the result of a query, unless it is too large or may be the machine's."""
        place = self._place(key)
        if place is None or not isinstance(value, FetchedRows | QueryError):
            return
        if isinstance(value, QueryError) and (
            value.kind == "timeout" or _THE_MACHINES.search(value.message) is not None
        ):
            return
        data = encoded(value)
        if data is None or len(data) > min(_MOST_OF_ONE, self.most_bytes):
            return
        with self._lock:
            self._waiting[place] = data
            self._waiting_bytes += len(data)
            if self._waiting_bytes > _WAITING_BYTES:
                self.flush()

    def digest(self, version: FileId, work_out: Callable[[], str]) -> str:
        """Give the digest of a version of a file, which is worked out once.

        Args:
            version: what the file system said before any byte was read.
            work_out: works the digest out of bytes that belong to this version.
        """
        known = self._digests.get(version)
        if known is not None:
            return known
        if version.journals:
            return work_out()  # its contents are not all in the file
        file = json.dumps(version.stable)
        with self._lock:
            row = self._ask("SELECT digest FROM digest WHERE file = ?", (file,))
        known = row[0] if row is not None and isinstance(row[0], str) else None
        if known is None:
            known = work_out()
            if time.time_ns() - max(version.modified_ns, version.changed_ns) < _SETTLED_NS:
                return known
            with self._lock:
                self._write("INSERT OR REPLACE INTO digest VALUES (?, ?)", [(file, known)])
        self._digests[version] = known
        return known

    def _place(self, key: Key) -> bytes | None:
        """Where the result of a query is; None for what is not kept here."""
        scope = key.scope
        if key.method != "query" or scope.digest is None:
            return None
        contents = scope.contents
        digest = self.digest(contents, scope.digest) if isinstance(contents, FileId) else scope.digest()
        return digest_of_key(key, digest)

    def flush(self) -> None:
        """Write what waits to be written; where there is too much, forget what was used longest ago."""
        with self._lock:
            waiting, used, now = self._waiting, self._used, _hour()
            self._waiting, self._used, self._waiting_bytes = {}, set(), 0
            if used:
                self._write("UPDATE result SET used = ? WHERE key = ?", [(now, key) for key in used])
            if not waiting:
                return
            self._write(
                "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)",
                [(key, len(data), now, data) for key, data in waiting.items()],
            )
            self._total = (self._total or 0) + sum(map(len, waiting.values()))
            if self._total > self.most_bytes:
                self._make_room()

    def close(self) -> None:
        """Write what waits, and close the file; the next use opens it again."""
        with self._lock:
            self.flush()
            if self._connection is not None and self._owner == os.getpid():
                # A process that has not closed it yet keeps SQLite from doing this by itself.
                self._ask("PRAGMA wal_checkpoint(PASSIVE)", ())
                self._connection.close()
            self._owner, self._connection = 0, None

    def count(self, *, executed: int = 0, found: int = 0) -> None:
        """Add to the two counts."""
        with self._lock:
            self.executed += executed
            self.found += found

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection | None:
        """The connection of this process; None where there cannot be one, which `fault` explains."""
        if self._owner == os.getpid():
            return self._connection
        self._owner, self._connection = os.getpid(), None  # after a fork too: the parent's is not for us
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._opened()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self._throw_away(str(error))
                self._owner, self._connection = os.getpid(), self._opened()
        except (sqlite3.Error, OSError) as error:
            self.fault = f"{self.path} cannot be used, results are not kept: {error}"
        return self._connection

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            (ours,) = connection.execute("PRAGMA application_id").fetchone()
            (layout,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            if tables and ours != _OURS:
                raise InputError(f"{self.path} is a database, and no store of results: name another file")
            if tables and layout != _LAYOUT:
                raise sqlite3.DatabaseError("it is of another version")
            # What a lost machine would lose of it does not matter: the newest results, or all of them.
            connection.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;")
            if not tables:
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            if self._total is None:
                (total,) = connection.execute("SELECT coalesce(sum(size), 0) FROM result").fetchone()
                self._total = int(total)
        except BaseException:
            connection.close()
            raise
        return connection

    def _throw_away(self, reason: str) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._owner, self._connection, self._total = 0, None, None
        with contextlib.suppress(OSError):
            self.path.replace(f"{self.path}.damaged")
        for suffix in ("-wal", "-shm", "-journal"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self.fault = f"{self.path} was damaged ({reason}): it is set aside, and results are kept anew"

    def _ask(self, sql: str, values: tuple[object, ...]) -> tuple[bytes, int] | None:
        connection = self._connect()
        if connection is None:
            return None
        try:
            row: tuple[bytes, int] | None = connection.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return row

    def _write(self, sql: str, rows: list[tuple[object, ...]]) -> None:
        connection = self._connect()
        if connection is None:
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(sql, rows)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                connection.rollback()
            self._give_up(error)

    def _make_room(self) -> None:
        """Keep what was used last, nine tenths of what may be kept."""
        self._write(
            "DELETE FROM result WHERE rowid IN (SELECT rowid FROM (SELECT rowid,"
            " sum(size) OVER (ORDER BY used DESC, rowid DESC) AS so_far FROM result) WHERE so_far > ?)",
            [(self.most_bytes * 9 // 10,)],
        )
        row = self._ask("SELECT coalesce(sum(size), 0), 0 FROM result", ())
        self._total = int(row[0]) if row is not None else 0

    def _give_up(self, error: sqlite3.Error) -> None:
        """A store that is torn is set aside; one that is busy or full misses this result."""
        if isinstance(error, sqlite3.OperationalError):
            self.fault = f"{self.path}: a result was not kept or not found: {error}"
        else:
            self._throw_away(str(error))


def _hour() -> int:
    return int(time.time()) // _HOUR
