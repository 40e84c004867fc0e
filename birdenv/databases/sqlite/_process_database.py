"""The SQLite database of one episode, whose statements run in worker processes.

While the episode has written nothing, any worker can run its next statement. The first writing statement
creates an image (a private copy) in its worker, and the episode keeps this worker until it is closed or
restored.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from birdenv.databases._limits import Limits
from birdenv.databases._protocols import EpisodeDatabase
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, Result, Scope
from birdenv.databases.sqlite._file import FileId, SqliteFile
from birdenv.databases.sqlite._worker import Answer, OpenedEpisode, answer_of
from birdenv.databases.sqlite.images._protocol import ImageKind
from birdenv.databases.sqlite.images._scratch import sweep
from birdenv.errors import InfrastructureError
from birdenv.processes.pool import ProcessPool, memory_left
from birdenv.processes.process import ChildProcess, Death

MOST_WORKERS: Final = os.cpu_count() or 1
"""Maximum number of workers that run reading statements. Grading has the same number of separate workers."""

_MOST_IDLE: Final = 8 * MOST_WORKERS  # workers of finished writing episodes, kept for the next ones

workers: Final = ProcessPool(
    lambda: ChildProcess("birdenv.databases.sqlite._worker"), MOST_WORKERS, _MOST_IDLE
)
"""The workers of this process. Each runs one statement at a time, and may be killed."""

_FRAME_BYTES: Final = 64 * 2**20  # of a reply, in addition to the rows that the limits allow
_REPLY_GRACE_SECONDS: Final = 60.0  # in addition to all limits, for making an image and transferring rows
_SPARE_BYTES: Final = 256 * 2**20  # of free memory that must remain


class ProcessDatabase(EpisodeDatabase):
    """The database of one episode, which is private and fully writable, with limits on every statement.

    A statement returns a `QueryResult` or a `QueryError`, and never raises an exception. If a statement
    cannot be interrupted, its worker is killed. The result is then a `timeout` error that says so, and the
    episode continues from its last `checkpoint` or `restore`, or otherwise from the unchanged file.

    Only one thread may use the database at a time, but any thread may close it, which ends the running
    statement. Using a closed database raises `ValueError`. All methods raise `InfrastructureError` if no
    process can be started, or if the machine lacks memory for one more writing episode.
    """

    def __init__(self, file: SqliteFile, limits: Limits, image_kind: ImageKind = "auto") -> None:
        self._file = file
        self._limits = limits
        self._seconds = limits.wall_seconds_in_all + _REPLY_GRACE_SECONDS
        self._episode = _pickled(file.version, file.image_path, limits, image_kind)
        self._scope = file.scope(limits)
        self._worker: ChildProcess | None = None  # holds the episode's image
        self._busy: ChildProcess | None = None  # runs a statement now
        self._start: Checkpoint | None = None  # where to continue if no worker holds the episode
        self._lock = threading.Lock()  # for requests to workers
        self._owner = os.getpid()
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Return whether the episode has written something, and therefore works on its own image."""
        return self._worker is not None or self._start is not None

    @property
    def scope(self) -> Scope | None:
        """Return everything that determines results, or None if the episode has written something."""
        return None if self.is_private else self._scope

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind in a worker, as `SqliteDatabase.execute` does."""
        return cast(Result, self._ask("execute", sql, _checked(rows)))

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one read-only query in a worker, as `SqliteDatabase.query` does."""
        return cast(Result, self._ask("query", sql, _checked(rows)))

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts in a worker, as `SqliteDatabase.run` does."""
        return cast(Result, self._ask("run", tuple(statements)))

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Return the committed schema and contents, as `SqliteDatabase.state` does."""
        return cast("DatabaseState | QueryError", self._ask("state", like))

    def checkpoint(self) -> Checkpoint | QueryError:
        """Return a checkpoint of the committed contents, as `SqliteDatabase.checkpoint` does."""
        made = cast("Checkpoint | QueryError", self._ask("checkpoint"))
        if isinstance(made, Checkpoint):
            self._start = made if made.size else None
        return made

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Restore the contents of a checkpoint, as `SqliteDatabase.restore` does."""
        self._check_open()
        if checkpoint.version != self._file.version:
            raise ValueError(
                "the checkpoint belongs to a different database, or to a different version of its file"
            )
        self._look_for_fork()
        with self._lock:
            self._let_go()
            self._start = checkpoint if checkpoint.size else None
            return self._resume()

    def close(self) -> None:
        """Close the database, discard the episode's changes, and end any running statement.

        Any thread may call this. Closing again does nothing.
        """
        self._is_closed = True
        self._look_for_fork()
        if not self._lock.acquire(blocking=False):
            while not self._lock.acquire(timeout=0.1):
                busy = self._busy
                if busy is not None:
                    busy.strike()
                workers.look_again()
        try:
            self._let_go()
        finally:
            self._lock.release()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("this database is closed")

    def _look_for_fork(self) -> None:
        """Create a new lock in a forked child, where the thread that held the old lock does not exist."""
        if self._owner != os.getpid():
            self._owner, self._lock, self._busy = os.getpid(), threading.Lock(), None

    def _ask(self, method: str, *arguments: Any) -> Answer:
        self._check_open()
        self._look_for_fork()
        with self._lock:
            return self._resume() or self._call(method, arguments)

    def _resume(self) -> QueryError | None:
        """If the worker of the episode is gone, restore the episode's checkpoint in a new worker."""
        if self._worker is not None or self._start is None:
            return None
        return cast("QueryError | None", self._call("restore", (self._start,)))

    def _call(self, method: str, arguments: tuple[Any, ...]) -> Answer:
        kept, self._worker = self._worker, None  # set again when it has answered
        worker = kept or workers.lease(lambda: not self._is_closed)
        if worker is None:
            raise ValueError("this database is closed")
        self._busy = worker
        try:
            found = worker.call(
                (None if kept else self._episode, method, arguments),
                seconds=self._seconds,
                most_bytes=self._limits.bytes + _FRAME_BYTES,
                read=_read,
            )
        except BaseException:
            worker.kill()  # Ctrl-C, or the file has become unusable
            workers.release(worker)
            raise
        finally:
            self._busy = None
        if isinstance(found, Death):
            workers.release(worker)
            sweep()  # removes the worker's private files
            self._check_open()
            lost = "; the changes since the last checkpoint of the episode are lost" if kept else ""
            return crash_error(found, self._limits, lost)
        is_private, answer = found
        if not is_private:
            workers.release(worker)
        else:
            self._worker = worker
            if kept is None:
                workers.take_out(worker)
                self._check_memory()
        return answer

    def _check_memory(self) -> None:
        left = memory_left()
        if left is not None and left < _SPARE_BYTES:
            self._let_go()
            raise InfrastructureError(
                "there is not enough memory for another episode that writes, because each needs its own "
                f"process: this machine has {left >> 20} MiB left; close some episodes, or run fewer at once"
            )

    def _let_go(self) -> None:
        self._start = None
        worker, self._worker = self._worker, None
        if worker is None:
            return
        found = worker.call((None, "close", ()), seconds=_REPLY_GRACE_SECONDS, read=_read)
        if isinstance(found, Death):
            sweep()
        workers.release(worker)


@lru_cache(maxsize=64)
def _pickled(version: FileId, image_path: Path, limits: Limits, image_kind: ImageKind) -> bytes:
    return pickle.dumps(OpenedEpisode(version, image_path, limits, image_kind))


def _read(values: Any) -> tuple[bool, Answer]:
    is_private, answer = values
    return bool(is_private), answer_of(answer)


def crash_error(death: Death, limits: Limits, lost: str = "") -> QueryError:
    """Return the error for a statement whose worker has died.

    The message ends with `lost`, which says what the episode has lost.
    """
    if death.was_late:
        by_processor = death.exit_code == -signal.SIGPROF
        seconds = limits.seconds if by_processor else limits.wall_seconds
        time_of = "CPU time" if by_processor else "wall time"
        message = (
            f"stopped after {seconds:g} s of {time_of} by killing the process that ran the statement{lost}"
        )
        return QueryError("timeout", message, seconds)
    return QueryError("engine", f"the process that ran the statement died: {death.reason}{lost}")


def _checked(rows: int | None) -> int | None:
    if rows is not None and rows < 0:
        raise ValueError(f"rows cannot be negative: {rows}")
    return rows
