"""Run a graded statement a second time after a timeout.

Limits apply to a statement's own CPU time. However, even CPU time increases (by a factor of up to two, in our
observations) if other processes use the same core and its caches. Therefore a graded statement counts as a
timeout only if a second run, on its own and with twice the limit, also times out. Statements that an agent
runs during an episode get no second run.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from birdenv.databases import DatabaseState, Limits, QueryError


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Run the `with` block while no other `alone` block of the same user is running on this machine.

    If a different process or thread is in an `alone` block, wait until that block ends. If the lock file
    cannot be opened, run the block without waiting.
    """
    try:
        lock = _open_lock(Path(tempfile.gettempdir()) / f"birdenv-{os.getuid()}.alone")
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # each thread opens the file, so threads wait for each other, too
        yield
    finally:
        os.close(lock)


def _open_lock(path: Path) -> int:
    """Open a lock file of this user, without following links. Raises `OSError`."""
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.fstat(lock).st_uid != os.getuid():
        os.close(lock)
        raise PermissionError(f"{path} belongs to a different user")
    return lock


SECOND_TIME: Final = 2.0
"""The time limit of the second run, as a multiple of the first limit."""

_T = TypeVar("_T")


def second_limits(limits: Limits) -> Limits:
    """Return a copy of the limits with twice the time, for the second run."""
    return replace(limits, seconds=SECOND_TIME * limits.seconds)


def is_late(result: object) -> bool:
    """Return whether a result is a timeout, or a database state that contains a timeout."""
    if isinstance(result, DatabaseState):
        return any(map(is_late, result.contents.values()))
    return isinstance(result, QueryError) and result.kind == "timeout"


def with_second_run(run: Callable[[Limits], _T], limits: Limits, was_late: Callable[[_T], bool]) -> _T:
    """Return the result of `run(limits)`, or the result of a second run if the first one timed out.

    Nothing else runs during the second run, which has `second_limits`. `was_late` tells whether a result is
    a timeout.
    """
    found = run(limits)
    if not was_late(found):
        return found
    with alone():
        return run(second_limits(limits))
