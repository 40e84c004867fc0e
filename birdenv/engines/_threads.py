"""Episodes in flight, and the engine `threads`, which plays them in the run's own process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.runs.jobs import Job, JobResult, Work


def in_flight(play: Callable[[Job], JobResult], jobs: Iterator[Job], count: int) -> Iterator[JobResult]:
    """Play jobs in `count` threads, and yield what became of each as it is known.

    A job is taken from the iterator, in the thread of the caller, when the caller has dealt with the result
    before. The threads are daemons, so that Ctrl-C never waits for the slowest statement.
    """
    if count <= 1:
        yield from map(play, jobs)
        return
    waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
    finished: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def thread() -> None:
        while (job := waiting.get()) is not None:
            try:
                finished.put(play(job))
            except BaseException as error:
                finished.put(error)

    started = playing = 0
    try:
        while True:
            if playing < count and (job := next(jobs, None)) is not None:
                if started == playing:
                    threading.Thread(target=thread, daemon=True).start()
                    started += 1
                waiting.put(job)
                playing += 1
                continue
            if not playing:
                return
            found = finished.get()
            playing -= 1
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        for _ in range(started):
            waiting.put(None)


class Threads:
    """Plays so many episodes at the same time, in threads; players may be objects.

    Args:
        parallel: episodes at the same time.
        address: must be None.
    """

    workers: Final = 1
    shares_process: Final = True

    def __init__(self, parallel: int, address: str | None = None) -> None:
        refuse_address(address, "threads")
        self._parallel = parallel

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        """Play all jobs."""
        return in_flight(work.play, jobs, self._parallel)


def refuse_address(address: str | None, engine: str) -> None:
    """Raise `InputError` if an address is given to an engine that has none."""
    if address is not None:
        raise InputError(f"an address says nothing to the engine {engine}: give --engine ray, too")
