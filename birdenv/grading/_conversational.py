"""Grading in c-Interact: a Query by its rows, a Management task by the state that it leaves.

BIRD-Interact §4, the strict column of §7.4: the gold runs on its own pristine copy and never after the
prediction, a Query prediction may only read, and a benchmark that does not run is not the model's failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from birdenv.databases import DatabaseState, Limits, QueryError, Result
from birdenv.grading._distinct import without_outer_distinct
from birdenv.grading._gold import GoldCache, reads_clock, whole
from birdenv.grading._source import Database, Source
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


@dataclass(frozen=True, slots=True)
class Assignment:
    """One phase of a task, as the grader needs it.

    `setup` brings a pristine copy to the task's starting state; `base_gold` and `base_pred`, run after it,
    bring the gold's and the prediction's copy to this phase's (for follow-ups). `cleanup` runs after a
    Management script; its errors are ignored.
    """

    database: str
    category: Category
    gold: tuple[str, ...]
    conditions: Conditions = _DEFAULT_CONDITIONS
    setup: tuple[str, ...] = ()
    base_gold: tuple[str, ...] = ()
    base_pred: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """What grading one submission found. `reason` (one line, empty if passed) is private to graders.

    `error` is the prediction's, or with `infra_error` that of the benchmark's own SQL. `flags`: those of
    `Comparison`; for Management `gold_changes_nothing` (any script that changes nothing passes) and
    `cleanup_undoes_gold` (states were compared before the clean-up). `malformed` and `test_error` are for
    callers: what never reached the grader, and test cases that cannot be used.
    """

    passed: bool
    status: GradeStatus
    reason: str = ""
    error: QueryError | None = None
    flags: tuple[str, ...] = ()
    rows_gold: int | None = None
    rows_pred: int | None = None


class ConversationalGrader:
    """Grades c-Interact submissions; may be used by several threads."""

    def __init__(self, source: Source, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._source = source
        self._limits = limits
        self._golds = GoldCache()

    def grade(self, assignment: Assignment, prediction: str) -> Grade:
        """Grade one submission. Raises `InputError` if the database cannot be opened.

        Query: exactly one statement that reads and returns rows; they must be the last gold statement's by
        `compare_strict`. Management: schema, tables' rows and views' results after the prediction must be
        those after the gold, both after the clean-up, or before it if it undoes anything that the gold did.
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
            failed = _prepare(database, assignment.setup, assignment.base_pred)
            if failed is not None:
                return failed
            pred = database.query(self._as_compared(prediction, assignment))
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
        last = self._as_compared(last, assignment)
        statements = (*earlier, last)
        prepared = assignment.setup or assignment.base_gold
        if prepared or any(map(reads_clock, statements)):
            return whole(self._run_gold(assignment, statements))
        key = (assignment.database, self._source.digest(assignment.database), statements)
        return self._golds.get(key, lambda: whole(self._run_gold(assignment, statements)))

    def _run_gold(self, assignment: Assignment, statements: tuple[str, ...]) -> Result:
        with self._source.open(assignment.database, self._limits) as database:
            ready = database.run((*assignment.setup, *assignment.base_gold, *statements[:-1]))
            if isinstance(ready, QueryError):
                return ready
            result = database.query(statements[-1])
            if isinstance(result, QueryError) and result.kind in ("denied", "syntax"):
                result = database.run(statements[-1:])  # several statements in one text, or one that writes
            return result

    def _as_compared(self, sql: str, assignment: Assignment) -> str:
        if assignment.conditions.distinct is False:
            return without_outer_distinct(sql, self._source.dialect)
        return sql

    def _grade_management(self, assignment: Assignment, prediction: str) -> Grade:
        with self._source.open(assignment.database, self._limits) as database:
            failed = _prepare(database, assignment.setup, assignment.base_gold)
            if failed is not None:
                return failed
            start = database.state()
            done = database.run(assignment.gold)
            if isinstance(done, QueryError):
                return _broken("the gold", done)
            worked = database.state()
            expected = _clean_up(database, assignment.cleanup, worked)
        if fault := unreadable(worked):
            return Grade(False, "infra_error", f"the gold's state is out of reach: {fault}")

        changed = changed_objects(start, worked)
        hides = bool(assignment.cleanup) and not changed.isdisjoint(changed_objects(worked, expected))
        flags = () if changed else ("gold_changes_nothing",)
        if hides:
            expected, flags = worked, (*flags, "cleanup_undoes_gold")

        with self._source.open(assignment.database, self._limits) as database:
            failed = _prepare(database, assignment.setup, assignment.base_pred)
            if failed is not None:
                return failed
            done = database.run((prediction,))
            if isinstance(done, QueryError):
                return _failed(done, flags=flags)
            returned = database.state() if hides else _clean_up(database, assignment.cleanup, None)
        reason = first_difference(expected, returned)
        return Grade(not reason, "wrong_result" if reason else "passed", reason, flags=flags)


def _prepare(database: Database, setup: tuple[str, ...], base: tuple[str, ...]) -> Grade | None:
    for what, statements in (("the set-up", setup), ("the starting state", base)):
        result = database.run(statements)
        if isinstance(result, QueryError):
            return _broken(what, result)
    return None


def _clean_up(database: Database, statements: tuple[str, ...], before: DatabaseState | None) -> DatabaseState:
    """The state after the clean-up; `before` itself, if given, where there is nothing to run."""
    if before is not None and not statements:
        return before
    for statement in statements:
        database.run((statement,))
    return database.state()


def _broken(what: str, error: QueryError) -> Grade:
    return Grade(False, "infra_error", f"{what} failed: {_one_line(error)}", error)


def _failed(error: QueryError, rows_gold: int | None = None, flags: tuple[str, ...] = ()) -> Grade:
    status: GradeStatus = "sql_timeout" if error.kind == "timeout" else "sql_error"
    return Grade(False, status, f"the SQL failed: {_one_line(error)}", error, flags, rows_gold)


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
