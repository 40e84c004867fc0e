"""Two worker processes against one, and what the executor in a process of its own costs."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count, cycle, islice
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

from birdenv.databases import Limits, SqliteSource
from birdenv_baselines.bench._episode_tasks import (
    Environment,
    Task,
    make_environment,
    play,
    quick_tasks,
    statements,
)
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Skip,
    in_rounds,
    side_by_side,
    time_added,
    time_added_in_rounds,
    times_as_fast,
)
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_TURN = 0.3  # seconds that a worker plays in one turn
_STATEMENT = "SELECT id, customer_id, placed, status, total FROM orders WHERE id BETWEEN 101 AND 105"


def lines(setting: Setting) -> list[Line]:
    needs = (setting.sizes[0].db_id,)
    two = Line(
        "episodes/s, two processes, no SQL twice",
        "one process",
        partial(_two_workers, setting),
        Bar("at least", 1.7),
        needs,
    )
    isolated: Mapping[str, Callable[[Setting], Figure]] = {
        "a statement in a worker": _statement,
        "open, read, close in a worker": _open_and_close,
        "env episode in a worker": _env_episode,
    }
    return [two] + [
        Line(name, 'isolation="inline"', partial(measure, setting), None, needs)
        for name, measure in isolated.items()
    ]


def _two_workers(setting: Setting) -> Figure:
    tasks = quick_tasks(setting.sizes[0])
    with _worker(setting.folder, tasks) as first, _worker(setting.folder, tasks) as second:
        for worker in (first, second):
            _together([worker], 100)
        began = perf_counter()
        _together([first], 100)
        episodes = max(1, round(100 * _TURN / (perf_counter() - began)))
        both, alone = side_by_side(
            [
                Contender(lambda: _together([first, second], episodes)),
                Contender(lambda: _together([first], episodes)),
            ],
            setting.effort,
        )
    return times_as_fast(both / (2 * episodes), alone / episodes)


def _together(workers: Sequence[Connection], episodes: int) -> None:
    for worker in workers:
        worker.send(episodes)
    for worker in workers:
        worker.recv()


@contextmanager
def _worker(folder: Path, tasks: Sequence[Task]) -> Iterator[Connection]:
    """A process with an environment of its own, which plays as many episodes as it is sent.

    No SQL comes twice, so that statements are executed and not remembered.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, folder, tasks), daemon=True)
    process.start()
    there.close()
    try:
        yield here
    finally:
        here.close()
        process.join()


def _work(orders: Connection, folder: Path, tasks: Sequence[Task]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; then the pipe ends
    numbers = count()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="birdenv-bench-")))
        environment = stack.enter_context(closing(make_environment(folder, tasks, scratch)))
        while True:
            try:
                episodes = orders.recv()
            except EOFError:
                return
            for index, task in islice(cycle(list(enumerate(tasks))), episodes):
                play(environment, index, statements(task, next(numbers)))
            orders.send("done")


def _sources(setting: Setting) -> tuple[SqliteSource, SqliteSource]:
    """Sources of databases: one whose statements run in a worker process, and one of the usual kind."""
    try:
        return SqliteSource(setting.folder, isolation="process"), SqliteSource(setting.folder)
    except TypeError:
        raise Skip("SqliteSource has no argument `isolation` yet") from None


def _statement(setting: Setting) -> Figure:
    db_id = setting.sizes[0].db_id
    with ExitStack() as stack:
        databases = [stack.enter_context(source.open(db_id, Limits())) for source in _sources(setting)]
        rounds = in_rounds(
            [Contender(partial(database.execute, _STATEMENT)) for database in databases], setting.effort
        )
    return time_added_in_rounds(*rounds)


def _open_and_close(setting: Setting) -> Figure:
    db_id = setting.sizes[0].db_id

    def episode(source: SqliteSource) -> None:
        with source.open(db_id, Limits()) as database:
            database.execute(_STATEMENT)

    contenders = [Contender(partial(episode, source)) for source in _sources(setting)]
    return time_added(*side_by_side(contenders, setting.effort))


def _env_episode(setting: Setting) -> Figure:
    tasks = quick_tasks(setting.sizes[0])

    def episodes(environment: Environment) -> None:
        for index, task in enumerate(tasks):
            play(environment, index, statements(task))

    with ExitStack() as stack:
        environments = []
        for isolation in ("process", "inline"):
            try:
                environment = make_environment(setting.folder, tasks, setting.scratch, isolation=isolation)
            except TypeError:
                raise Skip("birdenv/BirdSql-v0 has no argument `isolation` yet") from None
            environments.append(stack.enter_context(closing(environment)))
        times = side_by_side([Contender(partial(episodes, each)) for each in environments], setting.effort)
    return time_added(*(seconds / len(tasks) for seconds in times))
