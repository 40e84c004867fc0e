"""The time limits of running dialogues, and the clock by which they are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from birdenv.studies.study._config import StudyLimits
from birdenv.studies.study._running_dialogue import PARTNER_ERROR, RunningDialogue
from birdenv.studies.study._waiting_room import Presence


def steady_clock() -> Callable[[], float]:
    """Return a clock that shows the time of day, and goes on steadily when somebody sets the machine's."""
    ahead = time.time() - time.monotonic()
    return lambda: ahead + time.monotonic()


def people_gone(
    room: RunningDialogue, people: Mapping[int, str], presence: Presence, limits: StudyLimits, now: float
) -> list[str]:
    """Return those of a dialogue's people who count as gone: away, or idle, for too long."""
    return [
        id
        for seat, id in people.items()
        if _is_past(presence.away_since(id), limits.away, now)
        or _is_past(room.idle_since(seat), limits.idle, now)
    ]


def overdue(room: RunningDialogue, limits: StudyLimits, now: float) -> str | None:
    """Return the status with which a dialogue ends whose time, or whose player's time, is over; else None."""
    if _is_past(room.thinking_since, limits.idle, now):
        return PARTNER_ERROR
    return "time limit" if _is_past(room.stored.started, limits.chat, now) else None


def _is_past(since: float | None, limit: float | None, now: float) -> bool:
    return since is not None and limit is not None and now - since > limit
