"""Grading in c-Interact: a Query by its rows, a Management task by the state that it leaves.

BIRD-Interact §4, the strict column of §7.4: the gold runs on its own pristine copy and never after the
prediction, a Query prediction may only read, and a benchmark that does not run is not the model's failure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from birdenv.databases import Checkpoint, DatabaseState, EpisodeDatabase, Limits, QueryError, Result
from birdenv.grading._distinct import without_outer_distinct
from birdenv.grading._gold import GoldCache, reads_clock, rows_of_result, whole
from birdenv.grading._source import Source
from birdenv.grading._states import changed_objects, first_difference, unreadable
from birdenv.grading._strict import Conditions, compare_strict

__all__ = ["Assignment", "Category", "ConversationalGrader", "Grade", "GradeStatus"]

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

_DEFAULT_LIMITS: Final = Limits()
_DEFAULT_CONDITIONS: Final = Conditions()
_gold_without_outer_distinct: Final = lru_cache(maxsize=1024)(without_outer_distinct)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One phase of a task, as the grader needs it.

    `setup` brings a pristine copy to the task's starting state; `base_gold` and `base_pred`, run after it,
    bring the gold's and the prediction's copy to this phase's (for follow-ups). `cleanup` runs after a
    Management script; its errors are ignored. `start`, where it is given, is where the prediction's copy
    stands already: `setup` and `base_pred` have run. With `keeps_state`, a Management submission that passes
    leaves its own state in `Grade.left`.
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


@dataclass(frozen=True, slots=True)
class Grade:
    """What grading one submission found. `reason` (one line, empty if passed) is private to graders.

    `error` is the prediction's, or with `infra_error` that of the benchmark's own SQL. `flags`: those of
    `Comparison`; for Management `gold_changes_nothing` (any script that changes nothing passes) and
    `cleanup_undoes_gold` (states were compared before the clean-up). `malformed` and `test_error` are for
    callers: what never reached the grader, and test cases that cannot be used. `left`: what the submission
    made of its database, after the clean-up, for `Assignment.start`; None unless asked for.
    """

    passed: bool
    status: GradeStatus
    reason: str = ""
    error: QueryError | None = None
    flags: tuple[str, ...] = ()
    rows_gold: int | None = None
    rows_pred: int | None = None
    left: Checkpoint | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _GoldState:
    """What a Management gold leaves; `is_worked`: as it was before the clean-up."""

    state: DatabaseState
    is_worked: bool
    flags: tuple[str, ...]
    is_lasting: bool
    """Whether another run of the same SQL leaves the same: nothing in the database reads the clock."""


class ConversationalGrader:
    """Grades c-Interact submissions; may be used by several threads."""

    def __init__(self, source: Source, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._source = source
        self._limits = limits
        self._golds = GoldCache(rows_of_result)
        self._states = GoldCache(_rows_of_state)

    def grade(self, assignment: Assignment, prediction: str) -> Grade:
        """Grade one submission. Raises `InputError` if the database cannot be opened.

        Query: exactly one statement that reads and returns rows; they must be the last gold statement's by
        `compare_strict`. Management: schema, tables' rows and views' results after the prediction must be
        those after the gold, both after the clean-up, or before it if it undoes anything that the gold did.
        What the prediction leaves in an open transaction is lost, and counts as not done. `base_pred` is the
        prediction's too: where it fails, the prediction fails.
        """
        if not prediction.strip():
            return Grade(False, "no_submission", "no SQL was submitted")
        if not assignment.gold:
            return Grade(False, "infra_error", "there is no gold SQL")
        if assignment.category == "Management":
            return self._grade_management(assignment, prediction)
        return self._grade_query(assignment, prediction)

    def _grade_query(self, assignment: Assignment, prediction: str) -> Grade:
        gold = self._gold_rows(assignment)
        if isinstance(gold, QueryError):
            return _broken("the gold", gold)
        with self._source.open(assignment.database, self._limits) as database:
            failed = _prepare_prediction(database, assignment)
            if failed is not None:
                return failed
            if assignment.conditions.distinct is False:
                prediction = without_outer_distinct(prediction, self._source.dialect)
            pred = database.query(prediction)
        if isinstance(pred, QueryError):
            return _failed(pred, rows_gold=len(gold.rows))
        comparison = compare_strict(gold, pred, assignment.conditions)
        return Grade(
            passed=comparison.equal,
            status="passed" if comparison.equal else "wrong_result",
            reason=comparison.reason,
            flags=comparison.flags,
            rows_gold=len(gold.rows),
            rows_pred=len(pred.rows),
        )

    def _gold_rows(self, assignment: Assignment) -> Result:
        """What the last gold statement returns; remembered if the database is as the source has it."""
        *earlier, last = assignment.gold
        if assignment.conditions.distinct is False:
            last = _gold_without_outer_distinct(last, self._source.dialect)
        statements = (*earlier, last)
        prepared = assignment.setup or assignment.base_gold
        if prepared or any(map(reads_clock, statements)):
            return whole(self._run_gold(assignment, statements))
        key = (assignment.database, self._source.digest(assignment.database), statements)
        return self._golds.get(key, lambda: whole(self._run_gold(assignment, statements)))

    def _run_gold(self, assignment: Assignment, statements: tuple[str, ...]) -> Result:
        with self._source.open(assignment.database, self._limits) as database:
            for scripts in (assignment.setup, assignment.base_gold, statements[:-1]):
                ready = database.run(scripts)
                if isinstance(ready, QueryError):
                    return ready
            result = database.query(statements[-1])
            if isinstance(result, QueryError) and result.kind in ("denied", "syntax"):
                result = database.run(statements[-1:])  # several statements in one text, or one that writes
            return result

    def _grade_management(self, assignment: Assignment, prediction: str) -> Grade:
        gold = self._gold_state(assignment)
        if isinstance(gold, Grade):
            return gold
        with self._source.open(assignment.database, self._limits) as database:
            failed = _prepare_prediction(database, assignment)
            if failed is not None:
                return failed
            done = database.run((prediction,))
            if isinstance(done, QueryError):
                return _failed(done, flags=gold.flags)
            cleanup = () if gold.is_worked else assignment.cleanup
            returned = _clean_up(database, cleanup, like=gold.state)
            if isinstance(returned, QueryError):
                return _failed(returned, flags=gold.flags)
            reason = first_difference(gold.state, returned)
            if reason:
                return Grade(False, "wrong_result", reason, flags=gold.flags)
            left = _left(database, assignment, gold) if assignment.keeps_state else None
        return Grade(True, "passed", flags=gold.flags, left=left)

    def _gold_state(self, assignment: Assignment) -> _GoldState | Grade:
        """What the gold leaves; remembered if nothing in it reads the clock."""
        scripts = (assignment.setup, assignment.base_gold, assignment.gold, assignment.cleanup)
        if any(reads_clock(script) for part in scripts for script in part):
            return self._run_management_gold(assignment)
        key = (assignment.database, self._source.digest(assignment.database), scripts)
        return self._states.get(key, lambda: self._run_management_gold(assignment))

    def _run_management_gold(self, assignment: Assignment) -> _GoldState | Grade:
        with self._source.open(assignment.database, self._limits) as database:
            failed = _prepare_gold(database, assignment)
            if failed is not None:
                return failed
            start = database.state()
            if isinstance(start, QueryError):
                return _broken("the starting state", start)
            done = database.run(assignment.gold)
            if isinstance(done, QueryError):
                return _broken("the gold", done)
            worked = database.state()
            if isinstance(worked, QueryError):
                return _broken("the gold's state", worked)
            expected = _clean_up(database, assignment.cleanup) if assignment.cleanup else worked
            if isinstance(expected, QueryError):
                return _broken("the state after the clean-up", expected)
        for state in (worked, expected):
            if fault := unreadable(state):
                return Grade(False, "infra_error", f"the gold's state is out of reach: {fault}")
        is_lasting = not any(map(reads_clock, {*start.definitions, *worked.definitions}))
        changed = changed_objects(start, worked)
        flags = () if changed else ("gold_changes_nothing",)
        if assignment.cleanup and not changed.isdisjoint(changed_objects(worked, expected)):
            return _GoldState(worked, True, (*flags, "cleanup_undoes_gold"), is_lasting)
        return _GoldState(expected, False, flags, is_lasting)


def _rows_of_state(gold: _GoldState | Grade) -> int | None:
    """How many rows a gold's state has; None if it may not be remembered."""
    if isinstance(gold, Grade) or not gold.is_lasting:
        return None
    return sum(rows_of_result(content) or 0 for content in gold.state.contents.values())


def _prepare_gold(database: EpisodeDatabase, assignment: Assignment) -> Grade | None:
    for what, scripts in (("the set-up", assignment.setup), ("the starting state", assignment.base_gold)):
        failure = _run_whole(database, scripts)
        if failure is not None:
            return _broken(what, failure)
    return None


def _left(database: EpisodeDatabase, assignment: Assignment, gold: _GoldState) -> Checkpoint | None:
    """The prediction's state after the clean-up; None if it cannot be kept, so that it is made again."""
    if gold.is_worked:
        _run_each(database, assignment.cleanup)
    left = database.checkpoint()
    return left if isinstance(left, Checkpoint) else None


def _prepare_prediction(database: EpisodeDatabase, assignment: Assignment) -> Grade | None:
    if assignment.start is not None:
        failure = database.restore(assignment.start)
        return None if failure is None else _broken("the starting state", failure)
    failure = _run_whole(database, assignment.setup)
    if failure is not None:
        return _broken("the set-up", failure)
    failure = _run_whole(database, assignment.base_pred)
    return None if failure is None else _failed(failure)


def _run_whole(database: EpisodeDatabase, scripts: tuple[str, ...]) -> QueryError | None:
    """Run scripts and end the transaction that they may leave open, so that nothing else ends it."""
    if not scripts:
        return None
    result = database.run(scripts)
    if isinstance(result, QueryError):
        return result
    database.run(("ROLLBACK",))  # an error if there is none, which is as good
    return None


def _clean_up(
    database: EpisodeDatabase, cleanup: tuple[str, ...], like: DatabaseState | None = None
) -> DatabaseState | QueryError:
    """The state after the clean-up, which starts from what is committed."""
    _run_each(database, cleanup)
    return database.state(like)


def _run_each(database: EpisodeDatabase, cleanup: tuple[str, ...]) -> None:
    """Run the clean-up from what is committed, whatever becomes of each statement."""
    if cleanup:
        database.run(("ROLLBACK",))
    for statement in cleanup:
        database.run((statement,))


def _broken(what: str, error: QueryError) -> Grade:
    return Grade(False, "infra_error", f"{what} failed: {_one_line(error)}", error)


def _failed(error: QueryError, rows_gold: int | None = None, flags: tuple[str, ...] = ()) -> Grade:
    status: GradeStatus = "sql_timeout" if error.kind == "timeout" else "sql_error"
    return Grade(False, status, f"the SQL failed: {_one_line(error)}", error, flags, rows_gold)


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
