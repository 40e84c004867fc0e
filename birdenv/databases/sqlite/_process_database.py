"""An episode's database whose statements run in worker processes.

While nothing is written any worker may run the next statement. The first one that writes moves the episode to
an image in the worker that ran it, and the episode keeps that worker to its end.

Worker processes: started when they are needed, used by one statement at a time, killed without regret.
"""

from __future__ import annotations

import atexit
import os
import pickle
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, cast

from birdenv.databases._fetching import RowSink
from birdenv.databases._results import DatabaseState, Limits, QueryError, Result, Scope
from birdenv.databases.sqlite._file import SqliteFile
from birdenv.databases.sqlite._worker import (
    ANSWERED,
    BEGINS,
    GO_ON,
    ROWS,
    STOP,
    UNUSABLE,
    Answer,
    Episode,
    decoded,
    receive,
    send,
    unpacked,
)
from birdenv.databases.sqlite.images._file import sweep
from birdenv.databases.sqlite.images._image import Checkpoint, ImageKind
from birdenv.errors import InputError
from birdenv.processes._process import WorkerDiedError, WorkerProcess

_FRAME_BYTES: Final = 64 * 2**20  # what a reply may have besides the rows that the limits allow


class Worker(WorkerProcess):
    """One process that runs statements."""

    def __init__(self) -> None:
        """Start it. Raises `InputError` if no process can be started."""
        super().__init__("birdenv.databases.sqlite._worker")

    def ask(
        self,
        episode: Episode | None,
        method: str,
        arguments: tuple[Any, ...],
        seconds: float,
        most_bytes: int,
        sink: RowSink | None = None,
    ) -> tuple[Answer, bool]:
        """The answer of the episode's database, and whether the episode now lives in this worker.

        `episode` is None where it does already. `sink` gets the rows of a `scan`. Raises `InputError` if the
        database cannot be used, and `WorkerDiedError` if the worker ends, or takes longer than `seconds`,
        which only a broken one does. Whatever else interrupts the waiting, the worker is killed.
        """
        if not self.is_ours:
            self.kill()
            raise WorkerDiedError("it belongs to the process that this one was forked from")
        try:
            self.connection.settimeout(seconds)
            send(self.connection, pickle.dumps((episode, method, arguments)))
            reply = receive(self.connection, most_bytes + _FRAME_BYTES)
            while sink is not None and reply[:1] in (BEGINS, ROWS):
                self._show(reply, sink)
                reply = receive(self.connection, most_bytes + _FRAME_BYTES)
            status, is_private, body = reply[:1], reply[1:2] == b"\1", reply[2:]
            if status == UNUSABLE:
                raise InputError(body.decode(errors="replace"))
            if status != ANSWERED:
                raise ValueError("an unknown kind of reply")
            return decoded(body), is_private
        except InputError:
            raise
        except TimeoutError:
            self.kill()
            raise WorkerDiedError("it did not answer", was_late=True) from None
        except (EOFError, OSError, ValueError) as error:
            self.kill()
            if isinstance(error, ValueError):
                raise WorkerDiedError(f"its answer made no sense: {error}") from error
            raise self.death() from None
        except BaseException:  # Ctrl-C: nobody waits for this answer any more
            self.kill()
            raise

    def _show(self, message: bytes, sink: RowSink) -> None:
        """Let the sink see a part of a scan's rows, and tell the worker whether to go on."""
        match message[:1], unpacked(message[1:]):
            case (b"\2", tuple() as columns):
                sink.begin(columns)
            case b"\3", list() as rows:
                send(self.connection, GO_ON if sink.see(rows) else STOP)
            case _:
                raise ValueError("not a part of a worker's answer")


class _Workers:
    """The idle workers of this process."""

    def __init__(self) -> None:
        self._idle: deque[Worker] = deque()

    def take(self) -> Worker:
        """An idle worker, or a new one; it is the caller's until it is given back."""
        while True:
            try:
                worker = self._idle.pop()
            except IndexError:
                return Worker()
            if worker.is_alive:
                return worker
            worker.kill()

    def give_back(self, worker: Worker) -> None:
        self._idle.append(worker)

    def end(self) -> None:
        """Kill the idle ones."""
        while self._idle:
            self._idle.pop().kill()


workers = _Workers()
atexit.register(workers.end)
os.register_at_fork(after_in_child=workers.end)


_PATIENCE_SECONDS: Final = 60.0  # beyond all limits: making an image, moving rows; then a worker is broken


class ProcessDatabase:
    """One episode's database, as `SqliteDatabase`, with statements that run elsewhere.

    A statement that no deadline can stop costs its worker: the answer is a `timeout` that says so, and the
    episode goes on from its last checkpoint (`checkpoint`, `restore`), or from the file.
    """

    def __init__(self, file: SqliteFile, limits: Limits, image_kind: ImageKind = "auto") -> None:
        self._file = file
        self._limits = limits
        self._episode = Episode(file.version, file.image_path, limits, image_kind)
        self._scope = file.scope(limits, "process")
        self._worker: Worker | None = None  # which holds the episode's image
        self._start: Checkpoint | None = None
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Whether the episode has an image of its own by now."""
        return self._worker is not None or self._start is not None

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
        self._let_worker_go()
        self._start = checkpoint if checkpoint.size else None
        return self._resume()

    def close(self) -> None:
        """Throw the episode's changes away; closing again does nothing."""
        self._let_worker_go()
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
        if self._worker is None and self._start is not None:
            failure = self._resume()
            if failure is not None:
                return failure
        return self._call(method, arguments, sink)

    def _resume(self) -> QueryError | None:
        """Bring the episode to where it starts from, in a worker of its own."""
        if self._start is None:
            return None
        return cast("QueryError | None", self._call("restore", (self._start,)))

    def _call(self, method: str, arguments: tuple[Any, ...], sink: RowSink | None = None) -> Answer:
        worker, self._worker = self._worker, None  # until it has answered
        episode = None if worker else self._episode
        had_image = worker is not None
        worker = worker or workers.take()
        patience = self._limits.seconds_in_all + _PATIENCE_SECONDS
        try:
            answer, is_private = worker.ask(episode, method, arguments, patience, self._limits.bytes, sink)
        except WorkerDiedError as death:
            return self._crash_error(death, had_image)
        if is_private:
            self._worker = worker
        else:
            workers.give_back(worker)
        return answer

    def _crash_error(self, death: WorkerDiedError, had_image: bool) -> QueryError:
        sweep()  # the private files that it may have had
        lost = "; what the episode had changed since its last checkpoint is lost" if had_image else ""
        if death.was_late:
            seconds = self._limits.seconds
            return QueryError(
                "timeout", f"stopped after {seconds:g} s by ending the process that ran it{lost}", seconds
            )
        return QueryError("engine", f"the process that ran it died: {death}{lost}")

    def _let_worker_go(self) -> None:
        if self._worker is not None:
            self._call("close", ())


def _checked(rows: int | None) -> int | None:
    if rows is not None and rows < 0:
        raise ValueError(f"rows cannot be negative: {rows}")
    return rows
