"""Grade c-Interact submissions: Query tasks by the rows, and Management tasks by the test cases.

Under strict rules (BIRD-Interact §4, and the strict column of §7.4), the gold runs on its own pristine copy
of the database, and a prediction for a Query task may only read. If the benchmark's own SQL fails, this does
not count against the model. Under the rules of the published evaluators, the prediction and the gold run on
the same disposable copy.
"""

from __future__ import annotations

from birdenv.databases import DatabaseSource, EpisodeDatabase, Limits, QueryError, Result
from birdenv.databases.cache import Key, result_cache
from birdenv.grading._reads import SPELLED_OUT, reads_clock, spells_out
from birdenv.grading._statements import whole
from birdenv.grading.compare._interact_rows import compare_strict
from birdenv.grading.compare._sql_cuts import without_outer_distinct
from birdenv.grading.interact._job import (
    Grade,
    GradingJob,
    broken,
    compared,
    failed,
    prepare_gold,
    prepare_prediction,
)
from birdenv.grading.interact._management import ManagementGrader
from birdenv.grading.interact._reference import ReferenceGrader


class StrictQueryGrader:
    """A thread-safe grader for Query submissions under strict rules."""

    def __init__(self, source: DatabaseSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """Grade a submission, which must be a single read-only statement, by comparing its rows."""
        gold = self._gold_rows(job)
        if isinstance(gold, QueryError):
            return broken("the gold", gold)
        if isinstance(gold, Grade):
            return gold
        with self._source.open(job.database, self._limits) as database:
            fault = prepare_prediction(database, job)
            if fault is not None:
                return fault
            if job.conditions.distinct is False:
                prediction = without_outer_distinct(prediction, self._source.dialect)
            pred = database.query(prediction)
        if isinstance(pred, QueryError):
            return failed(pred, rows_gold=len(gold.rows))
        comparison = compare_strict(gold, pred, job.conditions)
        grade = compared(comparison, gold, pred, comparison.flags)
        doubted = grade.passed and job.rules.fail_doubtful
        if doubted and spells_out(prediction, job.gold[-1], self._source.dialect):
            return grade.failed_as_doubtful(SPELLED_OUT)
        return grade

    def _gold_rows(self, job: GradingJob) -> Result | Grade:
        """Return the result of the last gold statement, or a grade that says why there is none.

        The result is cached if the database is unchanged.
        """
        *earlier, last = job.gold
        if job.conditions.distinct is False:
            last = without_outer_distinct(last, self._source.dialect)
        statements = (*earlier, last)
        if job.setup or job.base_gold:
            with self._source.open(job.database, self._limits) as database:
                return prepare_gold(database, job) or whole(_run_gold(database, statements))
        key = Key(self._source.scope(job.database, self._limits), "script", None, statements)
        return result_cache.get(
            key,
            lambda: whole(self._run_pristine(job, statements)),
            lasts=lambda: not any(map(reads_clock, statements)),
        )

    def _run_pristine(self, job: GradingJob, statements: tuple[str, ...]) -> Result:
        with self._source.open(job.database, self._limits) as database:
            return _run_gold(database, statements)


def _run_gold(database: EpisodeDatabase, statements: tuple[str, ...]) -> Result:
    ready = database.run(statements[:-1])
    if isinstance(ready, QueryError):
        return ready
    result = database.query(statements[-1])
    if isinstance(result, QueryError) and result.kind in ("denied", "syntax"):
        result = database.run(statements[-1:])  # several statements in one text, or a writing statement
    return result


def grade_here(source: DatabaseSource, limits: Limits, job: GradingJob, prediction: str) -> Grade:
    """Grade a submission as `InteractGrader.grade` does, in the calling process, which must be a worker.

    There is no second run after a timeout.
    """
    grader: type[ReferenceGrader | ManagementGrader | StrictQueryGrader] = StrictQueryGrader
    if job.rules.comparison == "published":
        grader = ReferenceGrader
    elif job.category == "Management":
        grader = ManagementGrader
    return grader(source, limits).grade(job, prediction)
