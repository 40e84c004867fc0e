"""Which ground truth tasks lack, and where the authors of the benchmark give it (BIRD-Interact README)."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.tasks.c_interact import CInteractTask

__all__ = ["WHERE_TO_ASK", "missing_ground_truth"]

WHERE_TO_ASK = (
    "The authors send it by e-mail: write to bird.bench25@gmail.com with [bird-interact-lite GT&Test Cases], "
    "[bird-interact-full GT&Test Cases] or [mini-interact GT&Test Cases] in the subject, then put it in with "
    "`birdenv data merge`"
)


def missing_ground_truth(tasks: Sequence[CInteractTask]) -> str:
    """The fields that are empty, each with the number of tasks; "" if none is.

    Test cases are missed where the task, or its follow-up, is Management.
    """
    missing = {"sol_sql": 0, "test_cases": 0, "follow_up.sol_sql": 0, "follow_up.test_cases": 0}
    for task in tasks:
        private, follow_up = task.private, task.private.follow_up
        missing["sol_sql"] += not private.gold
        missing["test_cases"] += private.category == "Management" and not private.test_cases
        if follow_up is not None:
            missing["follow_up.sol_sql"] += not follow_up.gold
            managed = follow_up.category == "Management"
            missing["follow_up.test_cases"] += managed and not follow_up.test_cases
    return ", ".join(f"{field} of {count} task(s)" for field, count in missing.items() if count)
