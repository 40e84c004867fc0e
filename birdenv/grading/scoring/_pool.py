"""The processes that grade pairs: given work by the piece, replaced when they die, killed with their work."""

from __future__ import annotations

import contextlib
import mmap
import tempfile
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from birdenv.databases import Limits, QueryError
from birdenv.databases.sqlite import crash_error
from birdenv.errors import BirdenvError, InputError
from birdenv.grading._verdict import ExVerdict, verdict_of
from birdenv.grading.scoring._worker import PAGE, ScoringConfig, Work, running_on
from birdenv.processes._messages import packed, unpacked
from birdenv.processes._pool import Crash, WorkerGroup, WorkerPool
from birdenv.processes._process import Process

_REPLY_GRACE_SECONDS: Final = 60.0  # beyond all deadlines of a pair: comparing what it returned
_MOST_IDLE: Final = 8  # processes that are kept between two calls
_LONGEST_REPLY: Final = 2**30
_MOST_AHEAD: Final = 2**16  # bytes of work sent to a process that is busy: no more than its socket holds
_MOST_STARTUP_CRASHES: Final = 3  # in a row, of processes that had not begun to work


class Graded(NamedTuple):
    """What one of the processes has done. `wants_work`: it has one pair left, or none (`is_idle`)."""

    worker: int
    verdicts: list[tuple[int, ExVerdict, float]]
    executed: int
    found: int
    fault: str
    wants_work: bool
    is_idle: bool


class WorkerCrash(NamedTuple):
    """One of the processes has died, while it graded this pair (-1 if none) and ran this statement; what a
    grader has to take for the statement's result."""

    worker: int
    number: int
    statement: bytes
    error: QueryError


class ScoringWorker(Process):
    """One process, and the page of memory in which it says what it does."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            file.truncate(mmap.PAGESIZE)
            self.page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
            PAGE.pack_into(self.page, 0, -1, bytes(16))
            super().__init__("birdenv.grading.scoring._worker", [file.fileno()])

    def rest(self) -> None:
        """Let it forget everything, until it is prepared again."""
        self.send(packed(("rest", None)))


pool: Final = WorkerPool(ScoringWorker, _MOST_IDLE)


class ScoringPool:
    """So many processes with the same setting, numbered from 0; a context manager that ends those that are
    at work."""

    def __init__(self, setting: ScoringConfig, size: int) -> None:
        self._limits = Limits(*setting.limits)
        self._startup_crashes = 0
        prepare = packed(("setting", setting.plain()))
        self.group = WorkerGroup(pool, size, lambda worker: worker.send(prepare), ScoringWorker.rest)

    def __enter__(self) -> ScoringPool:
        self.group.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.group.__exit__()

    def give(self, worker: int, work: Sequence[Work]) -> bool:
        """Let it grade pairs, after those that it has; False if they are too much to be sent ahead."""
        message = packed(("pairs", list(work)))
        if self.group.items(worker) and len(message) > _MOST_AHEAD:
            return False
        statements = max(len(golds) for _, _, golds, _, _ in work) + 2
        self.group.send(worker, message, _REPLY_GRACE_SECONDS + statements * (self._limits.wall_seconds + 1))
        return True

    def finish(self) -> str:
        """Let them write down what they keep, when they have nothing more to do; what went wrong with it."""
        for worker in self.group.workers:
            self.group.send(worker, packed(("finish", None)), _REPLY_GRACE_SECONDS)
        faults = []
        while any(map(self.group.items, self.group.workers)):
            for worker, message in self.group.wait(_LONGEST_REPLY):
                if isinstance(message, Crash):  # it keeps nothing more
                    continue
                with contextlib.suppress(ValueError):
                    faults.append(str(unpacked(message)[1]))
                self.group.finish_item(worker)
        return next(filter(None, faults), "")

    def wait(self) -> Iterator[Graded | WorkerCrash]:
        """What has happened, at least one thing. Raises `InputError` if a database cannot be used, and
        `BirdenvError` if processes cannot live here or meet a fault of ours."""
        for worker, message in self.group.wait(_LONGEST_REPLY):
            if isinstance(message, Crash):
                yield self._crash(worker, message)
            else:
                yield self._read(worker, message)

    def _read(self, worker: int, message: bytes) -> Graded | WorkerCrash:
        try:
            kind, body = unpacked(message)
            if kind == "input_error":
                raise InputError(str(body))
            if kind == "broken":
                raise BirdenvError(f"grading failed in a worker process:\n{body}")
            done, (executed, found), fault, left = body
            verdicts = [(int(number), verdict_of(plain), float(took)) for number, plain, took in done]
        except (ValueError, TypeError) as error:
            return self._crash(worker, self.group.reject(worker, f"its answer made no sense: {error}"))
        self._startup_crashes = 0
        batches = self.group.items(worker) if left else self.group.finish_item(worker)
        wants_work = not batches or (left == 1 and batches == 1)
        return Graded(worker, verdicts, int(executed), int(found), str(fault), wants_work, not batches)

    def _crash(self, worker: int, crash: Crash[ScoringWorker]) -> WorkerCrash:
        number, statement = running_on(crash.worker.page)
        crash.worker.page.close()
        self._startup_crashes = self._startup_crashes + 1 if number < 0 else 0
        if self._startup_crashes >= _MOST_STARTUP_CRASHES:
            raise BirdenvError(f"worker processes die before they do anything: {crash.error}")
        return WorkerCrash(worker, number, statement, crash_error(crash.error, self._limits))
