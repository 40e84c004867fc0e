"""Episodes of c-Interact and a-Interact from JSON-able settings, for Gymnasium and PettingZoo alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.databases import DatabaseSource, Isolation, open_source
from birdenv.envs._episodes import Episodes, Selection
from birdenv.errors import InputError
from birdenv.grading import ConversationalGrader
from birdenv.tasks.a_interact import AInteractController
from birdenv.tasks.c_interact import (
    PROFILES,
    Benchmark,
    CInteractController,
    CInteractTask,
    find_task_file,
    load_benchmark,
)
from birdenv.users import RuleUser, User

__all__ = ["MAX_PATIENCE", "a_interact_episodes", "c_interact_episodes", "find_user"]

MAX_PATIENCE = 100


def c_interact_episodes(
    *,
    data_dir: str | None,
    data: str | None,
    profile: str,
    patience: int,
    execute_sql: bool,
    instances: Sequence[str] | None,
    databases: Sequence[str] | None,
    isolation: Isolation,
    dialect: str,
    dsn: str | None,
) -> Episodes:
    """Load the benchmark (the demo if no folder is given) and bind the rules that every episode has.

    Tasks whose database is not there are left out, unless they were asked for by name.
    """
    if profile not in PROFILES:
        raise InputError(f"unknown profile {profile!r}; known profiles: {', '.join(PROFILES)}")
    _check_patience(patience)
    tasks, source = _load(data_dir, data, instances, databases, isolation, dialect, dsn)
    start = partial(
        CInteractController,
        source=source,
        grader=ConversationalGrader(source),
        profile=PROFILES[profile],
        patience=patience,
        execute_sql=execute_sql,
    )
    return Episodes(tasks, start, source)


def a_interact_episodes(
    *,
    data_dir: str | None,
    data: str | None,
    patience: int,
    instances: Sequence[str] | None,
    databases: Sequence[str] | None,
    isolation: Isolation,
    dialect: str,
    dsn: str | None,
) -> Episodes:
    """The same tasks under the rules of a-Interact."""
    _check_patience(patience)
    tasks, source = _load(data_dir, data, instances, databases, isolation, dialect, dsn)
    start = partial(
        AInteractController, source=source, grader=ConversationalGrader(source), patience=patience
    )
    return Episodes(tasks, start, source)


def _check_patience(patience: int) -> None:
    if not 0 <= patience <= MAX_PATIENCE:
        raise InputError(f"patience must be from 0 to {MAX_PATIENCE}, got {patience!r}")


def _load(
    data_dir: str | None,
    data: str | None,
    instances: Sequence[str] | None,
    databases: Sequence[str] | None,
    isolation: Isolation,
    dialect: str,
    dsn: str | None,
) -> tuple[list[CInteractTask], DatabaseSource]:
    """The selected tasks, and the source of their databases."""
    selection = Selection(instances, databases)
    folder, file = Path(data_dir) if data_dir else demo_folder(), Path(data) if data else None
    if data_dir is None and data is None:
        file = folder / DEMO_C_INTERACT_FILE
    file = file or find_task_file(folder)
    benchmark = load_benchmark(
        folder,
        file,
        source=open_source(folder, dialect, dsn=dsn, isolation=isolation),
        select=lambda record: selection.takes(record.instance_id, record.selected_database),
    )
    selection.check()
    tasks = _playable(benchmark, named=instances is not None or databases is not None)
    return tasks, benchmark.source


def _playable(benchmark: Benchmark, *, named: bool) -> list[CInteractTask]:
    """The tasks whose database is there; the published Mini-Interact lacks some.

    Raises `InputError` if tasks were asked for by name and a database is missing, or if none is left.
    """
    there = set(benchmark.source.names())
    playable = [task for task in benchmark.tasks if task.public.database in there]
    if len(playable) < len(benchmark.tasks) and (named or not playable):
        missing = next(task for task in benchmark.tasks if task.public.database not in there)
        benchmark.source.check(missing.public.database)
    return playable


def find_user(name: str) -> User:
    """The simulated user of that name."""
    if name != "rule":
        raise InputError(f"unknown user {name!r}; known users: rule")
    return RuleUser()
