"""What a c-Interact grader is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from birdenv.databases import Checkpoint, QueryError
from birdenv.grading._grading_rules import STRICT_RULES, GradingRules
from birdenv.grading._strict import Conditions

__all__ = ["Assignment", "Category", "Grade", "GradeStatus", "broken", "failed"]

Category: TypeAlias = Literal["Query", "Management"]

GradeStatus: TypeAlias = Literal[
    "passed",
    "wrong_result",
    "sql_error",
    "sql_timeout",
    "no_submission",
    "malformed",
    "test_error",
    "infra_error",
]

_DEFAULT_CONDITIONS: Final = Conditions()


@dataclass(frozen=True, slots=True)
class Assignment:
    """One phase of a task, as the grader needs it.

    `setup` brings a pristine copy to the task's starting state; `base_gold` and `base_pred`, run after it,
    bring the gold's and the prediction's copy to this phase's (for follow-ups). `cleanup` runs after these
    and after a Management script, each statement whatever became of the one before it: it was written for
    what the gold leaves, so that its errors are nobody's failure. `start`, where it is given, is where the
    prediction's copy stands already: `setup`, `base_pred` and `cleanup` have run. With `keeps_state`, a
    submission that passes and may write leaves its own state in `Grade.left`. `tests` are a Management task's
    test cases; `rules` say how all of it is judged.
    """

    database: str
    category: Category
    gold: tuple[str, ...]
    conditions: Conditions = _DEFAULT_CONDITIONS
    setup: tuple[str, ...] = ()
    base_gold: tuple[str, ...] = ()
    base_pred: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    start: Checkpoint | None = None
    keeps_state: bool = False
    tests: tuple[str, ...] = ()
    rules: GradingRules = STRICT_RULES


@dataclass(frozen=True, slots=True)
class Grade:
    """What grading one submission found. `reason` (one line, empty if passed) is private to graders.

    `error` is the prediction's, or with `infra_error` that of the benchmark's own SQL. `malformed` is for
    callers: what never reached the grader. `left`: what the submission made of its database, after the
    clean-up, for `Assignment.start`; None unless asked for. `flags`: those of `Comparison`, and

    * `gold_changes_nothing` (Management): it leaves the database as it was;
    * `cleanup_undoes_gold` (Management): states were compared before the clean-up;
    * `state_disagrees` (Management): the test cases, which decide, and the comparison of states differ;
    * `integrity` (published rules): it passes by a hole of theirs. What it did to the database made the gold,
      which ran there, return other rows than on a pristine copy; or, with `no_usable_test`, a Management task
      was judged without a test;
    * `gold_failed` (published rules): the gold, as it was cut, does not run after the prediction.
    """

    passed: bool
    status: GradeStatus
    reason: str = ""
    error: QueryError | None = None
    flags: tuple[str, ...] = ()
    rows_gold: int | None = None
    rows_pred: int | None = None
    left: Checkpoint | None = field(default=None, repr=False)


def broken(what: str, error: QueryError) -> Grade:
    """The benchmark's own SQL does not run."""
    return Grade(False, "infra_error", f"{what} failed: {_one_line(error)}", error)


def failed(error: QueryError, rows_gold: int | None = None, flags: tuple[str, ...] = ()) -> Grade:
    """The prediction does not run."""
    status: GradeStatus = "sql_timeout" if error.kind == "timeout" else "sql_error"
    return Grade(False, status, f"the SQL failed: {_one_line(error)}", error, flags, rows_gold)


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
