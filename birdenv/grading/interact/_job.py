"""Define the jobs, rules and grades of the c-Interact grader, and prepare databases for grading.

`GradingRules` are the rules on which the published c-Interact graders and birdenv differ. A `GradingJob` is
one phase of a task to grade, and a `Grade` is the result. `prepare_gold` and `prepare_prediction` bring a
fresh copy of the database into its state at the start of a phase, and `clean_up` runs the task's clean-up
statements after a script.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from birdenv.databases import (
    Checkpoint,
    DatabaseState,
    EpisodeDatabase,
    QueryError,
    QueryResult,
    is_out_of_memory,
)
from birdenv.grading._reads import FAILED_AS_DOUBTFUL
from birdenv.grading.compare._interact_rows import Conditions
from birdenv.grading.compare._rows import RowsComparison

TestWay: TypeAlias = Literal["every_callable", "test_case"]
"""How a published evaluator runs test cases.

`every_callable` is the way of the batch evaluator: it calls every callable that a source defines or imports;
its `execute_queries` runs each item of its argument, so that a string runs letter by letter; and tests cannot
call helper functions of the source or of the evaluator.

`test_case` is the way of the later service: it calls only the function `test_case`, and a source without
such a function passes."""


@dataclass(frozen=True, slots=True)
class GradingRules:
    """A set of rules for grading submissions.

    Attributes:
        name: the name of the rules.
        comparison: how a submission for a Query task is graded. With `strict`, the submission must be
            read-only, the gold runs on its own pristine copy, and `compare_strict` compares the rows. With
            `published` (BIRD-Interact §4.2), the submission runs on a disposable copy; then the submission
            and the gold run there with comments, DISTINCT and ROUND removed, and `compare_reference` compares
            the rows.
        tests: how a Management task's test cases run: `contract` follows the published contract
            (BIRD-Interact §4.3); the other values imitate a published evaluator (see `TestWay`).
        fail_doubtful: whether strict rules reject queries that read no table although the gold does, and
            Management SQL that passes the tests but leaves a different state from the gold.
    """

    name: str
    comparison: Literal["strict", "published"]
    tests: Literal["contract"] | TestWay
    fail_doubtful: bool = False


STRICT_RULES: Final = GradingRules("strict", comparison="strict", tests="contract")

GRADING_RULES: Final[Mapping[str, GradingRules]] = MappingProxyType(
    {
        rules.name: rules
        for rules in (
            STRICT_RULES,
            GradingRules("shell", comparison="published", tests="every_callable"),
            GradingRules("adk", comparison="published", tests="test_case"),
        )
    }
)
"""The rules by name: `strict` (birdenv's), `shell` (the original batch evaluator), `adk` (its successor)."""


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
class GradingJob:
    """One phase of a task to grade.

    Attributes:
        database: the id of the database.
        category: the category of the task: Query or Management.
        gold: the gold SQL statements.
        conditions: the conditions for comparing rows.
        setup: SQL that puts a pristine copy into the task's starting state.
        base_gold: SQL that runs after `setup` in a follow-up, and puts the gold's copy into its starting
            state.
        base_pred: SQL that runs after `setup` in a follow-up, and puts the prediction's copy into its
            starting state.
        cleanup: statements that run after each of the three scripts above, and after a Management script.
            Their errors are ignored, because the statements were written for the state that the gold leaves.
        start: the state of the prediction's copy at the start of this phase. If it is set, `setup`,
            `base_pred` and `cleanup` are not run to produce it.
        keeps_state: whether `Grade.left` should hold the state that a passing submission leaves.
        tests: the test cases of a Management task.
        by_state: whether to compare the states that gold and prediction leave, if there are no test cases.
        rules: the rules for grading.
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
    by_state: bool = False
    rules: GradingRules = STRICT_RULES


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of a submission.

    In addition to the flags of `RowsComparison`, a grade can have these flags:

    * `gold_changes_nothing` (Management): the gold leaves the database unchanged;
    * `cleanup_undoes_gold` (Management): the clean-up undoes changes by the gold, so states were compared
      before the clean-up;
    * `state_disagrees` (Management): comparing states leads to a different result from the test cases, which
      decide;
    * `failed_as_doubtful`: the submission fails only because of `GradingRules.fail_doubtful`;
    * `integrity` (published rules): the submission passes only because of a gap in the rules. Either it
      changed the database so that the gold returned different rows from those on a pristine copy; or, with
      `no_usable_test`, a Management task was graded without a test;
    * `gold_failed` (published rules): after the prediction has run, the gold fails once comments, DISTINCT
      and ROUND have been removed from it.

    Attributes:
        passed: whether the submission passes.
        status: how grading ended. `malformed` is used only by callers, for a submission that does not reach
            the grader.
        reason: an explanation in one line, which must not be shown to agents; empty if the submission passes.
        error: the error from the prediction or, if the status is `infra_error`, from the benchmark's own SQL.
        flags: the flags that apply.
        rows_gold: number of rows that the gold returned.
        rows_pred: number of rows that the prediction returned.
        left: the state that the submission leaves after the clean-up, for use as the `GradingJob.start` of
            the next phase; None unless `GradingJob.keeps_state` is set.
    """

    passed: bool
    status: GradeStatus
    reason: str = ""
    error: QueryError | None = None
    flags: tuple[str, ...] = ()
    rows_gold: int | None = None
    rows_pred: int | None = None
    left: Checkpoint | None = field(default=None, repr=False)

    def failed_as_doubtful(self, reason: str) -> Grade:
        """Return a copy of this passing grade that fails because of `GradingRules.fail_doubtful`."""
        flags = (*self.flags, FAILED_AS_DOUBTFUL)
        return replace(self, passed=False, status="wrong_result", reason=reason, flags=flags)

    def noted(self) -> dict[str, Any]:
        """Return the fields of the grade that a dialogue depends on, as a JSON object.

        These fields do not reveal the gold.
        """
        about_prediction = self.error is not None and self.status in ("sql_error", "sql_timeout")
        error = [self.error.kind, self.error.message] if about_prediction and self.error else None
        return {"passed": self.passed, "status": self.status, "error": error}

    @classmethod
    def recalled(cls, noted: Mapping[str, Any]) -> Grade:
        """Return a grade with the fields that `noted` returned, and with defaults for all other fields."""
        error = None if noted["error"] is None else QueryError(*noted["error"])
        return cls(noted["passed"], noted["status"], error=error)


def broken(what: str, error: QueryError) -> Grade:
    """Return the grade for an error in the benchmark's own SQL. Raises `MemoryError` if memory ran out."""
    if is_out_of_memory(error):
        raise MemoryError
    return Grade(False, "infra_error", f"{what} failed: {error.line}", error)


def failed(error: QueryError, rows_gold: int | None = None, flags: tuple[str, ...] = ()) -> Grade:
    """Return the grade for a prediction that does not run."""
    status: GradeStatus = "sql_timeout" if error.kind == "timeout" else "sql_error"
    return Grade(False, status, f"the SQL failed: {error.line}", error, flags, rows_gold)


def compared(outcome: RowsComparison, gold: QueryResult, pred: QueryResult, flags: tuple[str, ...]) -> Grade:
    """Return the grade for a prediction whose rows were compared with the gold's."""
    status: GradeStatus = "passed" if outcome.equal else "wrong_result"
    return Grade(outcome.equal, status, outcome.reason, None, flags, len(gold.rows), len(pred.rows))


def prepare_gold(database: EpisodeDatabase, job: GradingJob) -> Grade | None:
    """Put the gold's copy of the database into the state required at the start of the phase.

    Return None, or an `infra_error` grade if this fails.
    """
    failure = _run_whole(database, job.setup)
    if failure is not None:
        return broken("the set-up", failure)
    failure = _run_base(database, job.base_gold, job.cleanup)
    return None if failure is None else broken("the starting state", failure)


def prepare_prediction(database: EpisodeDatabase, job: GradingJob) -> Grade | None:
    """Put the prediction's copy of the database into the state required at the start of the phase.

    Return None, or a failing grade if this fails.
    """
    if job.start is not None:
        failure = database.restore(job.start)
        return None if failure is None else broken("the starting state", failure)
    failure = _run_whole(database, job.setup)
    if failure is not None:
        return broken("the set-up", failure)
    failure = _run_base(database, job.base_pred, job.cleanup)
    if failure is None and job.base_pred:
        left = database.checkpoint()  # ends temporary objects with the phase, as `start` does
        failure = left if isinstance(left, QueryError) else None
    return None if failure is None else failed(failure)


def clean_up(
    database: EpisodeDatabase, cleanup: tuple[str, ...], like: DatabaseState | None = None
) -> DatabaseState | QueryError:
    """Roll back any open transaction, run the clean-up statements, and return the state of the database.

    The errors of clean-up statements are ignored. `like` is as in `EpisodeDatabase.state`.
    """
    run_each(database, cleanup)
    return database.state(like)


def run_each(database: EpisodeDatabase, cleanup: tuple[str, ...]) -> None:
    """Roll back any open transaction, and run each clean-up statement, ignoring errors."""
    if cleanup:
        database.run(("ROLLBACK",))
    for statement in cleanup:
        database.run((statement,))


def _run_base(
    database: EpisodeDatabase, base: tuple[str, ...], cleanup: tuple[str, ...]
) -> QueryError | None:
    """Run the SQL of the earlier phase, and then the clean-up."""
    failure = _run_whole(database, base)
    if base and failure is None:
        run_each(database, cleanup)
    return failure


def _run_whole(database: EpisodeDatabase, scripts: tuple[str, ...]) -> QueryError | None:
    """Run scripts, and roll back the transaction that they may leave open."""
    if not scripts:
        return None
    result = database.run(scripts)
    if isinstance(result, QueryError):
        return result
    database.run(("ROLLBACK",))  # an error if there is no transaction, which does not matter
    return None
