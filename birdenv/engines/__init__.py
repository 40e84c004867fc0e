"""Engines, which play the episodes of a run.

The engine `threads` plays episodes in the run's own process, `processes` in other processes on this machine,
and `ray` on a cluster. Other packages can add engines with the entry-point group `birdenv.engines`. An entry
point names a function that takes the number of episodes to play at the same time and the value of
`--address`, and returns an `Engine`.

    def my_engine(parallel: int, address: str | None) -> Engine: ...

An engine sends a `Work` object to each worker once, and a `Job` for each episode. A worker first calls
`work.open()`, which checks that the worker has the run's data and code, and creates the players. Then the
worker calls `work.play(job)`, from any thread, and finally `work.close()`. The main process calls
`work.lost(job, why)` for an episode that cannot be played. `Crew` does all this for workers that can die.
"""

from birdenv.engines._crew import Crew, Worker, WorkerLostError
from birdenv.engines._threads import in_flight
from birdenv.runs.jobs import Engine, Job, JobResult, Work

__all__ = [
    "Crew",
    "Engine",
    "Job",
    "JobResult",
    "Work",
    "Worker",
    "WorkerLostError",
    "in_flight",
]
