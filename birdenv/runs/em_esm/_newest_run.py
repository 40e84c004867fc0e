"""Which folder below a root is the newest run of the EM/ESM layout?"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from birdenv.errors import InputError
from birdenv.files import file_errors, is_directory

_DATED = re.compile(r"run_([0-9]{8}_[0-9]{6})")


class NewestRun(NamedTuple):
    """The folder, and those that looked newer but were passed over, each with the reason."""

    folder: Path
    skipped: list[str]


def newest_run(root: Path, is_complete: Callable[[Path], bool]) -> NewestRun:
    """The newest complete folder `run_*` in `root`.

    Folders named `run_YYYYMMDD_HHMMSS` with a real date come first, the latest name first; then the others,
    by the time of their last change and then by name. Links out of `root` do not count. Raises
    `InputError` if there is none.
    """
    skipped: list[str] = []
    for folder in _candidates(root):
        if not folder.resolve().is_relative_to(root.resolve()):
            skipped.append(f"{folder}: a link that leads out of {root}")
        elif not is_complete(folder):
            skipped.append(f"{folder}: not complete (the run may be going on)")
        else:
            return NewestRun(folder, skipped)
    why = f"; passed over: {'; '.join(skipped)}" if skipped else ""
    raise InputError(
        f"no run found: --run-dir is not given, and --runs-root {root} holds no complete folder run_*{why}"
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
