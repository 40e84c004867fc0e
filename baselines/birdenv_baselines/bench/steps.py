"""What the environment adds to the statements that it runs, and what it saves on a slow one that comes again.

But for the last line no text comes twice: SQLite compiles every statement, on both sides.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import gymnasium

import birdenv
from birdenv.databases import Limits, SqliteSource
from birdenv.tasks import SqlMove, result_text
from birdenv.tasks.sql._result_text import FETCHED_ROWS
from birdenv_baselines.bench._episode_tasks import Task, make_environment, play, quick_tasks, statements
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    in_rounds,
    side_by_side,
    time_added_in_rounds,
    times_as_fast,
)
from birdenv_baselines.bench._mini_dev import ONE_SYSTEM
from birdenv_baselines.bench._peers import LEAST, RawStatements, plain_connection
from birdenv_baselines.bench._setting import MINI_DEV, Setting

__all__ = ["lines"]

_FIVE_BY_FIVE = "SELECT id, customer_id, placed, status, total FROM orders WHERE id BETWEEN 101 AND 105"
_SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT sum(i) FROM n"
_STEPS = 200  # in one episode; the environment is made with a little less than a thousand


def lines(setting: Setting) -> list[Line]:
    step, bare = "env.step, 5 rows x 5 columns, no SQL twice", "cursor.execute, fetchmany(101)"
    episodes, floor = "env steps/s, quick episodes, no SQL twice", "their statements, raw"
    mini_dev = "env steps/s, mini-dev's quick questions, no SQL twice"
    needs = tuple(size.db_id for size in setting.quick_sizes)
    most = Bar("at most", 10.0)
    again = "env.step, a statement of some 10 ms that comes again"
    direct = "execute and result text, directly"
    return [
        Line(step, bare, partial(_step, setting), most, needs[:1]),
        Line(f"{step}, CPU", direct, partial(_step_alone, setting), most, needs[:1]),
        Line(
            "gymnasium.make, settings in use already, CPU",
            "the first of its settings",
            partial(_make, setting),
            Bar("at most", 1_000.0),
            needs[:1],
        ),
        Line(episodes, floor, partial(_episodes, setting), Bar("at least", 0.1), needs),
        Line(mini_dev, floor, partial(_mini_dev_episodes, setting), Bar("at least", 0.25), (MINI_DEV,)),
        Line(again, "the same, each a new text", partial(_again, setting), Bar("at least", 50.0), needs[:1]),
    ]


def _step_alone(setting: Setting) -> Figure:
    """What the drivers add: the same statements by the same episode database, and its rows as text."""
    size, numbers = setting.sizes[0], count()

    def text() -> str:
        return f"{_FIVE_BY_FIVE} /* {next(numbers)} */"

    with ExitStack() as stack:
        tasks = quick_tasks(size)
        environment = stack.enter_context(closing(make_environment(setting.folder, tasks, setting.scratch)))
        source = stack.enter_context(closing(SqliteSource(setting.folder)))
        database = stack.enter_context(closing(source.open(size.db_id, Limits())))

        actions: list[SqlMove] = []
        texts: list[str] = []

        def before() -> None:
            environment.reset(options={"index": 0})
            actions[:] = [birdenv.execute_sql(text()) for _ in range(_STEPS)]

        def before_theirs() -> None:
            texts[:] = [text() for _ in range(_STEPS)]

        def ours() -> None:
            for action in actions:
                environment.step(action)

        def theirs() -> None:
            for sql in texts:
                result_text(database.execute(sql, FETCHED_ROWS))

        contenders = [Contender(ours, before=before), Contender(theirs, before=before_theirs)]
        rounds = in_rounds(contenders, setting.effort, time.process_time)
    return time_added_in_rounds(*_per_step(rounds))


def _make(setting: Setting) -> Figure:
    """Fails without the tasks shared by arenas, and where installed players are looked up each time."""
    tasks = quick_tasks(setting.sizes[0])
    with closing(make_environment(setting.folder, tasks, setting.scratch)) as kept:
        assert kept.spec is not None
        settings = dict(kept.spec.kwargs)

        def make(**changed: int) -> None:
            gymnasium.make(kept.spec.id, **(settings | changed)).close()

        mine, first = side_by_side(
            [Contender(make), Contender(partial(make, max_turns=998))], setting.effort, time.process_time
        )
    return Figure(mine * 1e6, "µs", mine, first)


def _again(setting: Setting) -> Figure:
    """Fails without the cache of results."""
    numbers = count()
    with closing(make_environment(setting.folder, quick_tasks(setting.sizes[0]), setting.scratch)) as ours:

        def before() -> None:
            ours.reset(options={"index": 0})
            ours.step(birdenv.execute_sql(_SLOW))

        def known() -> None:
            for _ in range(10):
                ours.step(birdenv.execute_sql(_SLOW))

        def new() -> None:
            for _ in range(10):
                ours.step(birdenv.execute_sql(f"{_SLOW} /* {next(numbers)} */"))

        mine, theirs = side_by_side(
            [Contender(known, before=before), Contender(new, before=before)], setting.effort
        )
    return times_as_fast(mine / 10, theirs / 10)


def _step(setting: Setting) -> Figure:
    size = setting.sizes[0]
    with ExitStack() as stack:
        tasks = quick_tasks(size)
        environment = stack.enter_context(closing(make_environment(setting.folder, tasks, setting.scratch)))
        connection = stack.enter_context(closing(plain_connection(setting.file(size))))
        files = {size.db_id: setting.file(size)}
        watched = stack.enter_context(closing(RawStatements(files, is_watched=True)))
        numbers = count()

        def text() -> str:
            return f"{_FIVE_BY_FIVE} /* {next(numbers)} */"

        def ours() -> None:
            for _ in range(_STEPS):
                environment.step(birdenv.execute_sql(text()))

        def bare() -> None:
            for _ in range(_STEPS):
                cursor = connection.cursor()
                cursor.execute(text())
                cursor.fetchmany(101)

        def least() -> None:
            watched.run(size.db_id, [text() for _ in range(_STEPS)])

        contenders = [
            Contender(ours, before=lambda: environment.reset(options={"index": 0})),
            Contender(bare),
            Contender(least),
        ]
        mine, theirs, limit = _per_step(in_rounds(contenders, setting.effort))
        observation, *_ = environment.step(birdenv.execute_sql(text()))
        if "(5 rows)" not in observation["message"]:
            raise RuntimeError(f"expected five rows, got {observation['message']!r}")
    least_added = (median(limit) - median(theirs)) * 1e6
    return time_added_in_rounds(mine, theirs, note=f"{LEAST} alone add {least_added:.1f} µs")


def _per_step(rounds: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[seconds / _STEPS for seconds in taken] for taken in rounds]


def _episodes(setting: Setting) -> Figure:
    tasks = [task for size in setting.quick_sizes for task in quick_tasks(size)]
    return _against_raw(setting, setting.folder, setting.files(setting.quick_sizes), tasks)


def _mini_dev_episodes(setting: Setting) -> Figure:
    mini_dev = setting.mini_dev
    tasks = mini_dev.quick_tasks()
    figure = _against_raw(setting, mini_dev.folder, mini_dev.files, tasks)
    return replace(figure, note=f"{figure.note}; {len(tasks)} questions, as {ONE_SYSTEM} answered them")


def _against_raw(setting: Setting, folder: Path, files: Mapping[str, Path], tasks: Sequence[Task]) -> Figure:
    numbers = count()
    with ExitStack() as stack:
        environment = stack.enter_context(closing(make_environment(folder, tasks, setting.scratch)))
        raw = stack.enter_context(closing(RawStatements(files)))
        watched = stack.enter_context(closing(RawStatements(files, is_watched=True)))

        def ours() -> None:
            for index, task in enumerate(tasks):
                play(environment, index, statements(task, next(numbers)))

        def run(floor: RawStatements) -> None:
            for task in tasks:
                floor.run(task.db_id, statements(task, next(numbers)))

        contenders = [Contender(ours), Contender(partial(run, raw)), Contender(partial(run, watched))]
        mine, theirs, limit = side_by_side(contenders, setting.effort)
    steps = 5 * len(tasks)
    note = "ours with reset, text and verdict; theirs only executes and fetches on open connections"
    note += f"; {LEAST} alone make it {theirs / limit:.2f} x"
    return times_as_fast(mine / steps, theirs / steps, note=note)
