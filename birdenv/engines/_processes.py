"""The engine `processes`, which plays episodes in several processes on this machine.

This engine is faster than `threads` when a single process cannot use all processors. `Processes` runs in the
main process of the run, and `main` in each worker.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, Final

from birdenv.engines._crew import Crew, WorkerLostError
from birdenv.engines._threads import refuse_address
from birdenv.processes.child import Owner
from birdenv.processes.process import ChildProcess, Death, SideChannel
from birdenv.runs.jobs import Job, JobResult, Work

MOST_BYTES: Final = 2**30
"""The maximum size of a message from a worker in bytes. A worker that exceeds it is terminated."""


class Processes:
    """The engine `processes`, with one worker process for each processor.

    Args:
        parallel: the number of episodes to play at the same time, across all processes.
        address: must be None.

    Attributes:
        workers: the number of worker processes.
    """

    def __init__(self, parallel: int, address: str | None = None) -> None:
        refuse_address(address, "processes")
        self._parallel = parallel
        self.workers = min(parallel, processors())

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        """Play all jobs, and yield their results."""
        return Crew(work, _Process, self.workers).play_all(jobs, self._parallel)


def processors() -> int:
    """Return the number of processors that this process can use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class _Process:
    """A worker process, with a connection for each thread that gives it jobs."""

    def __init__(self, work: Work) -> None:
        self._process = ChildProcess(__name__, sees="everything")
        self._opening = threading.Lock()
        self._local = threading.local()
        found = self._process.call((work,), most_bytes=MOST_BYTES)
        if isinstance(found, Death):
            raise WorkerLostError(f"a worker process was lost: {found.reason}")

    def play(self, job: Job) -> JobResult:
        found = self._channel().call((job,), most_bytes=MOST_BYTES, read=lambda value: JobResult(*value))
        if isinstance(found, Death):
            raise WorkerLostError(f"a worker process was lost: {found.reason}")
        return found

    def end(self) -> None:
        self._process.kill()

    def _channel(self) -> SideChannel:
        found: SideChannel | None = getattr(self._local, "channel", None)
        if found is None:
            with self._opening:
                try:
                    found = self._local.channel = self._process.open_channel()
                except OSError:
                    raise WorkerLostError(
                        f"a worker process was lost: {self._process.end().reason}"
                    ) from None
        return found


def main(owner: Owner) -> None:
    """Run a worker: open the work that the parent sends, and play jobs, with a thread for each connection."""
    worker = _Opened()
    if not owner.serve_once(worker.open):
        return
    while (connection := owner.accept()) is not None:
        threading.Thread(target=connection.serve, args=(worker.play,), daemon=True).start()
    worker.close()


class _Opened:
    """The work of a worker process."""

    _work: Work | None = None

    def open(self, work: Work) -> None:
        work.open()
        self._work = work

    def play(self, job: Job) -> list[Any]:
        assert self._work is not None
        return list(self._work.play(job))

    def close(self) -> None:
        if self._work is not None:
            self._work.close()
