"""An episode's database whose statements run in worker processes.

While nothing is written any worker may run the next statement. The first one that writes moves the episode to
an image in the worker that ran it, and the episode keeps that worker to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, cast

from birdenv.databases._fetching import Seer
from birdenv.databases._image import Checkpoint, ImageKind
from birdenv.databases._limits import Limits
from birdenv.databases._results import QueryError, Result
from birdenv.databases._scratch import sweep
from birdenv.databases._sqlite_file import SqliteFile
from birdenv.databases._state import DatabaseState
from birdenv.databases._wire import Answer
from birdenv.databases._worker import Episode
from birdenv.databases._worker_pool import Worker, WorkerDiedError, workers

__all__ = ["RemoteDatabase"]

_PATIENCE_SECONDS: Final = 60.0  # beyond all limits: making an image, moving rows; then a worker is broken


class RemoteDatabase:
    """One episode's database, as `SqliteDatabase`, with statements that run elsewhere.

    A statement that no deadline can stop costs its worker: the answer is a `timeout` that says so, and the
    episode goes on from its last checkpoint (`checkpoint`, `restore`), or from the file.
    """

    def __init__(self, file: SqliteFile, limits: Limits, image_kind: ImageKind = "auto") -> None:
        self._file = file
        self._limits = limits
        self._episode = Episode(file.version, file.image_path, limits, image_kind)
        self._worker: Worker | None = None  # which holds the episode's image
        self._start: Checkpoint | None = None
        self._is_closed = False

    @property
    def is_private(self) -> bool:
        """Whether the episode has an image of its own by now."""
        return self._worker is not None or self._start is not None

    @property
    def contents(self) -> object:
        """The same object for all episodes on this version of the file."""
        return self._file

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """See `SqliteDatabase.execute`."""
        return cast(Result, self._ask("execute", sql, _checked(rows)))

    def query(self, sql: str, rows: int | None = None) -> Result:
        """See `SqliteDatabase.query`."""
        return cast(Result, self._ask("query", sql, _checked(rows)))

    def scan(self, sql: str, seer: Seer) -> Result:
        """See `SqliteDatabase.scan`."""
        return cast(Result, self._ask("scan", sql, seer=seer))

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

    def __enter__(self) -> RemoteDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("this database is closed")

    def _ask(self, method: str, *arguments: Any, seer: Seer | None = None) -> Answer:
        self._check_open()
        if self._worker is None and self._start is not None:
            failure = self._resume()
            if failure is not None:
                return failure
        return self._call(method, arguments, seer)

    def _resume(self) -> QueryError | None:
        """Bring the episode to where it starts from, in a worker of its own."""
        if self._start is None:
            return None
        return cast("QueryError | None", self._call("restore", (self._start,)))

    def _call(self, method: str, arguments: tuple[Any, ...], seer: Seer | None = None) -> Answer:
        worker, self._worker = self._worker, None  # until it has answered
        episode = None if worker else self._episode
        had_image = worker is not None
        worker = worker or workers.take()
        patience = self._limits.seconds_in_all + _PATIENCE_SECONDS
        try:
            answer, is_private = worker.ask(episode, method, arguments, patience, self._limits.bytes, seer)
        except WorkerDiedError as death:
            return self._obituary(death, had_image)
        if is_private:
            self._worker = worker
        else:
            workers.give_back(worker)
        return answer

    def _obituary(self, death: WorkerDiedError, had_image: bool) -> QueryError:
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
