"""The second run of what a time limit ended.

Limits count the processor time that a statement uses itself, and that grows too where others share the core
and its caches (up to twice was seen). So what is graded is not called a timeout before it has run once more,
alone and with twice the limit. What an agent tries out in an episode has no second run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from birdenv.databases import DatabaseState, Limits, QueryError
from birdenv.processes.one_at_a_time import alone

SECOND_TIME: Final = 2.0
"""So many times the limit is allowed in the second run."""

_T = TypeVar("_T")


def second_limits(limits: Limits) -> Limits:
    """The limits of the second run."""
    return replace(limits, seconds=SECOND_TIME * limits.seconds)


def is_late(result: object) -> bool:
    """Whether a time limit ended the statement of this result, or the reading of a part of this state."""
    if isinstance(result, DatabaseState):
        return any(map(is_late, result.contents.values()))
    return isinstance(result, QueryError) and result.kind == "timeout"


def with_second_run(run: Callable[[Limits], _T], limits: Limits, was_late: Callable[[_T], bool]) -> _T:
    """What `run` gives under the limits; if it was late, what it gives in its second run."""
    found = run(limits)
    if not was_late(found):
        return found
    with alone():
        return run(second_limits(limits))
