"""Measure the time and the bytes per episode, and compare the engines that run many episodes.

The cost of a language-model client is measured in `models`.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from time import perf_counter, process_time
from typing import Final

from birdenv.files import read_records
from birdenv.llm import ModelSettings
from birdenv.runs import STREAMS, RunResult, run_episodes
from birdenv_baselines.bench._measure import Bar, Figure, Line, Setting, Skip
from birdenv_baselines.bench.lines.models import SECONDS, readers, scripted_model

__all__ = ["lines"]

_AGENT: Final = "asks-first"
_MOST_MILLISECONDS: Final = 5.0
_IN_FLIGHT: Final = 100
_STORE_BYTES: Final = 100_000_000  # of each node


def lines(quick: bool) -> list[Line]:
    """Return the lines about engines; `quick` plays a tenth of the episodes with a model.

    Ray plays the episodes with a model on two nodes, which are processes on this machine.
    """
    bar = Bar("at most", _MOST_MILLISECONDS)
    found = [Line("an episode of c-Interact, one after the other", "asks twice, no model", _alone)]
    for engine in ("processes", "ray"):
        name = f"its part of the run's process, engine {engine}"
        found.append(Line(name, "processor time, records written", lambda s, e=engine: _driver(s, e), bar))
        where = f"engine {engine}" + (" on two nodes" if engine == "ray" else "")
        name = f"{40 if quick else 400} episodes with a model, {_IN_FLIGHT} in flight, {where}"
        against = f"calls x {SECONDS:g} s / {_IN_FLIGHT}, from the first episode's start"
        found.append(Line(name, against, lambda s, e=engine: _with_model(s, e), Bar("at most", 1.25)))
    return found


def _alone(setting: Setting) -> Figure:
    began = perf_counter()
    played = _played(setting, "threads", 1)
    seconds = (perf_counter() - began) / len(played.records)
    assert played.folder is not None
    sizes = {name: (played.folder / f"{name}.jsonl").stat().st_size for name in STREAMS}
    each = ", ".join(f"{name} {size / len(played.records) / 1e3:.1f} kB" for name, size in sizes.items())
    return Figure(seconds * 1e3, "ms", seconds, note=f"from start to run folder; on disk: {each}")


def _driver(setting: Setting, engine: str) -> Figure:
    _check_installed(engine)
    workers = os.cpu_count() or 1
    spent: list[float] = []

    def note(record: object) -> None:  # leaves out the start of the workers
        spent.append(process_time())

    count = len(_played(setting, engine, 4 * workers, note).records)
    skipped = count // 4
    used = (spent[-1] - spent[skipped]) / (count - 1 - skipped)
    return Figure(used * 1e3, "ms", used, note=f"the last three quarters of {count} episodes")


def _with_model(setting: Setting, engine: str) -> Figure:
    _check_installed(engine)
    tasks, spent = readers(), []
    nodes = _two_nodes() if engine == "ray" else nullcontext()
    with scripted_model(setting.scratch) as url, nodes as address:
        found = run_episodes(
            "c-interact",
            "llm:model",
            instances=tasks,
            repeats=2 if setting.quick else 20,
            parallel=_IN_FLIGHT,
            engine=engine,
            address=address,
            models=ModelSettings(base_url=url),
            output=setting.scratch / f"models-{engine}",
            progress=lambda record: spent.append(process_time()),
        )
    assert found.folder is not None
    timings = read_records(found.folder / "timings.jsonl", "durations")
    ends = [each["time"]["timestamp"] / 1e3 for each in timings]
    seconds = max(ends) - min(end - each["wall_s"] for end, each in zip(ends, timings, strict=True))
    wrong = [record for record in found.records if record["status"] != "completed"]
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(found.records)} episodes were not completed")
    calls = int(found.overall["usage"]["calls"]["total"])
    ideal = calls * SECONDS / _IN_FLIGHT
    driver = (spent[-1] - spent[0]) / (len(spent) - 1) * 1e3
    note = f"one run of {calls:,} calls; {driver:.1f} ms of the run's processor time for each episode"
    return Figure(seconds / ideal, "x", seconds, ideal, note=note)


@contextmanager
def _two_nodes() -> Iterator[str]:
    """Start a Ray cluster of two nodes with one processor each, and yield its address."""
    os.environ.update(RAY_worker_niceness="0", RAY_USAGE_STATS_ENABLED="0")
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=options)
    try:
        cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES)
        cluster.wait_for_nodes()
        yield cluster.address
    finally:
        cluster.shutdown()


def _check_installed(engine: str) -> None:
    if engine == "ray" and importlib.util.find_spec("ray") is None:
        raise Skip("the extra `ray` is not installed")


def _played(setting: Setting, engine: str, parallel: int, progress: object = None) -> RunResult:
    return run_episodes(
        "c-interact",
        _AGENT,
        repeats=1 if setting.quick else 10,
        parallel=parallel,
        engine=engine,
        output=setting.scratch / f"engine-{engine}",
        progress=progress,  # type: ignore[arg-type]
    )
