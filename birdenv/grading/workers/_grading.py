"""Send grading jobs to worker processes. A job that kills its worker does not affect other jobs."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from mmap import PAGESIZE
from typing import Any, Final, TypeAlias

from birdenv.databases import Checkpoint, DatabaseSource, DatedSource, QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite import FileId, SqliteFileSource, crash_error
from birdenv.errors import BirdenvError, InfrastructureError
from birdenv.grading._answer_cleaning import Cleaned
from birdenv.grading._ex import ExVerdict, ShownCell
from birdenv.grading._gold_check import GoldCheck
from birdenv.grading.em_esm._pair_rules import PairVerdict
from birdenv.grading.interact._job import Grade
from birdenv.grading.workers._graded import NO_STATEMENT, Files, Graded, GradingSettings, OwnedServer, Page
from birdenv.grading.workers._server_source import AnsweringSource, CheckpointNumber
from birdenv.processes.child import OUT_OF_MEMORY
from birdenv.processes.pool import ProcessPool
from birdenv.processes.process import ChildProcess, Death

Uncompared: TypeAlias = Callable[[str], Any]
"""Returns the verdict for rows that could not be compared, for the given reason."""

COMPARING_SECONDS = 30.0
"""The limit on the CPU time between two statements, which is mostly spent on comparing rows."""

_WORKERS: Final = os.cpu_count() or 1
_WAITING_WORKERS: Final = 4 * _WORKERS  # workers that mostly wait for a server or for the owner
_STATEMENTS: Final = 40  # per job, for the time to wait for an answer; the worker has its own limits
_GRACE_SECONDS: Final = 60.0
_LONGEST_ANSWER: Final = 2**30
_MOST_DEATHS: Final = 8  # of workers for one job, which has fewer statements that can end a worker
_MOST_STARTUP_DEATHS: Final = 3  # of workers in a row, before they have begun a job
_NO_MEMORY: Final = "there is no memory left for grading: run fewer episodes at a time, or try again"
_CLASSES: Final = frozenset(
    {
        Checkpoint,
        Cleaned,
        ExVerdict,
        FileId,
        GoldCheck,
        Grade,
        Graded,
        PairVerdict,
        QueryError,
        QueryResult,
        ShownCell,
        CheckpointNumber,
    }
)


class GradingProcess(ChildProcess):
    """A worker process, with the shared memory page where it records what it is doing."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            file.truncate(PAGESIZE)
            self.page = Page(file.fileno())
            super().__init__("birdenv.grading.workers._worker", [file.fileno()], classes=_CLASSES)


_pool: Final = ProcessPool(GradingProcess, _WORKERS)
_waiting_pool: Final = ProcessPool(GradingProcess, _WAITING_WORKERS)


def places_of(source: DatabaseSource) -> Files | OwnedServer:
    """Return a description of the source for a worker.

    The worker opens SQLite files itself. For databases on a server, it sends its SQL to its parent.
    """
    if isinstance(source, DatedSource) and isinstance(places := places_of(source.source), Files):
        return replace(places, today=source.today)
    if isinstance(source, SqliteSource):
        file = source.file if isinstance(source, SqliteFileSource) else None
        return Files(source.root, file, source.image)
    return OwnedServer(source.dialect)


class Grading:
    """A thread-safe dispatcher that sends jobs of one kind to worker processes.

    Args:
        settings: the databases, the limits and the grader.
        uncompared: a function that returns the result of a job whose rows could not be compared, because the
            worker died or was too slow while no statement was running.
        source: the databases, if they are on a server; this process then runs the workers' SQL.
        answer: a function that answers the workers' questions if `source` is None.
    """

    def __init__(
        self,
        settings: GradingSettings,
        uncompared: Uncompared,
        source: DatabaseSource | None = None,
        answer: Callable[[Any], Any] | None = None,
    ) -> None:
        self._settings = pickle.dumps(settings)
        self._limits = settings.limits
        self._uncompared = uncompared
        self._source = source if isinstance(settings.source, OwnedServer) else None
        self._answer = answer
        self._at_work: set[GradingProcess] = set()
        self._is_stopped = False
        self._pool = _pool if isinstance(settings.source, Files) else _waiting_pool

    def stop(self) -> None:
        """End all workers that are doing jobs for this object, in any thread, and start no more jobs."""
        self._is_stopped = True
        for process in list(self._at_work):
            process.strike()
        self._pool.look_again()

    def do(self, jobs: Sequence[tuple[Any, ...]]) -> list[Graded]:
        """Do jobs, and return their results in order. Return an empty list after `stop`.

        Each job is a tuple of arguments for the grader. If a limit kills the worker while a statement is
        running, the job is repeated with an error as the result of that statement. If the worker dies for a
        different reason, such as lack of memory, the job is repeated once in a new worker.

        Raises:
            InputError: a database cannot be opened.
            InfrastructureError: no worker can be started, a server is lost, or there is not enough memory.
        """
        known: list[dict[bytes, QueryError]] = [{} for _ in jobs]
        given_up: dict[int, Graded] = {}
        repeated: set[int] = set()
        startup_deaths = 0
        while not self._is_stopped:
            left = [number for number in range(len(jobs)) if number not in given_up]
            found = self._try([(number, jobs[number], known[number]) for number in left])
            if isinstance(found, list):
                done = given_up | dict(zip(left, found, strict=True))
                return [self._whole(done[number]) for number in range(len(jobs))]
            death, number, statement = found
            if number is None or number not in left:
                startup_deaths += 1
                if startup_deaths >= _MOST_STARTUP_DEATHS and not self._is_stopped:
                    raise BirdenvError(f"worker processes die as soon as they start: {death.reason}")
            elif not death.was_late and number not in repeated:
                repeated.add(number)
            elif death.exit_code == OUT_OF_MEMORY and statement == NO_STATEMENT:
                raise InfrastructureError(_NO_MEMORY)
            elif statement in (NO_STATEMENT, *known[number]) or len(known[number]) >= _MOST_DEATHS:
                given_up[number] = Graded(self._uncompared(_why(death)))
            else:
                known[number][statement] = crash_error(death, self._limits)
        return []

    def _whole(self, graded: Graded) -> Graded:
        return Graded(self._uncompared(graded.fault)) if graded.fault else graded

    def _try(self, jobs: list[Any]) -> list[Graded] | tuple[Death, int | None, bytes]:
        if not jobs:
            return []
        process = self._pool.lease(lambda: not self._is_stopped)
        if process is None:
            return Death("grading was stopped"), None, NO_STATEMENT
        self._at_work.add(process)
        if self._is_stopped:  # by a thread that did not know this process
            process.strike()
        seconds = _GRACE_SECONDS + len(jobs) * _STATEMENTS * self._limits.wall_seconds

        def call(sent: list[Any], answer: Callable[[Any], Any] | None) -> list[Graded] | Death:
            request = (self._settings, COMPARING_SECONDS, sent)
            return process.call(
                request, seconds=seconds, most_bytes=_LONGEST_ANSWER, read=_read, answer=answer
            )

        try:
            if self._source is None:
                found = call(jobs, self._answer)
            else:
                found = _with_server(AnsweringSource(self._source, process), jobs, call)
            return (found, *process.page.read()) if isinstance(found, Death) else found
        finally:
            self._at_work.discard(process)
            self._pool.release(process)


def _with_server(
    source: AnsweringSource, jobs: list[Any], call: Callable[..., list[Graded] | Death]
) -> list[Graded] | Death:
    """Send jobs to a worker with tokens in place of checkpoints, which must stay in this process."""
    with source as databases:
        sent = [
            (number, tuple(map(databases.with_token, arguments)), known) for number, arguments, known in jobs
        ]
        found = call(sent, databases.answer)
        return found if isinstance(found, Death) else list(map(databases.without_token, found))


def _read(values: Any) -> list[Graded]:
    if isinstance(values, list) and all(isinstance(value, Graded) for value in values):
        return values
    raise ValueError("not the results of jobs")


def _why(death: Death) -> str:
    if death.was_late:
        return f"the rows could not be compared within {COMPARING_SECONDS:g} s of CPU time"
    return f"the rows could not be compared: the process that compared them died: {death.reason}"
