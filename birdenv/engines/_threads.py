"""The engine `threads`, which plays episodes in the run's own process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.runs.jobs import Job, JobResult, Work


def in_flight(play: Callable[[Job], JobResult], jobs: Iterator[Job], count: int) -> Iterator[JobResult]:
    """Play jobs in `count` threads, and yield each result as soon as its job is done.

    The iterator `jobs` runs in the caller's thread, and advances only after the caller has handled a result.
    The threads are daemons, so Ctrl-C ends the program without waiting for running statements.
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
    """The engine `threads`. Players can be any Python objects, because they stay in the run's own process.

    Args:
        parallel: the number of episodes to play at the same time.
        address: must be None.

    Attributes:
        workers: the number of processes that play episodes, always 1.
        shares_process: True, because episodes are played in the run's own process.
    """

    workers: Final = 1
    shares_process: Final = True

    def __init__(self, parallel: int, address: str | None = None) -> None:
        refuse_address(address, "threads")
        self._parallel = parallel

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        """Play all jobs, and yield their results."""
        return in_flight(work.play, jobs, self._parallel)


def refuse_address(address: str | None, engine: str) -> None:
    """Raise `InputError` if an address is given, because the engine does not use one."""
    if address is not None:
        raise InputError(
            f"the {engine!r} engine does not use an address: add --engine ray, or leave --address out"
        )
