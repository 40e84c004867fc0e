"""Workers that play episodes in other processes, so that an episode can kill only its own worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from birdenv.engines._threads import in_flight
from birdenv.errors import BirdenvError, RunEndedError
from birdenv.runs.jobs import Job, JobResult, Work

TRIALS: Final = 3
"""The number of attempts to play an episode whose worker dies. Each later attempt has a separate worker."""


class WorkerLostError(BirdenvError):
    """A worker has died or is no longer reachable."""


class Worker(Protocol):
    """A worker process on this or a different machine. Several threads can send it jobs at the same time."""

    def play(self, job: Job) -> JobResult:
        """Play a job, and return its result.

        Raises:
            WorkerLostError: the worker was lost.
        """

    def end(self) -> None:
        """End the worker's process and its children at once. Jobs in progress are lost."""


class Crew:
    """A group of workers that share the episodes of a run.

    When a worker dies, a new worker replaces it, and each of its unfinished episodes is played again in a
    separate worker. Therefore an episode that always kills its worker does not affect other episodes.

    Args:
        work: a description of the run, which every worker sets up by calling `work.open`.
        start: a function that starts a worker, and returns it once it has set up the run. It raises
            `WorkerLostError` if the worker dies first, and `InputError` if the worker cannot set up the run.
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
        """Play jobs, at most `parallel` at a time, and yield their results. At the end, stop all workers."""
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
            return self._work.lost(job, f"this episode lost {TRIALS} workers; the last error was: {why}")
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
        raise RunEndedError(f"cannot start a worker: {why}")

    def _end(self, worker: Worker) -> None:
        with self._lock:
            self._alive.discard(worker)
        worker.end()


class _Slot:
    """The place of one worker, which is started when it gets its first job."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.playing = 0
        self.starting = threading.Lock()
