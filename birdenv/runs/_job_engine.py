"""Job engines: how a run maps its jobs.

A job engine is called as `map` is, with a function and jobs, and gives the results in any order, such as
`concurrent.futures.ProcessPoolExecutor().map`. Function and jobs are plain values that can be pickled.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from birdenv.dialogue.record import Records
from birdenv.runs._jobs import Job

JobEngine: TypeAlias = Callable[[Callable[[Job], Records], Sequence[Job]], Iterable[Records]]
"""Maps a function over jobs."""


def threads(count: int) -> JobEngine:
    """Return the engine that plays `count` jobs at the same time, in threads of this process.

    The threads are daemons, so that Ctrl-C never waits for the slowest statement.
    """

    def engine(work: Callable[[Job], Records], jobs: Sequence[Job]) -> Iterator[Records]:
        if count <= 1:
            yield from map(work, jobs)
            return
        pending: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            pending.put(job)
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        stopped = threading.Event()

        def thread() -> None:
            while not stopped.is_set():
                try:
                    finished.put(work(pending.get_nowait()))
                except queue.Empty:
                    return
                except BaseException as error:
                    finished.put(error)

        for _ in range(min(count, len(jobs))):
            threading.Thread(target=thread, daemon=True).start()
        try:
            for _ in jobs:
                found = finished.get()
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            stopped.set()

    return engine
