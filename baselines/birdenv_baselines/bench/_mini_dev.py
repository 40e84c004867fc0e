"""Read the available part of BIRD mini-dev, and score predictions as the official script does.

The questions are read from the 2024 edition, because the prediction files of the 13 systems follow the order
in that edition. The environment variable `BIRDENV_SHARED_DATA` contains the path of the data folder.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Final

from birdenv_baselines.bench._measure import Skip
from birdenv_baselines.bench._tasks import Task, official_verdict

__all__ = ["SEPARATOR", "MiniDev", "official_script", "read_mini_dev", "shared_data", "two_processes"]

SEPARATOR: Final = "\t----- bird -----\t"  # between SQL and database in the values of prediction files
_DATABASES: Final = ("superhero", "financial")
_AT_ONCE: Final = 4  # tasks sent to a process in one message


@dataclass(frozen=True, slots=True)
class MiniDev:
    """The predictions of 13 systems for BIRD mini-dev.

    Attributes:
        folder: the folder of the databases.
        answers: a task for each system and question, with the system's SQL as the prediction.
    """

    folder: Path
    answers: tuple[Task, ...]


def shared_data() -> Path:
    """Return the folder of public benchmarks: `BIRDENV_SHARED_DATA`, or `shared/data` beside the project."""
    project = Path(__file__).resolve().parents[3]
    return Path(os.environ.get("BIRDENV_SHARED_DATA", project.parent / "shared" / "data"))


def read_mini_dev() -> MiniDev:
    """Return the predictions of all systems for the questions whose databases are available.

    Raises:
        Skip: the data are missing.
    """
    shared = shared_data()
    data, folder = shared / "mini_dev", shared / "mini_dev" / "dev_databases"
    predictions = sorted((data / "predictions").glob("*.json"))
    if not predictions or not all((folder / name / f"{name}.sqlite").is_file() for name in _DATABASES):
        raise Skip(f"not measured: data missing: no BIRD mini-dev in {shared} (set BIRDENV_SHARED_DATA)")
    questions = json.loads((data / "mini_dev_sqlite_2024.json").read_text(encoding="utf-8"))
    answers = []
    for file in predictions:
        by_place = json.loads(file.read_text(encoding="utf-8"))
        answers += [
            Task(each["db_id"], each["SQL"], by_place[str(i)].split(SEPARATOR)[0])
            for i, each in enumerate(questions)
            if each["db_id"] in _DATABASES
        ]
    return MiniDev(folder, tuple(answers))


def two_processes() -> Pool:
    """Start a pool of two processes for `official_script`. Use it in a `with` statement."""
    return multiprocessing.get_context("spawn").Pool(2, _leave_ctrl_c_to_the_parent)


def official_script(folder: Path, tasks: Sequence[Task], pool: Pool) -> list[bool]:
    """Return whether each prediction is right, computed as in mini_dev's `evaluation_ex.py`.

    Both queries of every pair are executed, and all their rows are fetched.
    """
    work = [(folder / task.db_id / f"{task.db_id}.sqlite", task.gold, task.prediction) for task in tasks]
    return pool.starmap(official_verdict, work, _AT_ONCE)


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
