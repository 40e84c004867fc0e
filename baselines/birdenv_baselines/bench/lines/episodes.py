"""Time interactive episodes, and time BIRD episodes against copying the database for each task."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import count
from time import perf_counter
from typing import Final

from birdenv.databases import SqliteSource
from birdenv.grading import Pair, score_pairs
from birdenv.runs import run_episodes
from birdenv_baselines.bench._databases import SIZES, Size
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
from birdenv_baselines.bench._tasks import make_environment, play, play_on_copy, quick_tasks, statements

__all__ = ["lines"]

_REPEATS: Final = 5


def lines(quick: bool) -> list[Line]:
    """Return the lines about episodes; `quick` uses only the smallest database.

    The required value applies to equal numbers of episodes on the three smaller databases. The mean size of
    these databases is 107 MB, whereas mini-dev's mean over tasks is about 150 MB. A small file is copied so
    quickly that the ratio depends mainly on the five messages to a worker process.
    """
    smallest, small, large = SIZES[:3]
    groups = [(smallest,)] if quick else [(smallest,), (small,), (smallest, small, large)]
    bird = [
        Line(
            f"BIRD episodes, {', '.join(size.label for size in sizes)}, no SQL twice",
            "copy per task, official scoring",
            partial(_bird, sizes),
            Bar("at least", 10.0) if large in sizes else None,
            sizes,
        )
        for sizes in groups
    ]
    games = [
        Line(f"{game} episodes, oracle", "", partial(_interactive, game))
        for game in ("c-interact", "a-interact")
    ]
    return [*bird, *games]


def _bird(sizes: tuple[Size, ...], setting: Setting) -> Figure:
    """Return the ratio of the times. Raise `RuntimeError` if a verdict differs from the official one."""
    files = {size.db_id: setting.file(size) for size in sizes}
    tasks = [task for size in sizes for task in quick_tasks(size)]
    numbers = count()
    with closing(make_environment(setting.folder, tasks, setting.scratch)) as environment:

        def ours() -> None:
            for index, task in enumerate(tasks):
                play(environment, index, statements(task, next(numbers)))

        def theirs() -> list[bool]:
            return [play_on_copy(files[each.db_id], each, statements(each, next(numbers))) for each in tasks]

        times = in_rounds([Contender(ours), Contender(theirs)], setting.rounds)
        pairs = [Pair(task.db_id, (task.gold,), task.prediction) for task in tasks]
        verdicts = score_pairs(pairs, SqliteSource(setting.folder))
        if [verdict.ex_bird for verdict in verdicts] != theirs():
            raise RuntimeError("verdicts differ from those of the official rule")
    return times_as_fast(*times, each=len(tasks), note="the golds are those of the tasks: they come again")


def _interactive(game: str, setting: Setting) -> Figure:
    rates, seconds = [], []
    for number in range(setting.rounds + 1):
        began = perf_counter()
        result = run_episodes(game, "oracle", repeats=1 if setting.quick else _REPEATS)
        taken = perf_counter() - began
        if number:  # the first one was cold
            rates.append(len(result.records) / taken)
            seconds.append(taken / len(result.records))
    return spread(rates, "/s", seconds, note="of the demo, one after the other, from start to run folder")
