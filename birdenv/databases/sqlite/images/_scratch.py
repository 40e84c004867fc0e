"""Where private files of episodes live: one folder a process, gone with it, whatever ended it.

The folder of a process holds a lock for as long as the process lives, so that a folder without one is what a
killed process left; it is swept at the next start. `BIRDENV_SCRATCH` moves all of it to another file system.
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

from birdenv.errors import InputError

_LOCK = "lock"
_mine: tuple[int, Path, int] | None = None  # process id, its folder, the descriptor that holds the lock


def scratch_root() -> Path:
    """Return the folder that holds the folders of this user's processes. It may not exist."""
    parent = os.environ.get("BIRDENV_SCRATCH") or tempfile.gettempdir()
    return Path(parent) / f"birdenv-{os.getuid()}"


def new_folder() -> Path:
    """Return a new empty folder of this process, to be removed by the caller or at the end of the process.

    Raises `InputError` if nothing can be written there.
    """
    try:
        return Path(tempfile.mkdtemp(dir=_own_folder()))
    except OSError as error:
        raise InputError(
            f"no private files can be made in {scratch_root()} ({error.strerror}): set BIRDENV_SCRATCH to a"
            " folder on a file system with room"
        ) from error


def remove_folder(folder: Path) -> None:
    """Remove one that `new_folder` gave to this process; in a forked child the parent's are left alone."""
    if _mine is not None and _mine[0] == os.getpid() and folder.parent == _mine[1]:
        shutil.rmtree(folder, ignore_errors=True)


def sweep() -> list[str]:
    """Remove what killed processes left, and return the names of those folders. Never raises `OSError`."""
    root, removed = scratch_root(), []
    with contextlib.suppress(OSError):
        if _is_ours(root):
            with _locked(root / _LOCK):
                for folder in root.iterdir():
                    if folder.is_dir() and not folder.is_symlink() and _is_abandoned(folder):
                        shutil.rmtree(folder, ignore_errors=True)
                        removed.append(folder.name)
    return removed


@cache
def sweep_once() -> None:
    """Sweep at the first call in a process."""
    sweep()


def _own_folder() -> Path:
    global _mine
    if _mine is None or _mine[0] != os.getpid():  # a forked child has a folder of its own
        root = scratch_root()
        root.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(root):
            raise InputError(f"{root} is not a folder of yours: remove it, or set BIRDENV_SCRATCH")
        with _locked(root / _LOCK):
            folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=root))
            descriptor = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _mine = (os.getpid(), folder, descriptor)
        # Not `atexit`, which the children that `multiprocessing` forks do without. Imported here: it is slow.
        from multiprocessing import util

        util.Finalize(None, _remove, args=_mine, exitpriority=-100)
    return _mine[1]


def _remove(process: int, folder: Path, descriptor: int) -> None:
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _is_ours(root: Path) -> bool:
    """Return whether it is a folder of this user and no link, which may lead to what nobody meant to be
    removed.
    """
    status = root.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _is_abandoned(folder: Path) -> bool:
    """Return whether nobody holds the folder's lock: its process is gone."""
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return (
            True  # made by a process that died before it could lock it; ours hold the root's lock meanwhile
        )
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
