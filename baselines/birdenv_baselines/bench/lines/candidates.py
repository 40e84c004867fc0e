"""Batches of candidate episodes against Gymnasium's ways of stepping single ones.

Lines against `SyncVectorEnv` count processor time, all of it in this process; those against `AsyncVectorEnv`,
which has processes of its own, count time by the clock on the wall.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from functools import partial
from typing import Any, Final, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import birdenv  # noqa: F401 (registers the ids)
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Setting,
    in_rounds,
    spread,
    times_as_fast,
)

__all__ = ["lines"]

_ID: Final = "birdenv/CInteractCandidates-v0"
_STEPS: Final = 4
_MANY: Final = 512
_Vector: TypeAlias = type[SyncVectorEnv] | type[AsyncVectorEnv]


def lines(quick: bool) -> list[Line]:
    """Return the lines; with `quick`, for few episodes."""
    name, at_least_as_fast = "candidate steps, {} episodes at once", Bar("at least", 1.0)
    made = [
        Line(name.format(n), vector.__name__, partial(_against, vector, n), at_least_as_fast)
        for vector in (SyncVectorEnv, AsyncVectorEnv)
        for n in ((8,) if quick else (8, 64))
    ]
    return [*made, Line(f"{name.format(_MANY)}, CPU", "", _rate, Bar("at least", 100_000.0))]


def _single() -> Any:
    return gymnasium.make(_ID)


def _batch(n: int) -> Any:
    return gymnasium.make_vec(_ID, num_envs=n, vectorization_mode="vector_entry_point")


def _against(vector: _Vector, n: int, setting: Setting) -> Figure:
    with ExitStack() as stack:
        ours = stack.enter_context(closing(_batch(n)))
        theirs = stack.enter_context(closing(vector([_single] * n, autoreset_mode=AutoresetMode.SAME_STEP)))
        clock = time.process_time if vector is SyncVectorEnv else time.perf_counter
        times = in_rounds([_player(ours, n), _player(theirs, n)], setting.rounds, clock)
    return times_as_fast(*times, each=n * _STEPS)


def _rate(setting: Setting) -> Figure:
    with closing(_batch(_MANY)) as batch:
        (times,) = in_rounds([_player(batch, _MANY)], setting.rounds, time.process_time)
    steps = _MANY * _STEPS
    return spread([steps / seconds for seconds in times], "/s", times, each=steps)


def _player(env: Any, n: int) -> Contender:
    """Plays random actions, also forbidden ones, which end episodes sooner than others."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    actions: list[Any] = []

    def draw() -> None:
        actions[:] = [rng.integers(0, env.single_action_space.n, n) for _ in range(_STEPS)]

    def play() -> None:
        for chosen in actions:
            env.step(chosen)

    return Contender(play, before=draw)
