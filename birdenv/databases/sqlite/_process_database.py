"""An episode's database whose statements run in worker processes.

While nothing is written, any worker may run the next statement. The first one that writes moves the episode
to an image in the worker that ran it, and the episode keeps that worker until it is closed or restored.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, cast

from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, Result, Scope
from birdenv.databases.sqlite._file import FileId, SqliteFile
from birdenv.databases.sqlite._worker import Answer, OpenedEpisode, answer_of
from birdenv.databases.sqlite.images._protocol import ImageKind
from birdenv.databases.sqlite.images._scratch import sweep
from birdenv.errors import InfrastructureError
from birdenv.processes.pool import ProcessPool, memory_left
from birdenv.processes.process import ChildProcess, Death

MOST_WORKERS: Final = os.cpu_count() or 1
"""Workers of this process that run reading statements, at most; grading has as many of its own."""

_MOST_IDLE: Final = 8 * MOST_WORKERS  # that episodes which wrote have left, for the next ones

workers: Final = ProcessPool(
    lambda: ChildProcess("birdenv.databases.sqlite._worker"), MOST_WORKERS, _MOST_IDLE
)
"""Each runs one statement at a time, and is killed without regret."""

_FRAME_BYTES: Final = 64 * 2**20  # what a reply may have besides the rows that the limits allow
_REPLY_GRACE_SECONDS: Final = 60.0  # beyond all limits: for making an image, and moving rows
_SPARE_BYTES: Final = 256 * 2**20  # of memory that episodes leave to the machine


class ProcessDatabase:
    """One episode's database: private to the episode and fully writable, every statement under limits.

    SQL never raises: it gives a `QueryResult` or a `QueryError`. A statement that nothing else can stop costs
    its worker: the answer is a `timeout` that says so, and the episode goes on from its last checkpoint
    (`checkpoint`, `restore`), or from the file.

    Used by one thread at a time, but for `close`: another thread may close the database while a statement
    runs, which ends the statement. Using a closed database raises `ValueError`. All methods raise
    `InfrastructureError` where no process can be started, and where the machine has no memory for one more
    episode that writes.
    """

    def __init__(self, file: SqliteFile, limits: Limits, image_kind: ImageKind = "auto") -> None:
        self._file = file
        self._limits = limits
        self._seconds = limits.wall_seconds_in_all + _REPLY_GRACE_SECONDS
        self._episode = _pickled(file.version, file.image_path, limits, image_kind)
        self._scope = file.scope(limits)
        self._worker: ChildProcess | None = None  # which holds the episode's image
        self._busy: ChildProcess | None = None  # which runs a statement now
        self._start: Checkpoint | None = None  # what the episode goes on from while no worker holds it
        self._lock = threading.Lock()  # of who talks
        self._owner = os.getpid()
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Return whether the episode has an image of its own by now."""
        return self._worker is not None or self._start is not None

    @property
    def scope(self) -> Scope | None:
        """Return what results depend on while the episode has written nothing; None after that."""
        return None if self.is_private else self._scope

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """See `SqliteDatabase.execute`."""
        return cast(Result, self._ask("execute", sql, _checked(rows)))

    def query(self, sql: str, rows: int | None = None) -> Result:
        """See `SqliteDatabase.query`."""
        return cast(Result, self._ask("query", sql, _checked(rows)))

    def run(self, statements: Iterable[str]) -> Result:
        """See `SqliteDatabase.run`."""
        return cast(Result, self._ask("run", tuple(statements)))

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """See `SqliteDatabase.state`."""
        return cast("DatabaseState | QueryError", self._ask("state", like))

    def checkpoint(self) -> Checkpoint | QueryError:
        """See `SqliteDatabase.checkpoint`."""
        made = cast("Checkpoint | QueryError", self._ask("checkpoint"))
        if isinstance(made, Checkpoint):
            self._start = made if made.size else None
        return made

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """See `SqliteDatabase.restore`."""
        self._check_open()
        if checkpoint.version != self._file.version:
            raise ValueError("the checkpoint belongs to another database, or to another version of its file")
        self._look_for_fork()
        with self._lock:
            self._let_go()
            self._start = checkpoint if checkpoint.size else None
            return self._resume()

    def close(self) -> None:
        """Throw the episode's changes away; closing again does nothing.

        Any thread may close the database. A statement that runs in another one is ended.
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

    def __enter__(self) -> ProcessDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("this database is closed")

    def _look_for_fork(self) -> None:
        """In a forked child, leave the lock to the parent: the thread that may hold it is not here."""
        if self._owner != os.getpid():
            self._owner, self._lock, self._busy = os.getpid(), threading.Lock(), None

    def _ask(self, method: str, *arguments: Any) -> Answer:
        self._check_open()
        self._look_for_fork()
        with self._lock:
            return self._resume() or self._call(method, arguments)

    def _resume(self) -> QueryError | None:
        """Bring what the episode starts from into a worker, if it is in none."""
        if self._worker is not None or self._start is None:
            return None
        return cast("QueryError | None", self._call("restore", (self._start,)))

    def _call(self, method: str, arguments: tuple[Any, ...]) -> Answer:
        kept, self._worker = self._worker, None  # until it has answered
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
            worker.kill()  # Ctrl-C, or the file cannot be used any more
            workers.release(worker)
            raise
        finally:
            self._busy = None
        if isinstance(found, Death):
            workers.release(worker)
            sweep()  # the private files that it may have had
            self._check_open()
            lost = "; what the episode had changed since its last checkpoint is lost" if kept else ""
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
                "there is no memory for one more episode that writes: each has a process of its own, and this"
                f" machine has {left >> 20} MiB left; close some, or run fewer at a time"
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
    """Return what a statement under `limits` gives whose worker has died."""
    if death.was_late:
        by_processor = death.exit_code == -signal.SIGPROF
        seconds = limits.seconds if by_processor else limits.wall_seconds
        time_of = "CPU time" if by_processor else "wall time"
        message = f"stopped after {seconds:g} s of {time_of} by ending the process that ran it{lost}"
        return QueryError("timeout", message, seconds)
    return QueryError("engine", f"the process that ran it died: {death.reason}{lost}")


def _checked(rows: int | None) -> int | None:
    if rows is not None and rows < 0:
        raise ValueError(f"rows cannot be negative: {rows}")
    return rows
