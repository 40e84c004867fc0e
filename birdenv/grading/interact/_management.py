"""Grade Management tasks under strict rules, by their test cases (BIRD-Interact §4.3).

The test cases first run on the state that the gold leaves. If they do not pass there, or if there are no test
cases, the grade is `test_error`, unless the task specifies grading by state. The states that gold and
prediction leave are also compared object by object. If the result differs from that of the test cases, the
grade has the flag `state_disagrees`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from birdenv.databases import (
    Checkpoint,
    DatabaseSource,
    DatabaseState,
    EpisodeDatabase,
    Limits,
    QueryError,
    QueryResult,
    Result,
)
from birdenv.databases.cache import Key, result_cache
from birdenv.grading._reads import reads_clock
from birdenv.grading.compare._rows import compare_multiset
from birdenv.grading.interact._job import (
    Grade,
    GradingJob,
    broken,
    clean_up,
    failed,
    prepare_gold,
    prepare_prediction,
    run_each,
)
from birdenv.grading.sandbox._runner import TestReport, judged, run_test_cases


def first_difference(gold: DatabaseState, pred: DatabaseState) -> str:
    """Describe the first difference between two database states; return "" if there is none.

    Schemas are compared before contents. Rows of tables and views are compared as multisets
    (`compare_multiset`). Views that fail with the same message count as equal. The description must not be
    shown to agents.
    """
    return next(_differences(gold, pred), ("", ""))[1]


def changed_objects(before: DatabaseState, after: DatabaseState) -> frozenset[str]:
    """Return the names of the objects that differ between two states.

    Examples are `table orders` (a difference in the schema) and `rows of orders` (a difference in the
    contents).
    """
    return frozenset(name for name, _ in _differences(before, after))


def unreadable(state: DatabaseState) -> str:
    """Describe the first object whose contents could not be read completely; return "" if there is none.

    A view that fails because of its definition, for example because a table is missing, does not count.
    """
    for name, content in sorted(state.contents.items()):
        if isinstance(content, QueryError) and content.kind in ("timeout", "too_large"):
            return f"{name} could not be read: {content.message}"
        if isinstance(content, QueryResult) and content.truncated:
            return f"{name} has more than {len(content.rows)} rows"
    return ""


def _differences(gold: DatabaseState, pred: DatabaseState) -> Iterator[tuple[str, str]]:
    for key in sorted(gold.schema.keys() | pred.schema.keys()):
        if key not in pred.schema:
            yield key, f"{key} is missing"
        elif key not in gold.schema:
            yield key, f"{key} is not expected"
        elif gold.schema[key] != pred.schema[key]:
            yield key, f"the definition of {key} differs"
    for name in sorted(gold.contents.keys() | pred.contents.keys()):
        difference = _content_difference(gold.contents.get(name), pred.contents.get(name))
        if difference:
            yield f"rows of {name}", f"{name}: {difference}"


def _content_difference(gold: Result | None, pred: Result | None) -> str:
    if isinstance(gold, QueryResult) and isinstance(pred, QueryResult):
        return compare_multiset(gold, pred).reason
    if isinstance(gold, QueryError) and isinstance(pred, QueryError):
        return "" if gold == pred else f"fails with an unexpected error: {pred.message}"
    if isinstance(pred, QueryError):
        return f"cannot be read: {pred.message}"
    return "can be read, unlike in the gold's state" if pred is not None else "is missing"


@dataclass(frozen=True, slots=True)
class _GoldState:
    """The state of the database that the gold of a Management task leaves.

    Attributes:
        state: the schema and contents of the database.
        is_worked: whether this is the state before the clean-up.
        flags: the flags for grades.
        is_lasting: whether a second run leaves the same state, because no SQL in it reads the clock.
        tests: the report of the task's test cases on this state.
    """

    state: DatabaseState
    is_worked: bool
    flags: tuple[str, ...]
    is_lasting: bool
    tests: TestReport


@dataclass(frozen=True, slots=True)
class _TimedGold:
    """The state that a gold leaves, or why there is none, and the seconds spent on computing it."""

    gold: _GoldState | Grade
    elapsed: float = field(compare=False)

    @property
    def repeatable(self) -> bool:
        gold = self.gold
        return isinstance(gold, _GoldState) and gold.is_lasting and not gold.tests.depends_on_machine


class ManagementGrader:
    """A thread-safe grader for Management submissions under strict rules."""

    def __init__(self, source: DatabaseSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """Grade a prediction by running the test cases on the state that it leaves before the clean-up.

        The states (schemas and contents) that gold and prediction leave are also compared, to set the flag
        `state_disagrees`. This happens after the clean-up, or before it if the clean-up undoes a change that
        the gold made. If there are no test cases and `GradingJob.by_state` is set, this comparison decides.
        """
        if not job.tests and not job.by_state:
            return Grade(False, "test_error", "the task has no test case, so no answer can be graded")
        gold = self._gold_state(job)
        if isinstance(gold, Grade):
            return gold
        if gold.tests.status != "passed":
            return Grade(
                False,
                "test_error",
                f"on the state that the gold leaves: {gold.tests.reason}",
                None,
                gold.flags,
            )
        if not job.tests and "gold_changes_nothing" in gold.flags:
            reason = "the gold leaves the database unchanged, so states cannot be used for grading"
            return Grade(False, "test_error", reason, None, gold.flags)
        with self._source.open(job.database, self._limits) as database:
            fault = prepare_prediction(database, job)
            if fault is not None:
                return fault
            done = database.run((prediction,))
            if isinstance(done, QueryError):
                return failed(done, flags=gold.flags)
            tests = partial(self._run_tests, database, job, (prediction,), done)
            report = _tested(database, lambda: judged(gold.tests, tests))
            if isinstance(report, QueryError):
                return failed(report, flags=gold.flags)
            if report.status == "test_error":
                return Grade(False, "test_error", report.reason, None, gold.flags)
            returned = clean_up(database, () if gold.is_worked else job.cleanup, like=gold.state)
            grade = _grade(gold, returned, report) if job.tests else _grade_by_state(gold, returned)
            if grade.passed and job.rules.fail_doubtful and "state_disagrees" in grade.flags:
                return grade.failed_as_doubtful(_other_state(gold, returned))
            if not grade.passed or not job.keeps_state:
                return grade
            left = _left(database, job, gold)
        return replace(grade, left=left)

    def _run_tests(
        self, database: EpisodeDatabase, job: GradingJob, sqls: Sequence[str], result: Result
    ) -> TestReport:
        if not job.tests:
            return TestReport("passed")
        return run_test_cases(
            job.tests,
            sqls,
            job.gold,
            database,
            pred_result=result,
            db_name=job.database,
            dialect=self._source.dialect,
        )

    def _gold_state(self, job: GradingJob) -> _GoldState | Grade:
        """Return the state that the gold leaves. It is cached if no SQL in it reads the clock.

        This is judged by the text of the SQL, because engines never mark a writing statement as repeatable.
        """
        scripts = (job.setup, job.base_gold, job.gold, job.cleanup, job.tests)
        if any(reads_clock(script) for part in scripts for script in part):
            return self._run_gold(job)
        key = Key(self._source.scope(job.database, self._limits), "state", None, (job.database, scripts))

        def run() -> _TimedGold:
            began = time.monotonic()
            return _TimedGold(self._run_gold(job), time.monotonic() - began)

        return result_cache.get(key, run).gold

    def _run_gold(self, job: GradingJob) -> _GoldState | Grade:
        with self._source.open(job.database, self._limits) as database:
            fault = prepare_gold(database, job)
            if fault is not None:
                return fault
            start = database.state()
            if isinstance(start, QueryError):
                return broken("the starting state", start)
            done = database.run(job.gold)
            if isinstance(done, QueryError):
                return broken("the gold", done)
            worked = database.state()
            if isinstance(worked, QueryError):
                return broken("the gold's state", worked)
            tests = _tested(database, partial(self._run_tests, database, job, job.gold, done))
            if isinstance(tests, QueryError):
                return broken("the gold's state", tests)
            expected = clean_up(database, job.cleanup) if job.cleanup else worked
            if isinstance(expected, QueryError):
                return broken("the state after the clean-up", expected)
        for state in (worked, expected):
            if fault_text := unreadable(state):
                return Grade(False, "infra_error", f"the gold's state cannot be read: {fault_text}")
        is_lasting = not any(map(reads_clock, {*start.definitions, *worked.definitions}))
        changed = changed_objects(start, worked)
        flags = () if changed else ("gold_changes_nothing",)
        if job.cleanup and not changed.isdisjoint(changed_objects(worked, expected)):
            return _GoldState(worked, True, (*flags, "cleanup_undoes_gold"), is_lasting, tests)
        return _GoldState(expected, False, flags, is_lasting, tests)


def _tested(database: EpisodeDatabase, tests: Callable[[], TestReport]) -> TestReport | QueryError:
    """Run tests on the committed contents, and restore the contents afterwards."""
    before = database.checkpoint()
    if not isinstance(before, Checkpoint):
        return before
    report = tests()
    return database.restore(before) or report


def _grade(gold: _GoldState, returned: DatabaseState | QueryError, report: TestReport) -> Grade:
    passed = report.status == "passed"
    agrees = not isinstance(returned, QueryError) and not first_difference(gold.state, returned)
    flags = gold.flags if passed == agrees else (*gold.flags, "state_disagrees")
    return Grade(passed, "passed" if passed else "wrong_result", report.reason, flags=flags)


def _other_state(gold: _GoldState, returned: DatabaseState | QueryError) -> str:
    found = "" if isinstance(returned, QueryError) else first_difference(gold.state, returned)
    return f"the test cases pass, but the state differs from the gold's: {found or 'it cannot be read'}"


def _grade_by_state(gold: _GoldState, returned: DatabaseState | QueryError) -> Grade:
    if isinstance(returned, QueryError):
        return failed(returned, flags=gold.flags)
    difference = unreadable(returned) or first_difference(gold.state, returned)
    return Grade(not difference, "wrong_result" if difference else "passed", difference, flags=gold.flags)


def _left(database: EpisodeDatabase, job: GradingJob, gold: _GoldState) -> Checkpoint | None:
    """Return the state that the prediction leaves after the clean-up, or None if it cannot be kept."""
    if gold.is_worked:
        run_each(database, job.cleanup)
    left = database.checkpoint()
    return left if isinstance(left, Checkpoint) else None
