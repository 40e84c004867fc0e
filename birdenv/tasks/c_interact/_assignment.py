"""What the grader is asked for in each phase, by profile."""

from __future__ import annotations

from typing import NamedTuple

from birdenv.databases import Checkpoint
from birdenv.grading import Assignment, Category
from birdenv.tasks.c_interact._profile import Profile
from birdenv.tasks.c_interact._task import CInteractTask

__all__ = ["assignment", "own_state"]


def assignment(
    task: CInteractTask,
    profile: Profile,
    phase: int,
    accepted: str | None = None,
    left: Checkpoint | None = None,
) -> Assignment:
    """The grading job of one phase; `accepted` is the SQL that passed phase 1 (needed in phase 2).

    `left` is what it left, where that was kept; without it `accepted` runs again.

    A follow-up starts from what a Management first phase left: on the gold's side from the gold's state, on
    the prediction's side from that of the accepted SQL, or from the gold's where the profile says so.
    """
    private, follow_up = task.private, task.private.follow_up
    setup = private.preprocess if profile.setup else ()
    cleanup = private.cleanup if profile.setup else ()
    first_category = _category(profile, task.public.instance_id, private.category)
    if phase == 1 or follow_up is None:
        return Assignment(
            database=task.public.database,
            category=first_category,
            gold=private.gold,
            conditions=private.conditions,
            setup=setup,
            cleanup=cleanup,
            keeps_state=follow_up is not None,
        )
    base_gold: tuple[str, ...] = ()
    base_pred: tuple[str, ...] = ()
    if first_category == "Management":
        base_gold = (*private.gold, *cleanup)
        from_gold = profile.follow_up_base == "gold" or accepted is None
        base_pred = base_gold if from_gold else (str(accepted), *cleanup)
    conditions = private.conditions
    if profile.follow_up_conditions and follow_up.conditions is not None:
        conditions = follow_up.conditions
    return Assignment(
        database=task.public.database,
        category=_category(profile, task.public.instance_id, follow_up.category),
        gold=follow_up.gold,
        conditions=conditions,
        setup=setup,
        cleanup=cleanup,
        base_gold=base_gold,
        base_pred=base_pred,
        start=None if profile.follow_up_base == "gold" else left,
    )


class OwnState(NamedTuple):
    """What brings the system's own database to where it stands: the task's set-up, then its own SQL."""

    setup: tuple[str, ...]
    own: tuple[str, ...]


def own_state(task: CInteractTask, profile: Profile, accepted: str | None) -> OwnState:
    """The system's own database: never gold, in any profile.

    `accepted` is the system's SQL that passed phase 1, None before that.
    """
    private = task.private
    setup, cleanup = (private.preprocess, private.cleanup) if profile.setup else ((), ())
    managed = _category(profile, task.public.instance_id, private.category) == "Management"
    return OwnState(setup, (accepted, *cleanup) if managed and accepted is not None else ())


def _category(profile: Profile, instance_id: str, category: Category) -> Category:
    if profile.category_from_id:
        return "Management" if "_M_" in instance_id else "Query"
    return category
