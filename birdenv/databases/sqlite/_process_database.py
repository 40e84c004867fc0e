"""An episode's database whose statements run in worker processes.

While nothing is written any worker may run the next statement. The first one that writes moves the episode to
an image in the worker that ran it, and the episode keeps that worker until it ends or another episode needs
one: then the image is put aside, as a value here, and the next statement goes on from it in any worker. An
episode that has more than an image (a transaction, something temporary or attached, a setting) keeps its
worker to the end of that.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, cast

from birdenv.databases._fetching import RowSink
from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, Result, Scope
from birdenv.databases.sqlite._file import SqliteFile
from birdenv.databases.sqlite._worker import (
    ANSWERED,
    BEGINS,
    GO_ON,
    HAS_IMAGE,
    REPLY_GRACE_SECONDS,
    ROWS,
    SHARES,
    STOP,
    UNUSABLE,
    Answer,
    Episode,
    decoded,
)
from birdenv.databases.sqlite.images._parked import ParkedImage
from birdenv.databases.sqlite.images._protocol import ImageKind
from birdenv.databases.sqlite.images._scratch import sweep
from birdenv.errors import InputError
from birdenv.processes._messages import MessageError, unpacked
from birdenv.processes._process import WorkerCrashError
from birdenv.processes._shared_pool import SharedPool, SharedWorker

MOST_WORKERS: Final = 2 * (os.cpu_count() or 1)
workers: Final = SharedPool(lambda: SharedWorker("birdenv.databases.sqlite._worker"), MOST_WORKERS)
"""Each runs one statement at a time, and is killed without regret."""

_FRAME_BYTES: Final = 64 * 2**20  # what a reply may have besides the rows that the limits allow


class ProcessDatabase:
    """One episode's database, as `SqliteDatabase`, with statements that run elsewhere.

    A statement that nothing else can stop costs its worker: the answer is a `timeout` that says so, and the
    episode goes on from its last checkpoint (`checkpoint`, `restore`), or from the file.
    """

    def __init__(self, file: SqliteFile, limits: Limits, image_kind: ImageKind = "auto") -> None:
        self._file = file
        self._limits = limits
        self._episode = pickle.dumps(Episode(file.version, file.image_path, limits, image_kind))
        self._scope = file.scope(limits)
        self._worker: SharedWorker | None = None  # which holds the episode's image
        self._parked: ParkedImage | None = None  # the image, if no worker holds it
        self._start: Checkpoint | None = None  # what a lost episode goes on from
        self._lost: QueryError | None = None  # which the next statement is told
        self._lock = threading.RLock()  # of who talks: this episode's thread, or one that needs a worker
        self._gives_up = weakref.WeakMethod(self._give_up)
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Whether the episode has an image of its own by now."""
        return not (self._worker is None and self._parked is None and self._start is None)

    @property
    def scope(self) -> Scope | None:
        """What results depend on while the episode has written nothing; None after that."""
        return None if self.is_private else self._scope

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """See `SqliteDatabase.execute`."""
        return cast(Result, self._ask("execute", sql, _checked(rows)))

    def query(self, sql: str, rows: int | None = None) -> Result:
        """See `SqliteDatabase.query`."""
        return cast(Result, self._ask("query", sql, _checked(rows)))

    def scan(self, sql: str, sink: RowSink) -> Result:
        """See `SqliteDatabase.scan`."""
        return cast(Result, self._ask("scan", sql, sink=sink))

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
        with self._lock:
            self._let_image_go()
            self._start = checkpoint if checkpoint.size else None
            return self._resume()

    def close(self) -> None:
        """Throw the episode's changes away; closing again does nothing."""
        with self._lock:
            self._let_image_go()
        self._is_closed = True

    def __enter__(self) -> ProcessDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("this database is closed")

    def _ask(self, method: str, *arguments: Any, sink: RowSink | None = None) -> Answer:
        self._check_open()
        with self._lock:
            failure, self._lost = self._lost, None
            failure = failure or self._resume()
            return failure or self._call(method, arguments, sink)

    def _resume(self) -> QueryError | None:
        """Bring the episode's image, or what it starts from, into a worker, if it is in none."""
        if self._worker is not None:
            return None
        if self._parked is not None:
            failure = cast("QueryError | None", self._call("unpark", (self._parked,)))
            if failure is None:
                self._parked = None
            return failure
        if self._start is not None:
            return cast("QueryError | None", self._call("restore", (self._start,)))
        return None

    def _give_up(self) -> None:
        """Put the image aside and release the worker: another episode needs it, in whose thread this runs."""
        if not self._lock.acquire(blocking=False):
            return  # a statement is about to run
        try:
            if self._worker is None:
                return
            answer = self._call("park", ())
            if isinstance(answer, ParkedImage):
                self._parked = answer
            elif self._worker is None and isinstance(answer, QueryError):
                self._lost = answer
        finally:
            self._lock.release()

    def _call(self, method: str, arguments: tuple[Any, ...], sink: RowSink | None = None) -> Answer:
        worker, self._worker = self._worker, None  # until it has answered
        episode = None if worker else self._episode
        had_image = worker is not None or self._parked is not None
        if worker is None:
            worker = workers.lease()
        else:
            workers.resume(worker)
        try:
            answer, place = self._ask_worker(worker, (episode, method, arguments), sink)
        except WorkerCrashError as crash:
            workers.lost(worker)
            self._parked = None
            sweep()  # the private files that it may have had
            lost = "; what the episode had changed since its last checkpoint is lost" if had_image else ""
            return crash_error(crash, self._limits, lost)
        except BaseException:  # Ctrl-C, or a sink that fails: nobody waits for this answer any more
            worker.kill()
            workers.lost(worker)
            raise
        if place == SHARES:
            workers.release(worker)
        else:
            self._worker = worker
            can_park = place == HAS_IMAGE and method != "park"  # which has failed
            workers.keep(worker, self._gives_up if can_park else None)
        return answer

    def _ask_worker(
        self, worker: SharedWorker, request: tuple[Any, ...], sink: RowSink | None
    ) -> tuple[Answer, int]:
        """The answer, and what the episode has in this worker now.

        `sink` gets the rows of a `scan`. Raises `InputError` if the database cannot be used.
        """
        seconds = self._limits.wall_seconds_in_all + REPLY_GRACE_SECONDS
        most_bytes = self._limits.bytes + _FRAME_BYTES
        try:
            worker.send(pickle.dumps(request), time.monotonic() + seconds)
            while True:
                reply = worker.receive(most_bytes, time.monotonic() + seconds)
                kind, body = reply[:1], reply[1:]
                if sink is not None and kind in (BEGINS, ROWS):
                    goes_on = _show(kind, unpacked(body), sink)
                    if goes_on is not None:
                        worker.send(GO_ON if goes_on else STOP, time.monotonic() + seconds)
                elif kind == ANSWERED:
                    return decoded(body[1:]), body[0] if body else SHARES
                elif kind == UNUSABLE:
                    raise InputError(body[1:].decode(errors="replace"))
                else:
                    raise MessageError("an unknown kind of reply")
        except MessageError as error:
            raise worker.crash(f"its answer made no sense: {error}") from error

    def _let_image_go(self) -> None:
        self._parked = None
        if self._worker is not None:
            self._call("close", ())


def _show(kind: bytes, part: Any, sink: RowSink) -> bool | None:
    """Let the sink see a part of a scan's rows; whether to go on, None after the columns."""
    if kind == BEGINS and isinstance(part, tuple):
        sink.begin(part)
        return None
    if kind == ROWS and isinstance(part, list):
        return sink.see(part)
    raise MessageError("not a part of a worker's answer")


def crash_error(crash: WorkerCrashError, limits: Limits, lost: str = "") -> QueryError:
    """What a statement under `limits` gives whose worker has died."""
    if crash.was_late:
        by_processor = crash.exit_code == -signal.SIGPROF
        seconds = limits.seconds if by_processor else limits.wall_seconds
        time_of = "CPU time" if by_processor else "wall time"
        message = f"stopped after {seconds:g} s of {time_of} by ending the process that ran it{lost}"
        return QueryError("timeout", message, seconds)
    return QueryError("engine", f"the process that ran it died: {crash}{lost}")


def _checked(rows: int | None) -> int | None:
    if rows is not None and rows < 0:
        raise ValueError(f"rows cannot be negative: {rows}")
    return rows
