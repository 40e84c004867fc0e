"""Which tasks an environment plays, and starting an episode of one.

Episodes of c-Interact and a-Interact from JSON-able settings, for Gymnasium and PettingZoo alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.databases import DatabaseSource, Isolation, open_source
from birdenv.dialogue import Controller
from birdenv.errors import InputError
from birdenv.grading import InteractGrader
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

_NAMES_SHOWN = 8
_OPTIONS = ("instance_id", "index")


class EpisodeController(Controller, Protocol):
    """A controller of one of our games."""

    def outcome(self) -> dict[str, Any]:
        """The public result."""

    def abort(self) -> None:
        """End the episode, truncated as `infra_error`."""

    def close(self) -> None:
        """Let go of the episode's database."""


class PublicTask(Protocol):
    @property
    def instance_id(self) -> str: ...

    @property
    def database(self) -> str: ...


class Task(Protocol):
    @property
    def public(self) -> PublicTask: ...


class Episodes:
    """The tasks that an environment draws from, and `start`, which makes the controller of one of them.

    They are played on `source`, which `close` closes.
    """

    def __init__(
        self, tasks: Sequence[Task], start: Callable[[Any], EpisodeController], source: DatabaseSource
    ) -> None:
        self.tasks = tuple(tasks)
        self.start = start
        self.close = source.close
        self.instance_ids = tuple(task.public.instance_id for task in self.tasks)

    def pick(self, rng: np.random.Generator, options: Mapping[str, Any] | None) -> Any:
        """The task that `options` name by `instance_id` or `index`, or one drawn with `rng`.

        Raises `InputError` for another option, both at once, an unknown id, an index out of range.
        """
        chosen = {name: value for name, value in (options or {}).items() if value is not None}
        unknown = [name for name in chosen if name not in _OPTIONS]
        if unknown:
            raise InputError(f"unknown reset option {unknown[0]!r}; known options: {', '.join(_OPTIONS)}")
        if len(chosen) > 1:
            raise InputError("give the reset option instance_id or index, not both")
        if "instance_id" in chosen:
            return self.tasks[self._position(chosen["instance_id"])]
        if "index" in chosen:
            return self.tasks[self._checked_index(chosen["index"])]
        return self.tasks[int(rng.integers(len(self.tasks)))]

    def _position(self, instance_id: Any) -> int:
        try:
            return self.instance_ids.index(instance_id)
        except ValueError:
            known = _listed(self.instance_ids)
            raise InputError(f"no task {instance_id!r}; this environment has {known}") from None

    def _checked_index(self, index: Any) -> int:
        whole = isinstance(index, (int, np.integer)) and not isinstance(index, bool)
        if not whole or not 0 <= index < len(self.tasks):
            raise InputError(f"no task at index {index!r}; this environment has 0 to {len(self.tasks) - 1}")
        return int(index)


class Selection:
    """The filters `instances` and `databases`; None lets everything through."""

    def __init__(self, instances: Iterable[str] | None, databases: Iterable[str] | None) -> None:
        self._wanted = {
            "instance": _names("instances", instances),
            "database": _names("databases", databases),
        }
        self._seen: dict[str, dict[str, None]] = {"instance": {}, "database": {}}
        self._taken = 0

    def takes(self, instance_id: str, database: str) -> bool:
        """Whether this task is wanted; remembers what was there, for `check`."""
        names = {"instance": instance_id, "database": database}
        takes = True
        for field, name in names.items():
            self._seen[field][name] = None
            wanted = self._wanted[field]
            takes = takes and (wanted is None or name in wanted)
        self._taken += takes
        return takes

    def check(self) -> None:
        """Raise `InputError` if a wanted name never came, or if nothing was taken."""
        for field, wanted in self._wanted.items():
            missing = [name for name in wanted or () if name not in self._seen[field]]
            if missing:
                raise InputError(
                    f"no {field} {missing[0]!r} in the task file; it has {_listed(self._seen[field])}"
                )
        if not self._taken:
            raise InputError(
                "no task is left: the instances asked for do not belong to the databases asked for"
            )


def _names(field: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    if isinstance(names, str):
        raise InputError(f"{field} must be a list of names, got the text {names!r}")
    return None if names is None else tuple(names)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


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
        grader=InteractGrader(source),
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
    start = partial(AInteractController, source=source, grader=InteractGrader(source), patience=patience)
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
