"""BIRD mini-dev as scoring is measured on it: its questions, 13 systems' answers, and databases to run on.

The questions, answers and schemas are read where they are (`BIRDENV_SHARED_DATA`); the databases are those of
`_filled_databases`, and beside them the two real ones that can be had, with the same questions once more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Final

import sqlglot

from birdenv_baselines.bench import _filled_databases, _filled_rows, _gold_literals, _schemas
from birdenv_baselines.bench._databases import remove_old
from birdenv_baselines.bench._episode_tasks import Task
from birdenv_baselines.bench._filled_databases import FILLINGS, build_filled, copy_real
from birdenv_baselines.bench._measure import Skip
from birdenv_baselines.bench._schemas import read_schemas
from birdenv_baselines.bench._statement_times import LONGEST, Times, statement_times

__all__ = ["ONE_SYSTEM", "MiniDev", "data_folder"]

ONE_SYSTEM: Final = "gpt-4"
_REAL: Final = {"superhero_real": "superhero", "financial_real": "financial"}
_SEPARATOR: Final = "\t----- bird -----\t"  # between SQL and database in the values of prediction files


@dataclass(frozen=True, slots=True)
class _Question:
    db_id: str
    gold: str
    answers: Mapping[str, str]


def data_folder() -> Path:
    """Where the benchmark's data are. Raises `Skip` if there are none."""
    project = Path(__file__).resolve().parents[3]
    shared = Path(os.environ.get("BIRDENV_SHARED_DATA", project.parent / "shared" / "data"))
    if not (shared / "mini_dev" / "tables.json").is_file():
        raise Skip(f"no BIRD mini-dev data in {shared} (set BIRDENV_SHARED_DATA)")
    return shared / "mini_dev"


class MiniDev:
    """`cache`: where the databases are built. `megabytes`: none that are larger."""

    def __init__(self, cache: Path, megabytes: float) -> None:
        self._cache = cache
        self._fillings = [filling for filling in FILLINGS if filling.megabytes <= megabytes]

    @cached_property
    def folder(self) -> Path:
        """The databases, `<db_id>/<db_id>.sqlite`; its name changes with what they are made of."""
        data = data_folder()
        modules = (_filled_databases, _filled_rows, _gold_literals, _schemas)
        digest = hashlib.sha256(f"{sqlite3.sqlite_version} {version('sqlglot')}".encode())
        for file in (*(Path(str(module.__file__)) for module in modules), *_inputs(data)):
            digest.update(file.read_bytes())
        return self._cache / f"mini-dev-{digest.hexdigest()[:16]}"

    def file(self, db_id: str) -> Path:
        return self.folder / db_id / f"{db_id}.sqlite"

    @property
    def megabytes(self) -> Mapping[str, float]:
        """The databases and how large they are."""
        ids = (*(filling.db_id for filling in self._fillings), *_REAL)
        return {db_id: self.file(db_id).stat().st_size / 1e6 for db_id in ids}

    @property
    def files(self) -> Mapping[str, Path]:
        return {db_id: self.file(db_id) for db_id in self.megabytes}

    def build(self, tell: Callable[[str], object]) -> None:
        """Build the databases that are not there. `tell` is told which comes next. Raises `Skip`, `OSError`
        or `sqlite3.Error`."""
        data = data_folder()
        with suppress(OSError):
            os.utime(self.folder)
        remove_old(self.folder, "mini-dev-*")
        schemas = read_schemas(data / "tables.json")
        for filling in self._fillings:
            tell(filling.db_id)
            golds = [question.gold for question in self._questions if question.db_id == filling.db_id]
            build_filled(self.file(filling.db_id), filling, schemas[filling.db_id], golds)
        for db_id, real in _REAL.items():
            copy_real(self.file(db_id), data / "dev_databases" / real / f"{real}.sqlite")

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(self._questions[0].answers)

    @cached_property
    def _questions(self) -> Sequence[_Question]:
        """In the order of the 2024 edition, which is that of the prediction files."""
        data = data_folder()
        answers = {_system(file): json.loads(file.read_text(encoding="utf-8")) for file in _inputs(data)[2:]}
        return [
            _Question(
                record["db_id"],
                record["SQL"],
                {system: by[str(i)].split(_SEPARATOR)[0] for system, by in answers.items()},
            )
            for i, record in enumerate(json.loads(_inputs(data)[1].read_text(encoding="utf-8")))
        ]

    def tasks(
        self, systems: Sequence[str], every: int = 1, largest: float = inf, longest: float = LONGEST
    ) -> tuple[Task, ...]:
        """Every so manieth question on databases of at most `largest` MB, as it was answered by `systems`.

        Left out are those whose gold or answer takes over `longest` seconds.
        """
        megabytes = self.megabytes
        found = []
        for db_id in [db_id for db_id, size in megabytes.items() if size <= largest]:
            questions = [each for each in self._questions if each.db_id == _REAL.get(db_id, db_id)][::every]
            tasks = [
                Task(db_id, each.gold, each.answers[system], _table(each.gold))
                for system in systems
                for each in questions
            ]
            times = statement_times(
                self.file(db_id), {sql for task in tasks for sql in (task.gold, task.prediction)}
            )
            found += [task for task in tasks if _is_below(longest, task, times)]
        return tuple(found)

    def quick_tasks(self) -> tuple[Task, ...]:
        """Questions on databases of less than 10 MB whose gold and answer take below 0.3 ms each.

        Raises `Skip` if no data are there.
        """
        return self.tasks([ONE_SYSTEM], largest=10.0, longest=0.0003)


def _inputs(data: Path) -> list[Path]:
    tables, tasks = data / "tables.json", data / "mini_dev_sqlite_2024.json"
    return [tables, tasks, *sorted((data / "predictions").glob("*.json"))]


def _system(file: Path) -> str:
    return file.stem.removeprefix("predict_mini_dev_").lower().removesuffix("_sqlite")


def _table(gold: str) -> str:
    """The first table that the gold reads, as it can stand in SQL."""
    first = next(sqlglot.parse_one(gold, dialect="sqlite").find_all(sqlglot.exp.Table), None)
    return "sqlite_master" if first is None else _schemas.quoted(first.name)


def _is_below(longest: float, task: Task, times: Times) -> bool:
    taken = [times[sql] for sql in (task.gold, task.prediction)]
    return all(seconds is not None and seconds <= longest for seconds in taken)
