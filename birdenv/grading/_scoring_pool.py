"""The processes that grade pairs: given work by the piece, replaced when they die, killed with their work."""

from __future__ import annotations

import contextlib
import mmap
import os
import selectors
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from birdenv.databases import (
    ISOLATIONS,
    QueryError,
    WorkerDiedError,
    WorkerProcess,
    packed,
    receive,
    send,
    unpacked,
)
from birdenv.errors import BirdenvError, InputError
from birdenv.grading._scoring_worker import PAGE, ScoringConfig, Work, running_on
from birdenv.grading._verdict import ExVerdict, verdict_of

_PATIENCE_SECONDS: Final = 60.0  # beyond all deadlines of a pair: comparing what it returned
_MOST_IDLE: Final = 8  # processes that are kept between two crews, of each isolation
_LONGEST_REPLY: Final = 2**30
_MOST_AHEAD: Final = 2**16  # bytes of work sent to a process that is busy: no more than its socket holds
_MOST_STILLBORN: Final = 3  # deaths in a row of processes that had not begun to work


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


class _Grader(WorkerProcess):
    """One process, and the page of memory in which it says what it does."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            file.truncate(mmap.PAGESIZE)
            self.page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
            PAGE.pack_into(self.page, 0, -1, bytes(16))
            super().__init__("birdenv.grading._scoring_worker", [file.fileno()])
        # Ctrl-C may come anywhere, also where processes are ended: none outlives what knows of it.
        weakref.finalize(self, _end_process, self._process, os.getpid())
        self.deadline = float("inf")
        self.patience = float("inf")
        self.batches = 0  # that it has been sent and has not finished

    def prepare(self, setting: ScoringConfig) -> None:
        with contextlib.suppress(OSError):  # it has died, which will be seen
            send(self.connection, packed(("setting", setting.plain())))

    def rest(self) -> None:
        """Let it forget everything, until it is prepared again."""
        send(self.connection, packed(("rest", None)))

    def strike(self) -> None:
        """Kill it without waiting for its end."""
        if self.is_ours:
            self._process.kill()

    def end(self) -> None:
        self.kill()
        if self.is_ours:
            self.page.close()

    def begin(self, work: bytes, seconds: float) -> None:
        """Send it work, for whose next part it gets so many seconds."""
        self.patience = max(seconds, self.patience) if self.batches else seconds
        self.deadline = time.monotonic() + self.patience
        self.batches += 1
        self.connection.settimeout(self.patience)  # it may stand still with a message half sent
        send(self.connection, work)


class ScoringPool:
    """So many processes with the same setting, numbered from 0; a context manager that ends those that are
    at work."""

    def __init__(self, setting: ScoringConfig, size: int) -> None:
        self._setting = setting
        self._selector = selectors.DefaultSelector()
        self._graders: dict[int, _Grader] = {}
        self._startup_crashes = 0
        self._size = size

    def __enter__(self) -> ScoringPool:
        try:
            for worker in range(self._size):
                self._start(worker)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def give(self, worker: int, work: Sequence[Work]) -> bool:
        """Let it grade pairs, after those that it has; False if they are too much to be sent ahead."""
        grader = self._graders[worker]
        message = packed(("pairs", list(work)))
        if grader.batches and len(message) > _MOST_AHEAD:
            return False
        statements = max(len(golds) for _, _, golds, _, _ in work) + 2
        patience = _PATIENCE_SECONDS + statements * (self._setting.limits[0] + 1)
        with contextlib.suppress(OSError):  # it has died or stands still, which `wait` tells
            grader.begin(message, patience)
        return True

    def finish(self) -> str:
        """Let them write down what they keep, when they have nothing more to do; what went wrong with it."""
        for grader in self._graders.values():
            with contextlib.suppress(OSError):
                grader.deadline = time.monotonic() + _PATIENCE_SECONDS
                grader.connection.settimeout(_PATIENCE_SECONDS)
                send(grader.connection, packed(("finish", None)))
        faults = []
        for grader in self._graders.values():
            with contextlib.suppress(EOFError, OSError, ValueError):  # one that has died keeps nothing more
                faults.append(str(unpacked(receive(grader.connection, _LONGEST_REPLY))[1]))
                grader.deadline = float("inf")
        return next(filter(None, faults), "")

    def wait(self) -> Iterator[Graded | WorkerCrash]:
        """What has happened, at least one thing. Raises `InputError` if a database cannot be used, and
        `BirdenvError` if processes cannot live here or meet a fault of ours."""
        now = time.monotonic()
        soonest = min(grader.deadline for grader in self._graders.values())
        ready = self._selector.select(None if soonest == float("inf") else max(soonest - now, 0))
        for key, _ in ready:
            yield self._read(key.data)
        now = time.monotonic()
        for worker, grader in list(self._graders.items()):
            if now > grader.deadline and not ready:
                yield self._replace(worker, "it did not answer")

    def _read(self, worker: int) -> Graded | WorkerCrash:
        grader = self._graders[worker]
        try:
            kind, body = unpacked(receive(grader.connection, _LONGEST_REPLY))
            if kind == "input_error":
                raise InputError(str(body))
            if kind == "broken":
                raise BirdenvError(f"grading failed in a worker process:\n{body}")
            done, (executed, found), fault, left = body
            verdicts = [(int(number), verdict_of(plain), float(took)) for number, plain, took in done]
        except (EOFError, OSError):
            return self._replace(worker, "")
        except (ValueError, TypeError) as error:
            return self._replace(worker, f"its answer made no sense: {error}")
        self._startup_crashes = 0
        grader.batches -= left == 0
        is_idle = grader.batches == 0
        grader.deadline = float("inf") if is_idle else time.monotonic() + grader.patience
        wants_work = is_idle or (left == 1 and grader.batches == 1)
        return Graded(worker, verdicts, int(executed), int(found), str(fault), wants_work, is_idle)

    def _replace(self, worker: int, why: str) -> WorkerCrash:
        """End what is left of a process, and start another in its place."""
        grader = self._graders.pop(worker)
        number, statement = running_on(grader.page)
        self._selector.unregister(grader.connection)
        grader.end()
        death = WorkerDiedError(why, was_late=True) if why == "it did not answer" else grader.death()
        self._startup_crashes = self._startup_crashes + 1 if number < 0 else 0
        if self._startup_crashes >= _MOST_STILLBORN:
            raise BirdenvError(f"worker processes die before they do anything: {death}")
        self._start(worker)
        seconds = self._setting.limits[0]
        if death.was_late:
            error = QueryError(
                "timeout", f"stopped after {seconds:g} s by ending the process that ran it", seconds
            )
        else:
            error = QueryError("engine", f"the process that ran it died: {why or death}")
        return WorkerCrash(worker, number, statement, error)

    def _start(self, worker: int) -> None:
        grader = self._graders[worker] = _take(self._setting.isolation)
        grader.prepare(self._setting)
        self._selector.register(grader.connection, selectors.EVENT_READ, worker)

    def _end(self) -> None:
        """Those that have nothing to do are kept for the next pool, the others killed."""
        self._selector.close()
        idle = _idle[self._setting.isolation]
        busy = [grader for grader in self._graders.values() if grader.deadline != float("inf")]
        for grader in busy:
            grader.strike()  # all of them first: who waits types Ctrl-C again
        while self._graders:
            _, grader = self._graders.popitem()
            if grader not in busy and len(idle) < _MOST_IDLE:
                with contextlib.suppress(OSError):
                    grader.rest()
                    idle.append(grader)
                    continue
            grader.end()


def _end_process(process: subprocess.Popen[bytes], owner: int) -> None:
    if owner == os.getpid():
        process.kill()
        process.wait()


_idle: dict[str, list[_Grader]] = {isolation: [] for isolation in ISOLATIONS}


def _take(isolation: str) -> _Grader:
    """One that has nothing to do, or a new one. Isolated ones have limits that the others have not."""
    while True:
        try:
            grader = _idle[isolation].pop()
        except IndexError:  # not asked before: another thread may take the last one
            return _Grader()
        if grader.is_alive:
            return grader
        grader.end()


def _end_idle() -> None:
    for graders in _idle.values():
        while graders:
            graders.pop().end()


os.register_at_fork(after_in_child=_end_idle)
