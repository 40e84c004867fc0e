"""Find the folders of pairs of gold and predicted SQL, and name new ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from birdenv.errors import InputError
from birdenv.files import exists, file_errors, is_directory
from birdenv.runs._run_folder import run_folder
from birdenv.runs.em_esm._pairs import GOLD, PAIRS, PREDS

_DATED = re.compile(r"run_([0-9]{8}_[0-9]{6})")


class NewestRun(NamedTuple):
    """The newest complete folder, and a message for each newer folder that says why it was skipped."""

    folder: Path
    skipped: list[str]


def newest_run(root: Path, is_complete: Callable[[Path], bool]) -> NewestRun:
    """Return the newest complete folder `run_*` in `root`.

    Folders named `run_YYYYMMDD_HHMMSS` are ordered by this date, and count as newer than all other folders,
    which are ordered by modification time and then by name. Links that lead out of `root` are skipped.

    Args:
        root: the folder to search.
        is_complete: a function that returns whether a folder has all its files.

    Raises:
        InputError: there is no complete folder.
    """
    skipped: list[str] = []
    for folder in _candidates(root):
        if not folder.resolve().is_relative_to(root.resolve()):
            skipped.append(f"{folder}: a link that leads out of {root}")
        elif not is_complete(folder):
            skipped.append(f"{folder}: not complete (the run may still be in progress)")
        else:
            return NewestRun(folder, skipped)
    why = f"; skipped: {'; '.join(skipped)}" if skipped else ""
    raise InputError(
        f"no run found: --run-dir is not set, and --runs-root {root} contains no complete folder run_*{why}"
    )


def _candidates(root: Path) -> list[Path]:
    if not is_directory(root):
        return []
    with file_errors(root):
        folders = [path for path in root.iterdir() if path.name.startswith("run_") and path.is_dir()]
        dated = sorted((path for path in folders if _has_date(path.name)), key=lambda path: path.name)
        others = [path for path in folders if path not in dated]
        others.sort(key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [*reversed(dated), *reversed(others)]


def _has_date(name: str) -> bool:
    match = _DATED.fullmatch(name)
    if match is None:
        return False
    try:
        datetime.strptime(match[1], "%Y%m%d_%H%M%S")
    except ValueError:
        return False
    return True


def holds_pairs(folder: Path) -> bool:
    """Return whether the folder contains pair files."""
    return exists(folder / PAIRS) or (exists(folder / GOLD) and exists(folder / PREDS))


def pairs_folder(path: Path) -> Path:
    """Return the path itself or, if it has no pair files, the BIRD run or newest pair folder inside it.

    Raises `InputError` if there is neither.
    """
    if not is_directory(path) or any(exists(path / name) for name in (PAIRS, GOLD, PREDS)):
        return path
    try:
        return run_folder(path)
    except InputError as error:
        if found := next(filter(holds_pairs, _candidates(path)), None):
            return found
        pairs = f"{PAIRS}, or {GOLD} and {PREDS}"
        raise InputError(f"{path} has no pairs ({pairs}) and no run that can be read: {error}") from None


def export_folder(place: Path) -> Path:
    """Return `place` if its name begins with `run_`; otherwise, the path of a new folder in `place`."""
    if place.name.startswith("run_"):
        return place
    moment = datetime.now()
    while exists(folder := place / moment.strftime("run_%Y%m%d_%H%M%S")):
        moment += timedelta(seconds=1)
    return folder
