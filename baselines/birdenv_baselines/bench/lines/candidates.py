"""Time batches of candidate episodes against Gymnasium's vector environments, and time training on them.

Lines against `SyncVectorEnv` measure processor time, because all work is done in one process. The other lines
measure elapsed time, because `AsyncVectorEnv` and dialogues use several processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
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
    Skip,
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
    """Return the lines about candidate episodes; `quick` leaves out the larger batches."""
    name, at_least_as_fast = "candidate steps, {} episodes at once", Bar("at least", 1.0)
    made = [
        Line(name.format(n), vector.__name__, partial(_against, vector, n), at_least_as_fast)
        for vector in (SyncVectorEnv, AsyncVectorEnv)
        for n in ((8,) if quick else (8, 64))
    ]
    return [
        *made,
        Line(f"{name.format(_MANY)}, CPU", "", _rate, Bar("at least", 100_000.0)),
        Line("candidate steps, one environment", "a dialogue at every step", _compiled, Bar("at least", 3.0)),
        Line("MaskablePPO steps, VecEnv of 64", "one environment", _training, Bar("at least", 2.0)),
        Line("MaskablePPO steps, one environment, one thread of torch", "two threads", _threads),
    ]


def _single(**settings: Any) -> Any:
    return gymnasium.make(_ID, **settings)


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


def _compiled(setting: Setting) -> Figure:
    _batch(1).close()  # compile the tables
    one = SyncVectorEnv([_single], autoreset_mode=AutoresetMode.SAME_STEP)
    spoken = SyncVectorEnv([partial(_single, render_mode="ansi")], autoreset_mode=AutoresetMode.SAME_STEP)
    with closing(one), closing(spoken):
        times = in_rounds([_player(one, 1), _player(spoken, 1)], setting.rounds)
    return times_as_fast(*times, each=_STEPS)


def _training(setting: Setting) -> Figure:
    with _learners(setting) as (learner, steps):
        times = in_rounds([learner(64), learner(1)], setting.rounds)
    return times_as_fast(*times, each=steps)


def _threads(setting: Setting) -> Figure:
    with _learners(setting) as (learner, steps):
        times = in_rounds([learner(1), learner(1, threads=2)], setting.rounds)
    return times_as_fast(*times, each=steps)


@contextmanager
def _learners(setting: Setting) -> Iterator[tuple[Callable[..., Contender], int]]:
    """Yield a function that makes a training contender for n parallel episodes, and the steps of a training.

    The number of threads that torch uses is restored at the end.
    """
    try:
        import torch
        from sb3_contrib import MaskablePPO

        from birdenv.envs.sb3 import CandidatesVecEnv
    except ModuleNotFoundError:
        raise Skip("not measured: pip install 'birdenv[rl]'") from None
    steps, before = 128 if setting.quick else 512, torch.get_num_threads()

    def learner(n: int, *, threads: int = 1) -> Contender:
        minibatch = 64 if n == 1 else steps
        settings = {"n_steps": steps // n, "batch_size": minibatch, "seed": 0, "device": "cpu"}
        envs = _single() if n == 1 else CandidatesVecEnv(_batch(n))
        model = MaskablePPO("MultiInputPolicy", envs, **settings)
        return Contender(partial(model.learn, steps), before=partial(torch.set_num_threads, threads))

    try:
        yield learner, steps
    finally:
        torch.set_num_threads(before)


def _player(env: Any, n: int) -> Contender:
    """Return a contender that takes random actions, including illegal actions, which end episodes early."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    actions: list[Any] = []

    def draw() -> None:
        actions[:] = [rng.integers(0, env.single_action_space.n, n) for _ in range(_STEPS)]

    def play() -> None:
        for chosen in actions:
            env.step(chosen)

    return Contender(play, before=draw)
