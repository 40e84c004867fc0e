"""Verify c-Interact task files: check the records and the folder, and grade the gold SQL of each task."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

from birdenv.benchmarks._prepare import WHERE_TO_ASK, PreparationReport, Problem
from birdenv.databases import DatabaseSource, DatedSource, Limits, QueryError, SqliteSource
from birdenv.dialogue import Dialogue, Move, View, play
from birdenv.errors import BirdenvError
from birdenv.grading import InteractGrader
from birdenv.grading.sandbox import parse_test_cases, reads_clock
from birdenv.sql import ClockError, at_date, may_change
from birdenv.tasks import as_script, in_dialect
from birdenv.tasks.c_interact import (
    CInteractRules,
    CInteractTask,
    DatabaseNotes,
    TaskRecord,
    misspelt_fields,
    parse_record,
    read_notes,
    split_record,
)

_NO_TRUTH = f"sol_sql is empty: the ground truth is missing. {WHERE_TO_ASK}"

_FAILS: Final = {
    "test_error": "does not pass its own test cases",
    "wrong_result": "does not pass its own grading",
}
"""The descriptions of defects, keyed by grade status. For any other status, the gold does not run."""

Progress = Callable[[str], object]
OracleTasks = Literal["all", "present", "none"]


def verify_records(
    raw_records: Sequence[Mapping[str, Any]],
    folder: Path | None,
    *,
    source: DatabaseSource | None = None,
    dialect: str = "sqlite",
    oracle: OracleTasks = "all",
    partial: bool = False,
    today: str | None = None,
    progress: Progress | None = None,
) -> PreparationReport:
    """Check every record, and let an oracle play each task that has gold SQL by submitting that SQL.

    Args:
        raw_records: the task records.
        folder: the folder with the databases and their notes; None to check only the records.
        source: the databases for the oracle; None for the SQLite files in the folder.
        dialect: the SQL dialect of the records; used only if `source` is None.
        oracle: the tasks that the oracle plays: `all` (a missing database is a problem), `present` (tasks
            whose database exists), or `none`.
        partial: True to allow missing gold SQL. Tasks without gold SQL are then only counted.
        today: the current date for SQL, such as 2025-02-19; None for the real date.
        progress: a function that is called with the task id after each task.

    Returns:
        The report. Its `defects` list the tasks with gold that reads the clock, does not run, or fails the
        task's own test cases.
    """
    problems: list[Problem] = []
    warnings: list[Problem] = []
    if folder is not None and source is None and oracle != "none":
        source = SqliteSource(folder)
    if source is not None and today is not None:
        source = cast(DatabaseSource, DatedSource(source, today))
    checker = None if source is None or folder is None else _Checker(folder, source)
    notes = None if folder is None else functools.cache(functools.partial(read_notes, folder))
    there = set(source.names()) if source is not None else set()
    dialect = source.dialect if source is not None else dialect
    defects: dict[str, list[str]] = {}
    figures = {"tasks": len(raw_records), "with gold": 0, "without gold": 0, "oracle passed": 0}
    figures |= {"not tried: no database": 0} if oracle == "present" else {}
    seen: set[str] = set()
    for index, raw in enumerate(raw_records):
        name = str(raw.get("instance_id", f"record {index + 1}"))
        found: list[str] = [f"{name} occurs twice"] if name in seen else []
        seen.add(name)
        wrong: list[str] = []
        try:
            told = in_dialect(raw, dialect, name)
            found += misspelt_fields(told)
            record = parse_record(told, name)
            found += _structural(record, partial)
            wrong += [*_untested(record), *_volatile(record, today, dialect)]
            warnings += [Problem(name, text) for text in _doubts(record)]
            figures["with gold" if record.sol_sql else "without gold"] += 1
            if notes is not None:
                found += _unknown_ids(record, notes(record.selected_database))
            if record.sol_sql and not found and checker is not None:
                if oracle == "present" and record.selected_database not in there:
                    figures["not tried: no database"] += 1
                else:
                    failure = checker.failure(record, index)
                    if failure is not None:
                        found.append(failure.message)
                        wrong.append(failure.reason)
                    figures["oracle passed"] += failure is None
                    warnings += [Problem(name, text) for text in checker.doubts(record, index)]
        except BirdenvError as error:
            found.append(str(error).removeprefix(f"{name}: "))
        if wrong:
            defects[name] = wrong
        problems += [Problem(name, text, truth_missing=text == _NO_TRUTH) for text in found]
        if progress is not None:
            progress(name)
    return PreparationReport(tuple(problems), tuple(warnings), figures | {"defective": len(defects)}, defects)


def _untested(record: TaskRecord) -> Iterator[str]:
    """Yield the defects of a record whose test cases are missing or unusable."""
    for follow_up in dict.fromkeys(follow_up for follow_up, _ in _test_faults(record)):
        solution = record.follow_up if follow_up else record
        if solution is not None and solution.sol_sql:
            yield f"test cases of the {'follow-up' if follow_up else 'task'} are missing or unusable"


def _volatile(record: TaskRecord, today: str | None, dialect: str) -> Iterator[str]:
    """Yield the defects of SQL that reads random numbers, or the clock where `today` does not replace it."""
    follow_up = record.follow_up

    def changes(sql: str) -> bool:
        with suppress(ClockError):
            return may_change(sql if today is None else at_date(sql, today, dialect))
        return True

    sql = {
        "the gold reads": record.sol_sql,
        "the follow-up's gold reads": follow_up.sol_sql if follow_up else (),
        "the set-up or the clean-up reads": (*record.preprocess_sql, *record.clean_up_sqls),
    }
    for what, statements in sql.items():
        if any(map(changes, statements)):
            yield f"{what} the clock or random numbers"
    tests = (*record.test_cases, *(follow_up.test_cases if follow_up else ()))
    if any((today is None and may_change(test)) or reads_clock(test) for test in tests):
        yield "a test case reads the clock or random numbers"


def _structural(record: TaskRecord, partial: bool) -> Iterator[str]:
    if not record.sol_sql:
        if not partial:
            yield _NO_TRUTH
        return
    follow_up = record.follow_up
    if follow_up is not None:
        if not follow_up.query.strip():
            yield "follow_up has no query"
        if not follow_up.sol_sql:
            yield "follow_up.sol_sql is empty: the ground truth is missing"
    for is_follow_up, fault in _test_faults(record):
        yield f"{'follow_up.' if is_follow_up else ''}{fault}"


def _test_faults(record: TaskRecord) -> Iterator[tuple[bool, str]]:
    """Yield what is wrong with test cases, together with True if they belong to the follow-up."""
    follow_up = record.follow_up
    parts = [(False, record.category, record.test_cases, record.grading)]
    if follow_up is not None:
        category, grading = follow_up.category_below(record.category), follow_up.grading or record.grading
        parts.append((True, category, follow_up.test_cases, grading))
    for is_follow_up, category, tests, grading in parts:
        if category == "Management" and not tests and grading != "state":
            need = 'a Management task needs at least one test case, or "grading": "state"'
            yield is_follow_up, f"test_cases is empty: {need}"
        for problem in parse_test_cases(tests):
            yield is_follow_up, f"test_cases: {problem}"


def _doubts(record: TaskRecord) -> Iterator[str]:
    is_marked = "_M_" in record.instance_id
    if is_marked != (record.category == "Management"):
        has, by_id = ("contains", "Management") if is_marked else ("lacks", "Query")
        yield f"the id {has} `_M_`, so the profile shell treats this {record.category} task as {by_id}"
    if record.follow_up is not None and record.follow_up.category is None:
        yield "follow_up.category is missing and was inferred"
    request = " ".join(record.amb_user_query.casefold().split())
    for place, each in enumerate(record.user_query_ambiguity.critical_ambiguity):
        if " ".join(each.term.casefold().split()) not in request:
            yield f"critical_ambiguity[{place}]: the request (amb_user_query) does not say {each.term!r}"


def _unknown_ids(record: TaskRecord, notes: DatabaseNotes) -> Iterator[str]:
    known = {entry.id for entry in notes.knowledge}
    follow_up = record.follow_up
    mentioned = {
        "deleted_knowledge": [i for item in record.knowledge_ambiguity for i in item.deleted_knowledge],
        "external_knowledge": record.external_knowledge,
        "follow_up.external_knowledge": follow_up.external_knowledge if follow_up else (),
    }
    for field, ids in mentioned.items():
        missing = ", ".join(str(i) for i in sorted(set(ids) - known))
        if missing:
            yield f"{field}: no such id in the knowledge base of {record.selected_database}: {missing}"


class _Failure(NamedTuple):
    """The reason why a task fails although its own gold was submitted.

    Attributes:
        message: the reason, which may quote what the gold returned.
        reason: the reason for a list of defects, which does not quote anything.
    """

    message: str
    reason: str


class _Oracle:
    """A player that submits the gold SQL of each phase, and never asks."""

    def __init__(self, task: CInteractTask) -> None:
        follow_up = task.private.follow_up
        self._gold = {1: task.private.gold, 2: follow_up.gold if follow_up else ()}

    def move(self, view: View) -> Move:
        return Move("submit_sql", as_script(self._gold[view.phase]))


class _Checker:
    """The checks that need the databases."""

    def __init__(self, folder: Path, source: DatabaseSource) -> None:
        self._source = source
        self._grader = InteractGrader(self._source)
        self._notes = functools.cache(functools.partial(read_notes, folder))

    def doubts(self, record: TaskRecord, index: int) -> Iterator[str]:
        """Yield warnings about clean-up statements that fail even after the task's own gold.

        Nothing else reports these errors, because grading ignores them.
        """
        task = self._task(record, index)
        private = task.private
        if not private.cleanup:
            return
        with self._source.open(task.public.database, Limits()) as database:
            if isinstance(database.run((*private.preprocess, *private.gold)), QueryError):
                return  # the oracle reports this
            database.run(("ROLLBACK",))  # an error, if no transaction is open, does not matter
            for number, statement in enumerate(private.cleanup):
                done = database.run((statement,))
                if isinstance(done, QueryError):
                    yield f"clean_up_sqls[{number}] fails after the task's own gold: {done.message}"

    def _task(self, record: TaskRecord, index: int) -> CInteractTask:
        return split_record(record, index, self._notes(record.selected_database), self._source.dialect)

    def failure(self, record: TaskRecord, index: int) -> _Failure | None:
        """Let the oracle play a task. Return why it failed, or None if it passed."""
        task = self._task(record, index)
        self._source.check(task.public.database)
        rules = CInteractRules(task, self._source, self._grader)
        play(Dialogue(rules), [_Oracle(task), None])
        if not all(attempt.passed for attempt in rules.attempts):
            failed = rules.attempts[-1]
            reason = rules.private_log[-1].get("reason", "")
            message = f"the task's own gold fails in phase {failed.phase} ({failed.status}): {reason}"
            gold = "the gold" if failed.phase == 1 else "the follow-up's gold"
            return _Failure(message, f"{gold} {_FAILS.get(failed.status, 'does not run')}")
        return None
