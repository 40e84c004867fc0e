"""Workers that play episodes in other processes. An episode that kills its worker harms no other episode."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from birdenv.engines._threads import in_flight
from birdenv.errors import BirdenvError, RunEndedError
from birdenv.runs.jobs import Job, JobResult, Work

TRIALS: Final = 3
"""How often an episode is tried if its worker dies. All trials but the first have a worker of their own."""


class WorkerLostError(BirdenvError):
    """A worker has died or can no longer be reached. The message says what happened."""


class Worker(Protocol):
    """A process that has opened the work, on this or another machine. Several threads may give it jobs."""

    def play(self, job: Job) -> JobResult:
        """Play a job. Raises `WorkerLostError` if the worker is lost."""

    def end(self) -> None:
        """End the worker's process and its children at once. Jobs in progress are lost."""


class Crew:
    """Workers that share the episodes in flight.

    When a worker dies, another worker takes its place, and each episode that was in progress is played again
    in a worker of its own. So an episode that always kills its worker does not affect other episodes.

    Args:
        work: the work of the run.
        start: starts a worker, and returns it when it has opened the work. Raises `WorkerLostError` if the
            worker dies first, and `InputError` if the worker cannot open the work.
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
        """Play jobs, `parallel` at a time, and yield their results. Finally, end all workers."""
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
    """The place of a worker, which is started for the first job."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.playing = 0
        self.starting = threading.Lock()
