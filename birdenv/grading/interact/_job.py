"""Jobs of a c-Interact grader: the rules to judge by, what it is asked and answers, copies and clean-up.

`GradingRules`: the switches in which the published graders of c-Interact differ from ours. `GradingJob`,
`Grade`: one phase of a task, and what came of it. `prepare_gold`, `prepare_prediction`, `clean_up`: bring a
fresh copy to where a phase starts, and clean up after a script.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from birdenv.databases import Checkpoint, DatabaseState, EpisodeDatabase, QueryError, is_out_of_memory
from birdenv.grading._reads import FAILED_AS_DOUBTFUL
from birdenv.grading.compare._interact_rows import Conditions
from birdenv.grading.interact._reference_tests import TestWay


@dataclass(frozen=True, slots=True)
class GradingRules:
    """One way of judging submissions, as data.

    Attributes:
        comparison: how a Query is judged. `strict`: it may only read, the gold runs on a pristine copy of its
            own, rows agree by `compare_strict`. `published`: BIRD-Interact §4.2, on a disposable copy:
            comments, DISTINCT and ROUND are cut out of both texts; the prediction runs as it is, then as it
            was cut, then the gold on the same database; rows agree by `compare_reference`.
        tests: how a Management task's test cases are run. `contract`: BIRD-Interact §4.3, ours. Otherwise as
            `TestWay` says.
        fail_doubtful: under strict rules, a Query that would pass fails if it reads no table and the gold
            does, and a Management submission that would pass fails if it leaves another state than the gold.
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
"""By name: `strict` is birdenv's own, `shell` the original batch evaluator, `adk` the later service."""


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
    """One phase of a task, as the grader needs it.

    `setup` brings a pristine copy to the task's starting state; `base_gold` and `base_pred`, run after it,
    bring the gold's and the prediction's copy to this phase's (for follow-ups). `cleanup` runs after these
    and after a Management script, each statement whatever became of the one before it: it was written for
    what the gold leaves, so that its errors are nobody's failure. `start`, where it is given, is where the
    prediction's copy stands already: `setup`, `base_pred` and `cleanup` have run. With `keeps_state`, a
    submission that passes and may write leaves its own state in `Grade.left`. `tests` are a Management task's
    test cases; without any, the states that gold and prediction leave decide if `by_state`. `rules` say how
    all of it is judged.
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
    """The grade of a submission. `reason` (one line, empty if passed) is private to graders.

    `error` is the prediction's, or with `infra_error` that of the benchmark's own SQL. `malformed` is for
    callers: what never reached the grader. `left`: what the submission made of its database, after the
    clean-up, for `GradingJob.start`; None unless asked for. `flags`: those of `Comparison`, and

    * `gold_changes_nothing` (Management): it leaves the database as it was;
    * `cleanup_undoes_gold` (Management): states were compared before the clean-up;
    * `state_disagrees` (Management): the test cases, which decide, and the comparison of states differ;
    * `failed_as_doubtful`: it would have passed but for `GradingRules.fail_doubtful`;
    * `integrity` (published rules): it passes by a hole in them. What it did to the database made the gold,
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

    def failed_as_doubtful(self, reason: str) -> Grade:
        """Return the grade of a submission that would have passed, under `GradingRules.fail_doubtful`."""
        flags = (*self.flags, FAILED_AS_DOUBTFUL)
        return replace(self, passed=False, status="wrong_result", reason=reason, flags=flags)

    def noted(self) -> dict[str, Any]:
        """Return what a dialogue depends on, as a JSON value that tells nothing of the gold."""
        about_prediction = self.error is not None and self.status in ("sql_error", "sql_timeout")
        error = [self.error.kind, self.error.message] if about_prediction and self.error else None
        return {"passed": self.passed, "status": self.status, "error": error}

    @classmethod
    def recalled(cls, noted: Mapping[str, Any]) -> Grade:
        """Return the grade that was noted, without what is private to graders."""
        error = None if noted["error"] is None else QueryError(*noted["error"])
        return cls(noted["passed"], noted["status"], error=error)


def broken(what: str, error: QueryError) -> Grade:
    """Return the grade for benchmark SQL that does not run. Raises `MemoryError` if memory was short."""
    if is_out_of_memory(error):
        raise MemoryError
    return Grade(False, "infra_error", f"{what} failed: {error.line}", error)


def failed(error: QueryError, rows_gold: int | None = None, flags: tuple[str, ...] = ()) -> Grade:
    """Return the grade for a prediction that does not run."""
    status: GradeStatus = "sql_timeout" if error.kind == "timeout" else "sql_error"
    return Grade(False, status, f"the SQL failed: {error.line}", error, flags, rows_gold)


def prepare_gold(database: EpisodeDatabase, job: GradingJob) -> Grade | None:
    """Prepare the gold's copy. Return None, or a grade (`infra_error`) if that is not possible."""
    failure = _run_whole(database, job.setup)
    if failure is not None:
        return broken("the set-up", failure)
    failure = _run_base(database, job.base_gold, job.cleanup)
    return None if failure is None else broken("the starting state", failure)


def prepare_prediction(database: EpisodeDatabase, job: GradingJob) -> Grade | None:
    """Prepare the prediction's copy. Return None, or a grade if that is not possible."""
    if job.start is not None:
        failure = database.restore(job.start)
        return None if failure is None else broken("the starting state", failure)
    failure = _run_whole(database, job.setup)
    if failure is not None:
        return broken("the set-up", failure)
    failure = _run_base(database, job.base_pred, job.cleanup)
    if failure is None and job.base_pred:
        left = database.checkpoint()  # what was temporary ends with the phase, as it does with `start`
        failure = left if isinstance(left, QueryError) else None
    return None if failure is None else failed(failure)


def clean_up(
    database: EpisodeDatabase, cleanup: tuple[str, ...], like: DatabaseState | None = None
) -> DatabaseState | QueryError:
    """Return the state after the clean-up, which starts from what is committed."""
    run_each(database, cleanup)
    return database.state(like)


def run_each(database: EpisodeDatabase, cleanup: tuple[str, ...]) -> None:
    """Run the clean-up from what is committed, whatever becomes of each statement."""
    if cleanup:
        database.run(("ROLLBACK",))
    for statement in cleanup:
        database.run((statement,))


def _run_base(
    database: EpisodeDatabase, base: tuple[str, ...], cleanup: tuple[str, ...]
) -> QueryError | None:
    """Return the earlier phase's SQL, and the clean-up behind it."""
    failure = _run_whole(database, base)
    if base and failure is None:
        run_each(database, cleanup)
    return failure


def _run_whole(database: EpisodeDatabase, scripts: tuple[str, ...]) -> QueryError | None:
    """Run scripts and end the transaction that they may leave open, so that nothing else ends it."""
    if not scripts:
        return None
    result = database.run(scripts)
    if isinstance(result, QueryError):
        return result
    database.run(("ROLLBACK",))  # an error if there is none, which is as good
    return None
