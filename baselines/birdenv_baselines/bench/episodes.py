"""Whole episodes against two ways in which they are usually played, and whether the verdicts are the same.

No text comes twice: every statement is compiled and executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Protocol

from birdenv.databases import SqliteSource
from birdenv.grading import ExGrader
from birdenv_baselines.bench._databases import Size
from birdenv_baselines.bench._episode_tasks import (
    Task,
    light_tasks,
    make_environment,
    play,
    quick_tasks,
    statements,
)
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, side_by_side, times_as_fast
from birdenv_baselines.bench._mini_dev import ONE_SYSTEM
from birdenv_baselines.bench._peers import (
    LEAST,
    ConnectionPerStatement,
    FileCopyHarness,
    RawStatements,
    official_verdict,
)
from birdenv_baselines.bench._setting import MINI_DEV, Setting

__all__ = ["VERDICTS", "lines"]

VERDICTS = "verdicts that differ"


class _Peer(Protocol):
    def play(self, task: Task) -> bool: ...


_BARS: tuple[tuple[str, Callable[[Mapping[str, Path]], _Peer], float, float, float], ...] = (
    ("copy per task, official scoring", FileCopyHarness, 10.0, 2.0, 200.0),
    ("thread, connection per statement", ConnectionPerStatement, 4.0, 2.0, 3.0),
)
"""Each peer, with the bars on small databases, on mini-dev's and on large ones.

The first two are what was measured where nothing is answered from memory; with memories they were higher.
"""


def lines(setting: Setting) -> list[Line]:
    large = setting.sizes[len(setting.quick_sizes) :]
    found = []
    ending = ", no SQL twice"
    for against, peer, quick_bar, mini_dev_bar, large_bar in _BARS:
        for sizes in (setting.quick_sizes, *((size,) for size in large)):
            found.append(
                Line(
                    f"whole episodes, {' and '.join(size.label for size in sizes)}{ending}",
                    against,
                    partial(_episodes, setting, sizes, peer(setting.files(sizes))),
                    Bar("at least", quick_bar if sizes == setting.quick_sizes else large_bar),
                    tuple(size.db_id for size in sizes),
                )
            )
        found.append(
            Line(
                f"whole episodes, mini-dev's quick questions{ending}",
                against,
                partial(_mini_dev_episodes, setting, peer),
                Bar("at least", mini_dev_bar),
                (MINI_DEV,),
            )
        )
    verdicts = Line(
        VERDICTS,
        "the official set rule",
        partial(_differences, setting),
        Bar("at most", 0.0),
        tuple(size.db_id for size in setting.sizes),
    )
    return [*found, verdicts]


def _tasks(setting: Setting, size: Size) -> tuple[Task, ...]:
    """Quick tasks; a few of them where each copy takes long."""
    return quick_tasks(size) if size in setting.quick_sizes else quick_tasks(size)[::4]


def _episodes(setting: Setting, sizes: tuple[Size, ...], peer: _Peer) -> Figure:
    tasks = [task for size in sizes for task in _tasks(setting, size)]
    return _against(peer, setting, setting.folder, setting.files(sizes), tasks)


def _mini_dev_episodes(setting: Setting, peer: Callable[[Mapping[str, Path]], _Peer]) -> Figure:
    mini_dev = setting.mini_dev
    tasks = mini_dev.quick_tasks()
    figure = _against(peer(mini_dev.files), setting, mini_dev.folder, mini_dev.files, tasks)
    return replace(figure, note=f"{len(tasks)} questions, as {ONE_SYSTEM} answered them; {figure.note}")


def _against(
    peer: _Peer,
    setting: Setting,
    folder: Path,
    files: Mapping[str, Path],
    tasks: Sequence[Task],
) -> Figure:
    numbers = count()
    with ExitStack() as stack:
        environment = stack.enter_context(closing(make_environment(folder, tasks, setting.scratch)))
        raw = stack.enter_context(closing(RawStatements(files)))
        watched = stack.enter_context(closing(RawStatements(files, is_watched=True)))

        def ours() -> None:
            for index, task in enumerate(tasks):
                play(environment, index, statements(task, next(numbers)))

        def theirs() -> None:
            for task in tasks:
                peer.play(task)

        def run(floor: RawStatements) -> None:
            for task in tasks:
                floor.run(task.db_id, statements(task, next(numbers)))

        contenders = [ours, theirs, partial(run, raw), partial(run, watched)]
        times = side_by_side(list(map(Contender, contenders)), setting.effort)
        mine, peers, bare, least = (seconds / len(tasks) for seconds in times)
    note = f"the statements alone, raw, would make it {peers / bare:,.0f} x"
    more = f"with {LEAST} {peers / least:,.0f} x"
    return times_as_fast(mine, peers, note=f"{note}; {more}")


def _differences(setting: Setting) -> Figure:
    """Ours: the grader's `ex_bird`; the environment's `ex` is held against the grader's `ex`."""
    tasks = [task for size in setting.sizes for task in (*quick_tasks(size), *light_tasks(size))]
    files = setting.files(setting.sizes)
    grader = ExGrader(SqliteSource(setting.folder))
    peer = ConnectionPerStatement(files)
    different, right = [], 0
    with closing(make_environment(setting.folder, tasks, setting.scratch)) as environment:
        for index, task in enumerate(tasks):
            official = official_verdict(files[task.db_id], task.gold, task.prediction)
            verdict = grader.grade(task.db_id, [task.gold], task.prediction)
            played = play(environment, index, statements(task))
            right += official
            if not (verdict.ex_bird == official == peer.play(task)) or played != verdict.ex:
                different.append(f"{task.db_id}: {task.prediction}")
    note = f"{len(tasks)} tasks, {right} right by the official rule"
    if different:
        note += "; different: " + "; ".join(different)
    return Figure(len(different), "", note=note)
