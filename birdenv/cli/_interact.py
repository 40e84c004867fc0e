"""What `c-interact` and `a-interact` do alike before they play: who answers, which tasks, which databases."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from birdenv.benchmarks import (
    DEMO_C_INTERACT_FILE,
    WHERE_TO_ASK,
    demo_folder,
    missing_ground_truth,
)
from birdenv.cli import _options as options
from birdenv.cli._engine import databases_in
from birdenv.cli._playable import with_database
from birdenv.databases import DatabaseSource
from birdenv.errors import InputError
from birdenv.runs import Game, Setting
from birdenv.tasks.c_interact import CInteractTask, Profile, find_task_file, load_benchmark
from birdenv.users import RuleUser, User

__all__ = ["Chosen", "choose_tasks", "find_profile", "find_user"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tasks of a run, and what they were chosen from."""

    tasks: list[CInteractTask]
    source: DatabaseSource
    setting: Setting
    data_file: Path
    selection: Mapping[str, Any]


def find_profile(name: str, profiles: Mapping[str, Profile]) -> Profile:
    """The profile that `--profile` names."""
    if name not in profiles:
        raise InputError(f"--profile {name!r} is unknown; known: {', '.join(profiles)}")
    return profiles[name]


def find_user(name: str) -> User:
    """The simulated user that `--user` names."""
    if name != "rule":
        raise InputError(f"--user {name!r} is unknown; known: rule")
    return RuleUser()


def choose_tasks(
    game: Game,
    data_dir: Path | None,
    data: Path | None,
    selection: options.Selection,
    *,
    dialect: str,
    dsn: str | None,
    isolation: str,
    agent: str,
) -> Chosen:
    """Load the benchmark (the demo without a folder) and select; warns of what is missing.

    Raises `InputError` for options, files and databases that cannot be used.
    """
    if data_dir is None:
        data_dir = demo_folder()
        data = data or data_dir / DEMO_C_INTERACT_FILE
    data = data or find_task_file(data_dir)
    source = databases_in(data_dir, dialect, dsn, isolation, agent)
    benchmark = load_benchmark(data_dir, data, source=source)
    tasks = with_database(
        options.select(benchmark.tasks, selection),
        source,
        data_dir,
        named=bool(selection.databases or selection.instances),
    )
    missing = missing_ground_truth(tasks)
    if missing:
        where = f"ground truth is missing in {benchmark.task_file}: {missing}"
        print(f"Warning: {where}. Without sol_sql nothing is graded. {WHERE_TO_ASK}", file=sys.stderr)
    setting = Setting(game, [task.public for task in benchmark.tasks])
    return Chosen(tasks, source, setting, benchmark.task_file, asdict(selection))
