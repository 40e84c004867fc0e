"""Batches of candidate episodes against Gymnasium's ways of stepping single ones.

Lines against `SyncVectorEnv` count processor time, all of it in this process; those against `AsyncVectorEnv`,
which has processes of its own, count time by the clock on the wall.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import birdenv  # noqa: F401 (registers the ids)
from birdenv_baselines.bench._databases import SIZES
from birdenv_baselines.bench._measure import (
    Bar,
    Clock,
    Contender,
    Effort,
    Figure,
    Line,
    Skip,
    side_by_side,
    times_as_fast,
)
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_ID: Final = "birdenv/CInteractCandidates-v0"
_SIZES: Final = (1, 8, 64, 512)
_PROCESS_MB: Final = 25  # of memory; AsyncVectorEnv starts a process for each episode
_MEMINFO: Final = Path("/proc/meminfo")
_FEW_ROUNDS: Final = 2  # where there are so many processes that a step takes seconds
_STEPS: Final = 4
_LEAST: Final = 100_000.0


def lines(setting: Setting) -> list[Line]:
    name = "candidate steps, {} episodes at once"
    found = [
        Line(
            name.format(n),
            "SyncVectorEnv",
            partial(_against, setting, n, _sync, time.process_time),
            Bar("at least", 1.0) if n >= 8 else None,
        )
        for n in _SIZES
    ]
    found += [
        Line(
            name.format(n),
            "AsyncVectorEnv",
            partial(_against, setting, n, _async, time.perf_counter),
            Bar("at least", 1.0) if n >= 8 else None,
        )
        for n in _SIZES
    ]
    steps = f"candidate steps/s, {_SIZES[-1]} episodes at once, CPU"
    return [*found, Line(steps, "", partial(_steps_a_second, setting), Bar("at least", _LEAST))]


def _single() -> Any:
    return gymnasium.make(_ID)


def _sync(n: int) -> Any:
    return SyncVectorEnv([_single] * n, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)


def _async(n: int) -> Any:
    free = _available_mb()
    if free is not None and free < n * _PROCESS_MB:
        raise Skip(
            f"{n} processes take about {n * _PROCESS_MB:,} MB of memory, and {free:,} MB are available"
        )
    return AsyncVectorEnv([_single] * n, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)


def _available_mb() -> int | None:
    """Memory that new processes can have, in MB; None where the system does not say."""
    if not _MEMINFO.is_file():
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", _MEMINFO.read_text(), re.MULTILINE)
    return None if found is None else int(found[1]) * 1024 // 10**6


def _batch(n: int) -> Any:
    return gymnasium.make_vec(_ID, num_envs=n, vectorization_mode="vector_entry_point")


def _against(setting: Setting, n: int, make: Callable[[int], Any], clock: Clock) -> Figure:
    effort = setting.effort
    if make is _async and n == _SIZES[-1]:
        if len(setting.sizes) < len(SIZES):
            raise Skip(f"{n} processes are started with --sizes all only")
        effort = Effort(min(effort.rounds, _FEW_ROUNDS), 0.0)
    with ExitStack() as stack:
        ours, theirs = stack.enter_context(closing(_batch(n))), stack.enter_context(closing(make(n)))
        mine, other = side_by_side([_player(ours, n), _player(theirs, n)], effort, clock)
    steps = n * _STEPS
    figure = times_as_fast(mine / steps, other / steps)
    return replace(figure, note=f"{steps / mine:,.0f} against {steps / other:,.0f} steps/s")


def _steps_a_second(setting: Setting) -> Figure:
    n = _SIZES[-1]
    with closing(_batch(n)) as ours:
        (mine,) = side_by_side([_player(ours, n)], setting.effort, time.process_time)
    return Figure(n * _STEPS / mine, "", mine, None)


def _player(env: Any, n: int) -> Contender:
    """Plays random actions, also forbidden ones, which end episodes sooner than others."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    actions: list[Sequence[int]] = []

    def draw() -> None:
        actions[:] = [rng.integers(0, env.single_action_space.n, n) for _ in range(_STEPS)]

    def play() -> None:
        for chosen in actions:
            env.step(chosen)

    return Contender(play, before=draw)
