"""Determine the paths of the embedded server's files, create its data directory, and remove stale files.

The user's cache has one folder of files for each major version of PostgreSQL.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from birdenv.databases.postgres.server._programs import Binaries, ServerAccount, server_account
from birdenv.errors import InputError
from birdenv.files import cache_folder, file_errors

_SHARED_CACHE: Final = Path("/var/cache/birdenv")
_LONGEST_SOCKET: Final = 100  # bytes; the systems' limits are 103 and 107
SOCKET: Final = ".s.PGSQL.5432"


class ServerPaths:
    """The paths of an embedded server's files, and the accounts that run its programs.

    Attributes:
        root: the folder that contains the files.
        account: the account that runs the server.
        maker: the account that runs `initdb`.
        data: the server's data directory.
        log: the server's log file.
        users: a file on which every process that uses the server holds a shared lock.
        keeper: a file that contains the process id of the keeper, which locks it. The keeper is the process
            that runs the server (see `_supervisor`).
        starting: a file that a process locks to start the server or to delete its data.
        stay: a file that keeps the server running without users for as long as the file exists.
        session: a file that exists while the server runs. It contains the value that `machine_session` had
            when the server started.
    """

    def __init__(self, root: Path, account: ServerAccount, maker: ServerAccount) -> None:
        self.root, self.account, self.maker = root, account, maker
        self.data = root / "data"
        self.log = root / "server.log"
        self.users = root / "users.lock"
        self.keeper = root / "keeper.lock"
        self.starting = root / "starting.lock"
        self.stay = root / "stay"
        self.session = root / "session"

    @property
    def sockets(self) -> Path:
        """Return the folder of the server's socket. Only the server's account and root can enter it."""
        if len(os.fsencode(self.data / SOCKET)) <= _LONGEST_SOCKET:
            return self.data
        name = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"birdenv-{self.account.owner}-{name}"

    def make_sockets_folder(self) -> None:
        """Create the folder of the server's socket, unless it is the data directory.

        Raises `InputError` if the path is too long for a socket, or if the folder belongs to a different
        user.
        """
        if self.sockets == self.data:
            return
        advice = f"; the path of {self.data} is too long for a socket: set XDG_CACHE_HOME to a shorter one"
        if len(os.fsencode(self.sockets / SOCKET)) > _LONGEST_SOCKET:
            raise InputError(f"{self.sockets} is also too long for a socket{advice}, or TMPDIR")
        with file_errors(self.sockets, "made", advice):
            self.sockets.mkdir(mode=0o700, exist_ok=True)
            self.account.give(self.sockets)
            status = self.sockets.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != self.account.owner or status.st_mode & 0o077:
            raise InputError(f"{self.sockets} is not a private folder of this user: remove it{advice}")


def server_place(binaries: Binaries) -> ServerPaths:
    """Create the folder of this user's embedded server, and return the paths in it.

    The folder is in `$XDG_CACHE_HOME/birdenv` (by default `~/.cache/birdenv`), and is named after the major
    version of PostgreSQL. If root's server cannot enter that place, the folder is in /var/cache/birdenv.
    Raises `InputError` if the folder cannot be created or entered.
    """
    try:
        wanted = cache_folder().absolute()
    except RuntimeError:
        raise InputError("this user has no home directory: set XDG_CACHE_HOME to a writable folder") from None
    wanted /= f"postgres-{binaries.major}"
    account, maker = server_account(wanted / "data")
    if not account.can_reach(wanted / "data"):
        name = hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12]
        wanted = _SHARED_CACHE / f"{wanted.name}-{name}"
        account, maker = server_account(wanted / "data")
    with file_errors(wanted, "made", "; set XDG_CACHE_HOME to a folder that can be written"):
        wanted.mkdir(parents=True, exist_ok=True)
        if account.uid is not None:
            wanted.chmod(0o755)
        with wanted.joinpath("users.lock").open("a"):
            pass
    if not account.can_reach(wanted / "data"):
        raise InputError(
            f"{wanted}: the server does not run as root, and cannot enter this folder; set XDG_CACHE_HOME to "
            "a folder that other users may enter"
        )
    return ServerPaths(wanted, account, maker)


def with_reachable_programs(binaries: Binaries, place: ServerPaths) -> Binaries:
    """Return programs that the server's account can run, copying them if root's venv is inaccessible.

    The caller must hold the lock `place.starting`. Raises `InputError` if the programs cannot be copied.
    """
    if all(who.can_reach(binaries.folder / "postgres") for who in (place.account, place.maker)):
        return binaries
    package, install = binaries.package, binaries.folder.parent
    whole = place.root / f"programs-{binaries.version}"
    copied = whole / package.name / install.name
    if not whole.exists():
        unfinished = place.root / "programs.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        with file_errors(whole, "copied", "; PostgreSQL's programs take 30 MB there"):
            for part in ("bin", "lib", "share"):
                shutil.copytree(
                    install / part, unfinished / package.name / install.name / part, symlinks=True
                )
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, unfinished / libraries.name)
            _open_to_all(unfinished)
            unfinished.rename(whole)
    return replace(binaries, folder=copied / "bin")


def _open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


@contextmanager
def lock(path: Path, kind: int, seconds: float, blame: str) -> Iterator[int]:
    """Hold a lock on a file during the `with` block. Yield the file descriptor.

    Args:
        path: the file, which is created if necessary.
        kind: `fcntl.LOCK_SH` or `fcntl.LOCK_EX`.
        seconds: how long to wait for the lock.
        blame: the error message if the lock is not available in time.

    Raises:
        InputError: the lock was not available in time.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        wait_for_lock(descriptor, kind, seconds, blame)
        yield descriptor
    finally:
        os.close(descriptor)


def wait_for_lock(descriptor: int, kind: int, seconds: float, blame: str) -> None:
    """Lock an open file by its descriptor. For the other arguments and the errors, see `lock`."""
    end = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise InputError(f"{blame} (waited {seconds:g} s)") from None
            time.sleep(0.02)


ADMIN: Final = "birdenv"
"""The superuser of the embedded server."""

# Text is sorted by code point, as in SQLite, and the same on every machine.
_INITDB_OPTIONS: Final = (
    "--auth=trust --encoding=UTF8 --no-sync --no-data-checksums"
    " --locale-provider=builtin --locale=C --builtin-locale=C.UTF-8"
).split()
_REASON: Final = re.compile(r"\b(FATAL|PANIC|ERROR|HINT|Error|error|could not|No space)\b")


def make_data(binaries: Binaries, place: ServerPaths) -> None:
    """Create the data directory by running `initdb`. It has a temporary name until it is complete.

    Raises `InputError` if `initdb` fails.
    """
    unfinished = place.root / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    with file_errors(unfinished, "made"):
        unfinished.mkdir(mode=0o700)
        place.maker.give(unfinished)
    made = subprocess.run(
        [binaries.folder / "initdb", "-D", unfinished, "-U", ADMIN, *_INITDB_OPTIONS],
        capture_output=True,
        text=True,
        errors="replace",
        cwd=unfinished,
        env={"PATH": os.defpath, "LC_ALL": "C"},
        **place.maker.as_keywords(),
    )
    if made.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        reasons = _reasons(made.stderr.splitlines())
        raise InputError(f"{place.data}: the server's files cannot be created: {reasons}")
    place.account.give(unfinished)
    shutil.rmtree(place.data, ignore_errors=True)
    unfinished.rename(place.data)


def pid_file(data: Path) -> dict[str, str]:
    """Return the fields of the server's `postmaster.pid`, or {} if the file is missing or incomplete."""
    names = ("pid", "data", "started", "port", "sockets", "address", "memory", "status")
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return {}
    return dict(zip(names, map(str.strip, lines), strict=False))


def remove_stale_locks(place: ServerPaths) -> None:
    """Remove the lock files that a killed server left behind.

    PostgreSQL cannot tell whether the process id in a lock file now belongs to a different program.
    """
    for path in (place.data / "postmaster.pid", place.sockets / f"{SOCKET}.lock"):
        with suppress(FileNotFoundError):
            number = path.read_text().partition("\n")[0].strip()
            if not number.isdecimal() or not _is_postgres(int(number)):
                path.unlink()


def _is_postgres(process: int) -> bool:
    """Return whether a process exists and runs PostgreSQL; True if the system does not say."""
    try:
        return "postgres" in Path(f"/proc/{process}/comm").read_text()
    except OSError:
        return not Path("/proc/self").exists()


def machine_session() -> str:
    """Return a string that changes when the machine restarts, or "" if the system has none, as on macOS."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def last_words(log: Path) -> str:
    """Return the last errors in the server's log as one line, or its last lines if it has no errors."""
    return _reasons(log.read_text(errors="replace").splitlines()[-40:]) or f"its log {log} is empty"


def _reasons(lines: list[str]) -> str:
    faults = [line for line in lines if _REASON.search(line)]
    return " ".join(" ".join((faults or lines)[-4:]).split())
