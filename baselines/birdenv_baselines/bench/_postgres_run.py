"""The demo's c-Interact tasks on PostgreSQL and on SQLite, and where the time of an episode goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final, cast

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.databases import DatabaseSource, Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.dialogue import Session
from birdenv.runs import Agent, CInteractRun, RunDirectory, Setting, make_agent, prepare, run, run_config
from birdenv.tasks.c_interact import PROFILES, load_benchmark
from birdenv.users import RuleUser
from birdenv_baselines.bench._postgres_servers import server

__all__ = ["Spent", "Stopwatch", "TimedSource", "overheads"]

_AGENT: Final = "oracle"


@dataclass(frozen=True, slots=True)
class Spent:
    """Mean seconds of an episode: all of it, and what of it the agent and its statements took."""

    tasks: int
    whole: float
    agent: float
    statements: float

    @property
    def overhead(self) -> float:
        """What is neither."""
        return self.whole - self.agent - self.statements


class Stopwatch:
    """Sums seconds, of several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.agent = 0.0
        self.statements = 0.0

    def add(self, agent: float = 0.0, statements: float = 0.0) -> None:
        with self._lock:
            self.agent += agent
            self.statements += statements


class TimedSource:
    """A source of databases that adds up what their statements take, without the wait for a clone."""

    def __init__(self, source: DatabaseSource, watch: Stopwatch) -> None:
        self._source = source
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def open(self, db_id: str, limits: Limits = Limits()) -> _TimedDatabase:  # noqa: B008 (frozen)
        return _TimedDatabase(self._source.open(db_id, limits), self._watch)


class _TimedDatabase:
    def __init__(self, database: Any, watch: Stopwatch) -> None:
        self._database = database
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def __enter__(self) -> _TimedDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def execute(self, *arguments: Any, **named: Any) -> Result:
        return self._counted(self._database.execute(*arguments, **named))

    def query(self, *arguments: Any, **named: Any) -> Result:
        return self._counted(self._database.query(*arguments, **named))

    def scan(self, *arguments: Any, **named: Any) -> Result:
        return self._counted(self._database.scan(*arguments, **named))

    def run(self, statements: Iterable[str]) -> Result:
        # One by one, since only the last statement's time is told.
        result: Result = QueryResult((), ())
        for statement in statements:
            result = self._counted(self._database.run((statement,)))
            if isinstance(result, QueryError):
                break
        return result

    def state(self, *arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._database.state(*arguments, **named)
        finally:
            self._watch.add(statements=time.perf_counter() - began)

    def _counted(self, result: Result) -> Result:
        self._watch.add(statements=result.elapsed)
        return result


class _TimedAgent:
    def __init__(self, agent: Agent, watch: Stopwatch) -> None:
        self._agent = agent
        self._watch = watch
        self.sees_private = agent.sees_private

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return _TimedSession(self._agent.new_session(task, rng, private), self._watch)


class _TimedSession:
    def __init__(self, session: Session, watch: Stopwatch) -> None:
        self._session = session
        self._watch = watch

    def move(self, view: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._session.move(view)
        finally:
            self._watch.add(agent=time.perf_counter() - began)


def overheads(folder: Path, scratch: Path, parallel: int, rounds: int) -> tuple[Spent, Spent]:
    """What an episode takes on PostgreSQL, and on SQLite, with `parallel` of them side by side.

    Raises `Skip` where there is no server.
    """
    running = server(folder, "embedded")
    from birdenv.databases.postgres import PostgresSource, load_from_sqlite

    files = SqliteSource(demo_folder())
    for db_id in files.names():
        load_from_sqlite(running, files, db_id)
    spent: dict[str, list[Spent]] = {"postgres": [], "sqlite": []}
    with closing(PostgresSource(running)) as postgres:
        sources: tuple[DatabaseSource, ...] = (postgres, files)
        for source in sources:
            _played(source, scratch, parallel)  # caches are cold, and clones still to be made
        for _ in range(rounds):
            for source in sources:
                spent[source.dialect].append(_played(source, scratch, parallel))
    return _mean(spent["postgres"]), _mean(spent["sqlite"])


def _played(source: DatabaseSource, scratch: Path, parallel: int) -> Spent:
    watch = Stopwatch()
    timed = cast(DatabaseSource, TimedSource(source, watch))
    data = demo_folder() / DEMO_C_INTERACT_FILE
    benchmark = load_benchmark(demo_folder(), data, source=timed)
    setting = Setting("c-interact", [task.public for task in benchmark.tasks])
    game = CInteractRun(
        tasks=benchmark.tasks,
        source=timed,
        setting=setting,
        data_file=data,
        profile=PROFILES["strict"],
        user=RuleUser(),
    )
    directory = RunDirectory.create(scratch / "c-interact")
    prepare(directory, run_config(game, _AGENT, 0), resume=False)
    summary = run(game, _TimedAgent(make_agent(_AGENT, game), watch), directory, parallel=parallel)
    reward = summary.overall["figures"]["reward"]["value"]
    if reward != 1.0:
        raise RuntimeError(f"the oracle's reward on {source.dialect} is {reward}, not 1")
    walls = [record["wall_s"] for record in directory.read("timings").values()]
    tasks = len(walls)
    return Spent(tasks, sum(walls) / tasks, watch.agent / tasks, watch.statements / tasks)


def _mean(all_spent: list[Spent]) -> Spent:
    return Spent(
        all_spent[0].tasks,
        fmean(each.whole for each in all_spent),
        fmean(each.agent for each in all_spent),
        fmean(each.statements for each in all_spent),
    )
