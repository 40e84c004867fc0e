"""What the grader is asked for in each phase, by profile."""

from __future__ import annotations

from typing import NamedTuple

from birdenv.databases import Checkpoint
from birdenv.grading.compare import Conditions
from birdenv.grading.interact import Category, GradingJob
from birdenv.tasks.interact._task import CInteractTask, FollowUp
from birdenv.tasks.interact.profile import Profile


def grading_job(
    task: CInteractTask,
    profile: Profile,
    phase: int,
    accepted: str | None = None,
    left: Checkpoint | None = None,
) -> GradingJob:
    """Return the grading job of one phase; `accepted` is the SQL that passed phase 1 (needed in phase 2).

    `left` is what it left, where that was kept; without it `accepted` runs again.

    A follow-up starts from what a Management first phase left: on the gold's side from the gold's state, on
    the prediction's side from that of the accepted SQL, or from the gold's where the profile says so. Where a
    Query may write (the published rules), the same goes for a Query.
    """
    private, follow_up = task.private, task.private.follow_up
    setup = private.preprocess if profile.setup else ()
    cleanup = private.cleanup if profile.setup else ()
    first_category = _first_category(task, profile)
    if phase == 1 or follow_up is None:
        return GradingJob(
            database=task.public.database,
            category=first_category,
            gold=private.gold,
            conditions=private.conditions,
            setup=setup,
            cleanup=cleanup,
            keeps_state=follow_up is not None and profile.follow_up_base == "prediction",
            tests=private.test_cases,
            by_state=private.by_state,
            rules=profile.grading,
        )
    base_gold: tuple[str, ...] = ()
    base_pred: tuple[str, ...] = ()
    if first_category == "Management" or profile.grading.comparison == "published":
        base_gold = private.gold
        from_gold = profile.follow_up_base == "gold" or accepted is None
        base_pred = base_gold if from_gold else (str(accepted),)
    return GradingJob(
        database=task.public.database,
        category=_follow_up_category(task, follow_up, profile),
        gold=follow_up.gold,
        conditions=_follow_up_conditions(private.conditions, follow_up.conditions, profile),
        setup=setup,
        cleanup=cleanup,
        base_gold=base_gold,
        base_pred=base_pred,
        start=None if profile.follow_up_base == "gold" else left,
        tests=follow_up.test_cases,
        by_state=follow_up.by_state,
        rules=profile.grading,
    )


class OwnState(NamedTuple):
    """What brings the system's own database to where it stands: the task's set-up, then its own SQL, then the
    task's clean-up, whose errors count for nothing: it was written for what the gold leaves."""

    setup: tuple[str, ...]
    own: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()


def agent_start_state(task: CInteractTask, profile: Profile, accepted: str | None) -> OwnState:
    """Return the system's own database: never gold, in any profile.

    `accepted` is the system's SQL that passed phase 1, None before that.
    """
    private = task.private
    setup, cleanup = (private.preprocess, private.cleanup) if profile.setup else ((), ())
    managed = _first_category(task, profile) == "Management"
    return OwnState(setup, (accepted,), cleanup) if managed and accepted is not None else OwnState(setup)


def _first_category(task: CInteractTask, profile: Profile) -> Category:
    stated = task.private.category
    return _by_id(task, stated, task.private.test_cases) if profile.category_from_id else stated


def _follow_up_category(task: CInteractTask, follow_up: FollowUp, profile: Profile) -> Category:
    if profile.category_from_id:
        return _by_id(task, follow_up.category, follow_up.test_cases)
    return follow_up.category if profile.infer_category else follow_up.stated_category or "Query"


def _by_id(task: CInteractTask, stated: Category, tests: tuple[str, ...]) -> Category:
    """By the task's id, whatever the record says; but rows are compared where it says Query and has no tests,
    as in the Query follow-up of a Management task."""
    if "_M_" not in task.public.instance_id:
        return "Query"
    return "Management" if tests else stated


def _follow_up_conditions(parent: Conditions, own: Conditions | None, profile: Profile) -> Conditions:
    if profile.follow_up_conditions == "parent":
        return parent
    if own is not None:
        return own
    return Conditions() if profile.follow_up_conditions == "own" else parent
