"""What an episode costs by part: its environment, the process of the run, and its bytes on disk.

The cost of a model's client is a line of `models`.
"""

from __future__ import annotations

import importlib.util
import os
from time import perf_counter, process_time
from typing import Final

from birdenv.runs import STREAMS, RunResult, run_episodes
from birdenv_baselines.bench._measure import Bar, Figure, Line, Setting, Skip

__all__ = ["lines"]

_AGENT: Final = "asks-first"
_MOST_MILLISECONDS: Final = 5.0


def lines(quick: bool) -> list[Line]:
    """Return the lines; with `quick`, 38 episodes are played for each instead of 380."""
    bar = Bar("at most", _MOST_MILLISECONDS)
    found = [Line("an episode of c-Interact, one after the other", "asks twice, no model", _alone)]
    for engine in ("processes", "ray"):
        name = f"its part of the run's process, engine {engine}"
        found.append(Line(name, "processor time, records written", lambda s, e=engine: _driver(s, e), bar))
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
    if engine == "ray" and importlib.util.find_spec("ray") is None:
        raise Skip("the extra `ray` is not installed")
    workers = os.cpu_count() or 1
    spent: list[float] = []

    def note(record: object) -> None:  # the workers' start is not an episode's
        spent.append(process_time())

    count = len(_played(setting, engine, 4 * workers, note).records)
    skipped = count // 4
    used = (spent[-1] - spent[skipped]) / (count - 1 - skipped)
    return Figure(used * 1e3, "ms", used, note=f"the last three quarters of {count} episodes")


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
