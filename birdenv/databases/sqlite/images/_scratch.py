"""Manage the scratch folder for private files of episodes, with a subfolder for each process.

A process holds a lock in its folder while it runs, and removes the folder when it ends. A folder without a
lock was left behind by a killed process; the next process removes it. To use a different file system, set the
environment variable `BIRDENV_SCRATCH`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from birdenv.errors import InputError

_LOCK = "lock"
_mine: tuple[int, Path, int] | None = None  # process id, its folder, and the descriptor with the lock


def scratch_root() -> Path:
    """Return the path of this user's scratch folder, which may not exist yet."""
    parent = os.environ.get("BIRDENV_SCRATCH") or tempfile.gettempdir()
    return Path(parent) / f"birdenv-{os.getuid()}"


def new_folder() -> Path:
    """Create an empty folder, and return its path. When the process ends, the folder is removed.

    Raises `InputError` if the scratch folder cannot be written.
    """
    try:
        return Path(tempfile.mkdtemp(dir=_own_folder()))
    except OSError as error:
        raise InputError(
            f"cannot write to {scratch_root()} ({error.strerror}): set BIRDENV_SCRATCH to a folder on a file"
            " system with free space"
        ) from error


def remove_folder(folder: Path) -> None:
    """Remove a folder that `new_folder` created in this process. In a forked child, do nothing."""
    if _mine is not None and _mine[0] == os.getpid() and folder.parent == _mine[1]:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> list[str]:
    """Remove the folders of killed processes, and return the names of these folders. Ignores `OSError`."""
    root, removed = scratch_root(), []
    with contextlib.suppress(OSError):
        if _is_ours(root):
            with _locked(root / _LOCK):
                for folder in root.iterdir():
                    if folder.is_dir() and not folder.is_symlink() and _is_abandoned(folder):
                        shutil.rmtree(folder, ignore_errors=True)
                        removed.append(folder.name)
    return removed


sweep_once: Final = cache(sweep)
"""Calls `sweep` once in each process."""


def _own_folder() -> Path:
    global _mine
    if _mine is None or _mine[0] != os.getpid():  # a forked child gets its own folder
        root = scratch_root()
        root.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(root):
            raise InputError(f"{root} does not belong to this user: remove it, or set BIRDENV_SCRATCH")
        with _locked(root / _LOCK):
            folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=root))
            descriptor = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _mine = (os.getpid(), folder, descriptor)
        # Children that `multiprocessing` forks do not run `atexit`. The import is slow, so it is done here.
        from multiprocessing import util

        util.Finalize(None, _remove, args=_mine, exitpriority=-100)
    return _mine[1]


def _remove(process: int, folder: Path, descriptor: int) -> None:
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _is_ours(root: Path) -> bool:
    """Return whether the path is a folder of this user, and not a link to some other folder."""
    status = root.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _is_abandoned(folder: Path) -> bool:
    """Return whether no process holds the folder's lock, so that its process must have ended."""
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True  # its process died before it created the lock, under the root's lock that we hold now
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
