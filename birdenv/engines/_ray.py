"""The engine `ray`, which plays episodes in threads of actors in a Ray cluster.

This engine needs only Ray's core. If no cluster address is given, the run starts Ray on this machine, and
stops it at the end.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from birdenv.engines._crew import Crew, WorkerLostError
from birdenv.errors import BirdenvError, InputError, RunEndedError, describe_error
from birdenv.runs.jobs import Job, JobResult, Work

OBJECT_STORE_BYTES: Final = 100_000_000
"""The size in bytes of the object store if the run starts Ray. Ray's default is a third of the memory, which
is far too much for episodes."""

ANSWER_SECONDS: Final = 10.0
"""The time limit in seconds for connecting to a cluster."""

START_SECONDS: Final = 600.0
"""The time limit in seconds until a worker has opened the work. A cluster may have to start a node first."""

AWAY_SECONDS: Final = 60.0
"""The time in seconds for which an actor may be unreachable before it counts as lost."""


class RayCluster:
    """The engine `ray`, with one actor for each processor in the cluster.

    Args:
        parallel: the number of episodes to play at the same time, across all actors.
        address: the address of a running cluster. The default is the value of the environment variable
            `RAY_ADDRESS`; if that is not set, Ray is started on this machine.

    Attributes:
        workers: the number of actors.

    Raises:
        InputError: Ray is not installed, or the cluster cannot be used.
    """

    def __init__(self, parallel: int, address: str | None = None) -> None:
        address = address or os.environ.get("RAY_ADDRESS") or "local"
        if address == "local" and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
            # Use a fresh token, because Ray would store one in the home directory.
            os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_worker_niceness", "0")  # because statements have wall-clock deadlines
        try:
            import ray
        except ImportError as error:
            raise InputError(
                f"--engine ray requires the `ray` extra (pip install 'birdenv[ray]'): {error}"
            ) from None
        self._ray: Any = ray
        self._parallel = parallel
        self._started = not ray.is_initialized()
        if self._started:
            _connect(ray, address)
        self.workers = max(1, min(parallel, int(ray.cluster_resources().get("CPU", 1))))

    def __call__(self, work: Work, jobs: Iterator[Job]) -> Iterator[JobResult]:
        """Play all jobs, and yield their results."""
        threads = -(-self._parallel // self.workers)
        crew = Crew(work, lambda work: _Actor(self._ray, work, threads), self.workers)
        return crew.play_all(jobs, self._parallel)

    def close(self) -> None:
        """Stop Ray if it was started for this run; otherwise, disconnect from the cluster."""
        if self._started:
            self._ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start one without a dashboard."""
    own = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    options: dict[str, Any] = own if address == "local" else {}
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    try:
        if colon:  # fail early, because Ray itself would try for many minutes
            socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
        ray.init(address, log_to_driver=False, logging_level="ERROR", **options)
    except Exception as error:
        where = "on this machine" if address == "local" else f"at {address}"
        why = " ".join(str(error).split())
        raise InputError(f"cannot use a Ray cluster {where}: {why}") from None


class _Remote:
    """The class of the actors, each of which opens the work and plays jobs in a process of the cluster."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def open(self) -> None:
        self._work.open()

    def play(self, job: Job) -> JobResult:
        return self._work.play(job)


class _Actor:
    """A worker that is an actor of the cluster, as the process of the run sees it.

    Actors reserve no processor, so that a new actor can start even if nodes are lost.
    """

    def __init__(self, ray: Any, work: Work, threads: int) -> None:
        self._ray = ray
        kind = ray.remote(num_cpus=0, max_concurrency=threads + 1, scheduling_strategy="SPREAD")(_Remote)
        self._actor = kind.remote(work)
        try:
            self._call(lambda: self._actor.open.remote(), timeout=START_SECONDS)
        except BaseException:
            self.end()
            raise

    def play(self, job: Job) -> JobResult:
        played: JobResult = self._call(lambda: self._actor.play.remote(job))
        return played

    def end(self) -> None:
        self._ray.kill(self._actor)

    def _call(self, ask: Callable[[], Any], timeout: float | None = None) -> Any:
        errors = self._ray.exceptions
        away_since = None
        while True:
            try:
                return self._ray.get(ask(), timeout=timeout)
            except errors.ActorUnavailableError as error:  # a subclass of RayActorError, caught below
                away_since = away_since or time.monotonic()
                if time.monotonic() - away_since > AWAY_SECONDS:
                    raise WorkerLostError(f"a Ray actor was lost: {_first_line(error)}") from None
                time.sleep(1.0)
            except errors.GetTimeoutError:
                raise WorkerLostError(f"a Ray actor did not start within {timeout:g} seconds") from None
            except errors.RayTaskError as error:
                cause = error.cause
                if isinstance(cause, BirdenvError):
                    raise cause from None
                raise RunEndedError(f"a Ray actor failed: {describe_error(cause)}") from None
            except errors.RayActorError as error:
                if "creation" in str(error) or "ModuleNotFoundError" in str(error):
                    raise InputError(f"cannot create a Ray actor: {_last_line(error)}") from None
                raise WorkerLostError(f"a Ray actor was lost: {_first_line(error)}") from None
            except errors.RayError as error:
                raise RunEndedError(f"the Ray cluster was lost: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _last_line(error: Exception) -> str:
    return str(error).rstrip().rpartition("\n")[2].strip()
