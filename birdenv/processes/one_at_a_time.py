"""Work that this user does one at a time, whatever thread or process does it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait until nobody else of this user is in here, on this machine.

    Where there is no place for a lock, nobody waits.
    """
    try:
        lock = _open(Path(tempfile.gettempdir()) / f"birdenv-{os.getuid()}.alone")
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of this opening of the file: threads wait for each other, too
        yield
    finally:
        os.close(lock)


def _open(path: Path) -> int:
    """Open a file of this user, and no link to one. Raises `OSError`."""
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.fstat(lock).st_uid != os.getuid():
        os.close(lock)
        raise PermissionError(f"{path} belongs to somebody else")
    return lock
