"""The second run of what a time limit ended.

Limits count the processor time that a statement uses itself, and that grows too where others share the core
and its caches (up to twice was seen). So what is graded is not called a timeout before it has run once more,
alone and with twice the limit. What an agent tries out in an episode has no second run.
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
    """Enter a block that only one process of this user may be in at a time, on this machine.

    Where there is no place for a lock, nobody waits.
    """
    try:
        lock = _open_lock(Path(tempfile.gettempdir()) / f"birdenv-{os.getuid()}.alone")
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of this opening of the file: threads wait for each other, too
        yield
    finally:
        os.close(lock)


def _open_lock(path: Path) -> int:
    """Open a file of this user, and no link to one. Raises `OSError`."""
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.fstat(lock).st_uid != os.getuid():
        os.close(lock)
        raise PermissionError(f"{path} belongs to somebody else")
    return lock


SECOND_TIME: Final = 2.0
"""So many times the limit is allowed in the second run."""

_T = TypeVar("_T")


def second_limits(limits: Limits) -> Limits:
    """Return the limits of the second run."""
    return replace(limits, seconds=SECOND_TIME * limits.seconds)


def is_late(result: object) -> bool:
    """Return whether a time limit ended the statement of this result, or the reading of a part of this
    state.
    """
    if isinstance(result, DatabaseState):
        return any(map(is_late, result.contents.values()))
    return isinstance(result, QueryError) and result.kind == "timeout"


def with_second_run(run: Callable[[Limits], _T], limits: Limits, was_late: Callable[[_T], bool]) -> _T:
    """Return what `run` gives under the limits; if it was late, what it gives in its second run."""
    found = run(limits)
    if not was_late(found):
        return found
    with alone():
        return run(second_limits(limits))
