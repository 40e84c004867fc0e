"""Steps a second of our vector environment, against Gymnasium's two over the same environments.

Steps a second by themselves count processor time. No SQL comes twice. The chat steps ask the rule user, each
about something else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

import gymnasium
from gymnasium.vector import AutoresetMode

import birdenv
from birdenv_baselines.bench._episode_tasks import make_environment, quick_tasks
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, side_by_side, times_as_fast
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_OURS: Final = "vector_entry_point"
_THEIRS: Final = {"sync": "SyncVectorEnv", "async": "AsyncVectorEnv"}
_SIZES: Final = (1, 8, 64)
_MOST_PROCESSES: Final = 8  # AsyncVectorEnv starts one for each environment
_STEPS: Final = 20
_LEAST: Final = 4_000.0


def lines(setting: Setting) -> list[Line]:
    needs = (setting.quick_sizes[0].db_id,)
    found = []
    for mode, name in _THEIRS.items():
        for envs in _SIZES:
            if mode == "async" and envs > _MOST_PROCESSES:
                continue
            bar = Bar("at least", 1.0) if envs > 1 else None
            sql = partial(_sql_steps, setting, mode, envs)
            chat = partial(_chat_steps, setting, mode, envs)
            found.append(Line(f"vector env, {envs} envs, SQL steps", name, sql, bar, needs))
            found.append(Line(f"vector env, {envs} envs, chat steps", name, chat))
    rate = partial(_sql_steps_a_second, setting, _SIZES[-1])
    name = f"vector env, {_SIZES[-1]} envs, SQL steps/s, CPU"
    return [*found, Line(name, "", rate, Bar("at least", _LEAST), needs)]


def _sql_steps(setting: Setting, mode: str, envs: int) -> Figure:
    with _statements(setting) as (name, settings, statement):
        return _against(setting, mode, envs, name, settings, statement)


def _sql_steps_a_second(setting: Setting, envs: int) -> Figure:
    with _statements(setting) as (name, settings, statement):
        made = gymnasium.make_vec(name, num_envs=envs, vectorization_mode=_OURS, **settings)
        with closing(made):
            (taken,) = side_by_side([_steps(made, statement)], setting.effort, time.process_time)
    return Figure(envs * _STEPS / taken, "", taken, None)


@contextmanager
def _statements(setting: Setting) -> Iterator[tuple[str, dict[str, Any], Callable[[], Any]]]:
    """The environment's id and settings, and what makes a statement that never came before."""
    with closing(make_environment(setting.folder, quick_tasks(setting.sizes[0]), setting.scratch)) as kept:
        assert kept.spec is not None
        numbers = count()

        def statement() -> Any:
            return birdenv.execute_sql(f"SELECT id, total FROM orders WHERE id < 5 /* {next(numbers)} */")

        yield kept.spec.id, dict(kept.spec.kwargs), statement


def _chat_steps(setting: Setting, mode: str, envs: int) -> Figure:
    numbers = count()

    def question() -> Any:
        return birdenv.clarify(f"What do you mean by 'roomy', more than {next(numbers)} seats?")

    return _against(setting, mode, envs, "birdenv/CInteract-v0", {"patience": 100}, question)


def _against(
    setting: Setting, mode: str, envs: int, name: str, settings: dict[str, Any], action: Callable[[], Any]
) -> Figure:
    with ExitStack() as stack:
        contenders = []
        for each in (_OURS, mode):
            same = {} if each == _OURS else {"vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP}}
            made = gymnasium.make_vec(name, num_envs=envs, vectorization_mode=each, **same, **settings)
            stack.enter_context(closing(made))
            contenders.append(_steps(made, action))
        mine, theirs = (seconds / _STEPS for seconds in side_by_side(contenders, setting.effort))
    return times_as_fast(mine, theirs, note=f"{envs / mine:,.0f} steps/s, theirs {envs / theirs:,.0f}")


def _steps(made: Any, action: Callable[[], Any]) -> Contender:
    batches: list[Any] = []

    def before() -> None:
        made.reset(seed=0, options={"index": 0})
        batches.clear()
        for _ in range(_STEPS):
            single = [action() for _ in range(made.num_envs)]
            kinds = [each["kind"] for each in single]
            batches.append({"kind": kinds, "text": tuple(each["text"] for each in single)})

    def run() -> None:
        for batch in batches:
            made.step(batch)

    return Contender(run, before=before)
