"""Grading as the published c-Interact evaluators do it, on a disposable copy (BIRD-Interact §4.2 to §4.4).

For comparability only: their verdicts, faults and all. What a submission passes for although the gold on a
pristine copy, or our own rules for test cases, say otherwise is flagged `integrity`.
"""

from __future__ import annotations

from dataclasses import replace

from birdenv.databases import (
    Checkpoint,
    DatabaseSource,
    EpisodeDatabase,
    Limits,
    QueryError,
    QueryResult,
    Result,
)
from birdenv.grading._assignment import Assignment, Grade, broken, failed
from birdenv.grading._gold import GoldCache, reads_clock, rows_of_result
from birdenv.grading._published_rows import compare_published
from birdenv.grading._published_tests import defines_callable, defines_test_case, published_test
from birdenv.grading._published_text import published_text
from birdenv.grading._test_harness import run_test_cases

__all__ = ["PublishedGrader"]


class PublishedGrader:
    """Grades by the published rules; may be used by several threads."""

    def __init__(self, source: DatabaseSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._golds = GoldCache(rows_of_result)

    def grade(self, assignment: Assignment, prediction: str) -> Grade:
        """The prediction runs as it is; then the tests of a Management task, or else the comparison of rows.

        Errors of the set-up are ignored, and a gold that fails is the prediction's failure.
        """
        with self._source.open(assignment.database, self._limits) as database:
            fault = _prepare(database, assignment)
            if fault is not None:
                return broken("the starting state", fault)
            result = _run(database, (prediction,))
            if isinstance(result, QueryError):
                return failed(result)
            left = database.checkpoint() if assignment.keeps_state else None
            if assignment.category == "Management" and _are_run(assignment):
                grade = self._grade_by_tests(database, assignment, prediction, result)
            else:
                grade = self._grade_by_rows(database, assignment, prediction)
        if grade.passed and isinstance(left, Checkpoint):
            return replace(grade, left=left)
        return grade

    def _grade_by_rows(self, database: EpisodeDatabase, assignment: Assignment, prediction: str) -> Grade:
        pred_sql, gold_sqls = published_text(prediction), tuple(map(published_text, assignment.gold))
        pred = _run(database, (pred_sql,))
        if isinstance(pred, QueryError):
            reason = f"the SQL, without comments, DISTINCT and ROUND, failed: {_one_line(pred)}"
            return Grade(False, "wrong_result", reason)
        changed = database.is_private
        gold = _run(database, gold_sqls)
        if isinstance(gold, QueryError):
            reason = f"the gold, without comments, DISTINCT and ROUND, failed: {_one_line(gold)}"
            return Grade(False, "wrong_result", reason, flags=("gold_failed",), rows_pred=len(pred.rows))
        order, texts = assignment.conditions.order, {"gold_sql": gold_sqls[-1], "pred_sql": pred_sql}
        comparison = compare_published(gold, pred, order=order, **texts)
        flags = comparison.flags
        if comparison.equal:
            if assignment.category == "Management":
                flags = (*flags, "integrity", "no_usable_test")
            elif changed:
                pristine = self._pristine_gold(assignment, gold_sqls)
                if isinstance(pristine, QueryError) or not (
                    compare_published(pristine, pred, order=order, **texts).equal
                ):
                    flags = (*flags, "integrity")
        return Grade(
            passed=comparison.equal,
            status="passed" if comparison.equal else "wrong_result",
            reason=comparison.reason,
            flags=flags,
            rows_gold=len(gold.rows),
            rows_pred=len(pred.rows),
        )

    def _pristine_gold(self, assignment: Assignment, gold_sqls: tuple[str, ...]) -> Result:
        """What the gold returns where the prediction has never been."""

        def run() -> Result:
            with self._source.open(assignment.database, self._limits) as database:
                return _prepare(database, assignment) or _run(database, gold_sqls)

        scripts = (assignment.setup, _base(assignment), gold_sqls)
        if assignment.start is not None or any(reads_clock(sql) for part in scripts for sql in part):
            return run()
        return self._golds.get((assignment.database, self._source.digest(assignment.database), scripts), run)

    def _grade_by_tests(
        self, database: EpisodeDatabase, assignment: Assignment, prediction: str, result: QueryResult
    ) -> Grade:
        way = assignment.rules.tests
        assert way != "contract"
        report = run_test_cases(
            [published_test(assignment.tests, way)],
            [prediction],
            assignment.gold,
            database,
            pred_result=result,
            db_name=assignment.database,
            dialect=self._source.dialect,
        )
        if report.status != "passed":
            return Grade(False, "wrong_result", report.reason)
        proves_nothing = way == "test_case" and not any(map(defines_test_case, assignment.tests))
        return Grade(True, "passed", flags=("integrity", "no_usable_test") if proves_nothing else ())


def _are_run(assignment: Assignment) -> bool:
    """Whether a Management task has tests that the evaluator runs; else it compares rows."""
    if assignment.rules.tests == "every_callable":
        return any(map(defines_callable, assignment.tests))
    return bool(assignment.tests)


def _prepare(database: EpisodeDatabase, assignment: Assignment) -> QueryError | None:
    """Set-up, the earlier phase's SQL and the clean-up behind it are one list to the evaluator: it ends,
    unseen, at the first error.

    What is returned is an error of ours: the kept state cannot be restored.
    """
    if assignment.start is not None:
        return database.restore(assignment.start)
    _run(database, (*assignment.setup, *_base(assignment)))
    return None


def _base(assignment: Assignment) -> tuple[str, ...]:
    return (*assignment.base_pred, *assignment.cleanup) if assignment.base_pred else ()


def _run(database: EpisodeDatabase, scripts: tuple[str, ...]) -> Result:
    """Run scripts up to the first error, each committed."""
    result: Result = QueryResult((), ())
    for script in scripts:
        result = database.run((script,))
        if isinstance(result, QueryError):
            if database.is_private:
                database.run(("ROLLBACK",))
            return result
        if database.is_private:
            database.run(("COMMIT",))  # an error where nothing is open, which is as good
    return result


def _one_line(error: QueryError) -> str:
    return " ".join(f"{error.kind}: {error.message}".split())
