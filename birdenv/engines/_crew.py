"""Workers that play episodes elsewhere: one that dies costs no other episode than its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from birdenv.engines._threads import in_flight
from birdenv.errors import BirdenvError, RunEndedError
from birdenv.runs.jobs import Job, JobResult, Work

TRIALS: Final = 3
"""How often an episode is begun whose worker dies; after the first time it has a worker of its own."""


class WorkerLostError(BirdenvError):
    """A worker has died, or cannot be reached any more; the message says how."""


class Worker(Protocol):
    """A process somewhere that has opened the work and plays jobs, several at a time from several threads."""

    def play(self, job: Job) -> JobResult:
        """Play a job. Raises `WorkerLostError`."""

    def end(self) -> None:
        """End the process at once, with all that it has started; jobs that it plays are lost."""


class Crew:
    """Workers that share the episodes in flight.

    When a worker dies, another takes its place, and each episode that it held is played again alone, in a
    worker of its own: one that ends its worker every time costs itself only.

    Args:
        work: the run.
        start: starts a worker that has opened the work. Raises `WorkerLostError` if it dies before, and
            `InputError` if it cannot open the work.
        count: the number of workers.
    """

    def __init__(self, work: Work, start: Callable[[Work], Worker], count: int) -> None:
        self._work = work
        self._start = start
        self._slots = [_Slot() for _ in range(count)]
        self._alive: set[Worker] = set()
        self._lock = threading.Lock()
        self._is_over = False

    def play_all(self, jobs: Iterator[Job], parallel: int) -> Iterator[JobResult]:
        """Play jobs, `parallel` at a time, and end the workers whatever happens."""
        try:
            yield from in_flight(self._play, jobs, parallel)
        finally:
            with self._lock:
                self._is_over = True
                alive = list(self._alive)
            for worker in alive:
                worker.end()

    def _play(self, job: Job) -> JobResult:
        with self._lock:
            slot = min(self._slots, key=lambda each: each.playing)
            slot.playing += 1
        try:
            with slot.starting:
                worker = slot.worker = slot.worker or self._started()
            try:
                return worker.play(job)
            except WorkerLostError as error:
                why = str(error)
            with slot.starting:
                if slot.worker is worker:
                    slot.worker = None
            self._end(worker)
            for _ in range(1, TRIALS):
                alone = self._started()
                try:
                    return alone.play(job)
                except WorkerLostError as error:
                    why = str(error)
                finally:
                    self._end(alone)
            return self._work.lost(job, f"{TRIALS} workers were lost in this episode; the last: {why}")
        finally:
            with self._lock:
                slot.playing -= 1

    def _started(self) -> Worker:
        why = "the run is over"
        for _ in range(TRIALS):
            if self._is_over:
                break
            try:
                worker = self._start(self._work)
            except WorkerLostError as error:
                why = str(error)
                continue
            with self._lock:
                self._alive.add(worker)
                if not self._is_over:
                    return worker
            self._end(worker)
        raise RunEndedError(f"no worker can be started: {why}")

    def _end(self, worker: Worker) -> None:
        with self._lock:
            self._alive.discard(worker)
        worker.end()


class _Slot:
    """The place of a worker, which is started when the first job comes to it."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.playing = 0
        self.starting = threading.Lock()
