"""Compiled tables on the disk: compiled once for a benchmark, settings and version of the program."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import fields
from operator import itemgetter
from pathlib import Path

import numpy as np

from birdenv.envs.candidates._setting import CandidateSetting
from birdenv.envs.candidates._tables import Tables, compile_tables, compile_task, joined
from birdenv.errors import BenchmarkError, InfrastructureError
from birdenv.files import cache_folder, code_digest


def tables_of(setting: CandidateSetting) -> Tables:
    """Return the tables of a setting: those on the disk, or new ones.

    They are kept in the user's cache directory, where that can be written.
    """
    stored = _stored(setting)
    if stored is not None:
        return stored
    made = compile_tables(setting, _tell if sys.stderr.isatty() else None)
    _keep(setting, made)
    return made


class TaskTables:
    """Tables for a single environment: those on the disk, or each task's own from when it is first played.

    Once all tasks were played, their tables are kept on the disk.
    """

    def __init__(self, setting: CandidateSetting) -> None:
        self._setting = setting
        self._all = _stored(setting)
        self._of_task: dict[int, Tables | None] = {}

    def stage_of(self, task: int) -> tuple[Tables, int] | None:
        """Return tables, and the stage of them that is a task's request; None if it cannot be compiled."""
        if self._all is not None:
            return self._all, task
        if task not in self._of_task:
            try:
                self._of_task[task] = compile_task(self._setting, self._setting.ids[task])
            except BenchmarkError:
                self._of_task[task] = None
            except InfrastructureError:
                return None  # the next episode may have more luck
            self._keep_if_whole()
        tables = self._of_task[task]
        return None if tables is None else (tables, 0)

    def _keep_if_whole(self) -> None:
        made = [
            tables for _, tables in sorted(self._of_task.items(), key=itemgetter(0)) if tables is not None
        ]
        if len(made) == len(self._setting.ids):
            _keep(self._setting, joined(made))


def _tell(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rcompiling candidates: {done} of {total} tasks", end=end, file=sys.stderr, flush=True)


def _stored(setting: CandidateSetting) -> Tables | None:
    with suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(_file(setting)) as stored:
        return Tables(**{field.name: stored[field.name] for field in fields(Tables)})
    return None


def _keep(setting: CandidateSetting, tables: Tables) -> None:
    """Write beside the target and rename, so that nobody ever reads half of it."""
    path = _file(setting)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
            np.savez_compressed(file, **{field.name: getattr(tables, field.name) for field in fields(Tables)})
        Path(file.name).replace(path)


def _file(setting: CandidateSetting) -> Path:
    return cache_folder() / "candidates" / f"{_digest(setting)}.npz"


def _digest(setting: CandidateSetting) -> str:
    """What decides the tables: the tasks, their databases, the settings, and birdenv's own code."""
    tasks = setting.arena._tasks
    asked = {"ids": setting.ids, "recorded": setting.recorded}
    settings = {"layout": repr(setting.layout), "questions": setting.questions}
    known = json.dumps([tasks.config(), asked, settings, code_digest()], sort_keys=True, default=str)
    return hashlib.sha256(known.encode()).hexdigest()[:32]
