"""The demo's c-Interact tasks on PostgreSQL and on SQLite, and where the time of an episode goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final, cast

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.databases import DatabaseSource, Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.dialogue import Arena, Move, Player, PlayerContext, Rules, View
from birdenv.dialogue.players import PlayerSpec
from birdenv.grading import InteractGrader
from birdenv.runs import RunDirectory, RunPlan, prepare, run
from birdenv.tasks.c_interact import (
    GAME,
    PROFILES,
    CInteractRules,
    CInteractSettings,
    InteractTasks,
    load_benchmark,
)
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
    """Makes the agent's players, and adds up what their moves take."""

    def __init__(self, spec: str, watch: Stopwatch) -> None:
        self._factory, self._argument = PlayerSpec(spec).load()
        self._watch = watch
        self.sees_private = getattr(self._factory, "sees_private", False)

    def __call__(self, argument: str, context: PlayerContext) -> _TimedPlayer:
        return _TimedPlayer(self._factory(self._argument, context), self._watch)


class _TimedPlayer:
    def __init__(self, player: Player, watch: Stopwatch) -> None:
        self._player = player
        self._watch = watch

    def move(self, view: View) -> Move | None:
        began = time.perf_counter()
        try:
            return self._player.move(view)
        finally:
            self._watch.add(agent=time.perf_counter() - began)


class _TimedTasks(InteractTasks):
    """The demo's tasks of c-Interact on a source that somebody else closes."""

    def __init__(self, source: DatabaseSource) -> None:
        data, settings = demo_folder() / DEMO_C_INTERACT_FILE, CInteractSettings()
        tasks = load_benchmark(demo_folder(), data, source=source).tasks
        super().__init__(tasks, tasks, source, data, settings)
        self._grader = InteractGrader(source, settings.limits)

    def start(self, instance_id: str) -> Rules:
        return CInteractRules(
            self.tasks[instance_id],
            self.source,
            self._grader,
            profile=PROFILES["strict"],
            limits=self.settings.limits,
        )

    def skipped(self, instance_id: str) -> Any:
        raise RuntimeError(f"{instance_id} could not be played")

    def close(self) -> None:
        """Leave the source open."""


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
    game = replace(GAME, tasks=lambda settings: _TimedTasks(timed))
    with closing(Arena(game, CInteractSettings())) as arena:
        plan = RunPlan(arena, {0: _TimedAgent(_AGENT, watch), 1: "rule"}, parallel=parallel)
        directory = RunDirectory.create(scratch / "c-interact")
        prepare(directory, plan.config(), resume=False)
        summary = run(plan, directory)
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
