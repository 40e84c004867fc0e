"""The engine `threads`: all episodes in threads of the run's own process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from birdenv.engines._crew import in_flight
from birdenv.errors import InputError
from birdenv.runs.jobs import Job, JobResult, Work


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
