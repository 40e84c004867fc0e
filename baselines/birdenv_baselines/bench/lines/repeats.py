"""Measure how much time the query-result cache saves when SQL is repeated.

Without the cache (`birdenv.databases.cache`), these lines do not reach the required values.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import count
from typing import Final

import birdenv
from birdenv.databases import SqliteSource
from birdenv.grading import ExGrader
from birdenv_baselines.bench._databases import SIZES
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, Setting, in_rounds, times_as_fast
from birdenv_baselines.bench._tasks import make_environment, quick_tasks

__all__ = ["lines"]

_SIZE: Final = SIZES[0]
_SLOW: Final = (  # about 10 ms
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT sum(i) FROM n"
)
_ROLLOUTS: Final = 8


def lines(quick: bool) -> list[Line]:
    """Return the lines about repeated SQL; `quick` changes nothing."""
    new, bar = "each a new text", Bar("at least", 5.0)
    return [
        Line(f"a statement of 10 ms in {_ROLLOUTS} rollouts of a task", new, _statement, bar, (_SIZE,)),
        Line(f"{_ROLLOUTS} predictions for a gold of 10 ms", new, _gold, bar, (_SIZE,)),
    ]


def _statement(setting: Setting) -> Figure:
    with closing(make_environment(setting.folder, quick_tasks(_SIZE), setting.scratch)) as environment:

        def explore(text: str) -> None:
            environment.reset(options={"index": 0})
            observation, *_ = environment.step(birdenv.execute_sql(text))
            if "1250025000" not in observation["message"]:
                raise RuntimeError(observation["message"])

        return _again_and_new(explore, setting)


def _gold(setting: Setting) -> Figure:
    grader = ExGrader(SqliteSource(setting.folder))
    numbers = count()

    def grade(gold: str) -> None:
        verdict = grader.grade(_SIZE.db_id, [gold], f"SELECT 1250025000 /* {next(numbers)} */")
        if not verdict.ex:
            raise RuntimeError(verdict.reason)

    return _again_and_new(grade, setting)


def _again_and_new(run: Callable[[str], None], setting: Setting) -> Figure:
    numbers = count()

    def known() -> None:
        for _ in range(_ROLLOUTS):
            run(_SLOW)

    def new() -> None:
        for _ in range(_ROLLOUTS):
            run(f"{_SLOW} /* {next(numbers)} */")

    times = in_rounds([Contender(known), Contender(new)], setting.rounds)
    return times_as_fast(*times, each=_ROLLOUTS)
