"""Compiled tables on the disk: compiled once for a benchmark, settings and version of the program."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from birdenv.envs.candidates._setting import CandidateSetting
from birdenv.envs.candidates._tables import Tables, compile_tables
from birdenv.files import cache_folder, code_digest


def tables_of(setting: CandidateSetting) -> Tables:
    """Return the tables of a setting: those on the disk, or new ones.

    They are kept in the user's cache directory, where that can be written.
    """
    path = cache_folder() / "candidates" / f"{_digest(setting)}.npz"
    with suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(path) as stored:
        return Tables(**{field.name: stored[field.name] for field in fields(Tables)})
    made = compile_tables(setting, _tell if sys.stderr.isatty() else None)
    with suppress(OSError):
        _keep(path, {field.name: getattr(made, field.name) for field in fields(Tables)})
    return made


def _tell(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rcompiling candidates: {done} of {total} tasks", end=end, file=sys.stderr, flush=True)


def _keep(path: Path, arrays: dict[str, Any]) -> None:
    """Write beside the target and rename, so that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as file:
        np.savez_compressed(file, **arrays)
    Path(file.name).replace(path)


def _digest(setting: CandidateSetting) -> str:
    """What decides the tables: the tasks, their databases, the settings, and birdenv's own code."""
    tasks = setting.arena._tasks
    asked = {"ids": setting.ids, "first": [setting.first(name) for name in setting.ids]}
    settings = {"layout": repr(setting.layout), "questions": setting.questions}
    known = json.dumps([tasks.config(), asked, settings, code_digest()], sort_keys=True, default=str)
    return hashlib.sha256(known.encode()).hexdigest()[:32]
