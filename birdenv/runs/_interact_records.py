"""What the records of an episode say of its BIRD-Interact task, in both games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from birdenv.runs._phase_figures import FollowUpKind
from birdenv.tasks.c_interact import CInteractTask

__all__ = ["private_record", "task_fields"]


def task_fields(task: CInteractTask) -> dict[str, Any]:
    """For the public record."""
    return {
        "database": task.public.database,
        "category": task.private.category,
        "difficulty": task.public.difficulty,
        "high_level": task.public.high_level,
        "follow_up": _follow_up_kind(task),
    }


def private_record(
    task: CInteractTask, log: Sequence[dict[str, Any]], *, played: bool = True
) -> dict[str, Any]:
    """The private record, with the gold if the episode was played; `log` is the controller's."""
    private, follow_up = task.private, task.private.follow_up
    gold = {
        "gold_sql": list(private.gold),
        "follow_up_gold_sql": list(follow_up.gold) if follow_up else [],
        "clear_query": private.brief.clear_query,
    }
    types = {ambiguity.type for ambiguity in private.brief.ambiguities if ambiguity.type}
    return {**(gold if played else {}), "ambiguity_types": sorted(types), "log": list(log)}


def _follow_up_kind(task: CInteractTask) -> FollowUpKind:
    """`none`, `graded`, or `ungraded` where its gold is withheld, so that it is never asked."""
    if task.private.follow_up is None:
        return "none"
    return "graded" if task.private.follow_up.gold else "ungraded"
