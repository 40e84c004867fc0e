"""Checking a c-Interact task file against its folder, and that its gold passes its own grading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from birdenv.benchmarks._report import Problem, Report
from birdenv.databases import SqliteSource
from birdenv.dialogue import Move, play
from birdenv.errors import BirdenvError
from birdenv.grading import ConversationalGrader, parse_test_cases
from birdenv.tasks import SystemView
from birdenv.tasks.c_interact import (
    CInteractController,
    CInteractTask,
    DatabaseNotes,
    TaskRecord,
    parse_record,
    read_notes,
    split_record,
)

__all__ = ["verify_records"]

Progress = Callable[[str], object]


def verify_records(
    raw_records: Sequence[Mapping[str, Any]],
    folder: Path,
    *,
    partial: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check every record, then let an oracle play each task that has gold.

    `folder` holds the databases and their notes. With `partial`, tasks without gold are counted and left
    out. `progress` is called with each task's id as it is done.
    """
    problems: list[Problem] = []
    warnings: list[Problem] = []
    source = SqliteSource(folder)
    grader = ConversationalGrader(source)
    figures = {"tasks": len(raw_records), "with gold": 0, "without gold": 0, "oracle passed": 0}
    seen: set[str] = set()
    for index, raw in enumerate(raw_records):
        name = str(raw.get("instance_id", f"record {index + 1}"))
        found: list[str] = [f"{name} occurs twice"] if name in seen else []
        seen.add(name)
        try:
            record = parse_record(raw, name)
            notes = read_notes(folder, record.selected_database)
            found += _structural(record, notes, partial)
            warnings += [Problem(name, text) for text in _doubts(record)]
            figures["with gold" if record.sol_sql else "without gold"] += 1
            if record.sol_sql and not found:
                task = split_record(record, index, notes, source.dialect)
                failure = _oracle_failure(task, source, grader)
                figures["oracle passed"] += failure is None
                found += [] if failure is None else [failure]
        except BirdenvError as error:
            found.append(str(error).removeprefix(f"{name}: "))
        problems += [Problem(name, text) for text in found]
        if progress is not None:
            progress(name)
    return Report(tuple(problems), tuple(warnings), figures)


def _structural(record: TaskRecord, notes: DatabaseNotes, partial: bool) -> Iterator[str]:
    known = {entry.id for entry in notes.knowledge}
    deleted = {i for item in record.knowledge_ambiguity for i in item.deleted_knowledge}
    for field, ids in (
        ("deleted_knowledge", deleted),
        ("external_knowledge", set(record.external_knowledge)),
    ):
        if ids - known:
            missing = ", ".join(str(i) for i in sorted(ids - known))
            yield f"{field}: no such id in the knowledge base of {record.selected_database}: {missing}"
    if not record.sol_sql:
        if not partial:
            yield "sol_sql is empty: the ground truth is missing (see `birdenv data merge`)"
        return
    yield from _solution(record.category, record.test_cases, "")
    follow_up = record.follow_up
    if follow_up is None:
        return
    if not follow_up.query.strip():
        yield "follow_up has no query"
    if not follow_up.sol_sql:
        yield "follow_up.sol_sql is empty: the ground truth is missing"
    if set(follow_up.external_knowledge) - known:
        missing = ", ".join(str(i) for i in sorted(set(follow_up.external_knowledge) - known))
        yield f"follow_up.external_knowledge: no such id in the knowledge base: {missing}"
    yield from _solution(follow_up.category or "", follow_up.test_cases, "follow_up.")


def _solution(category: str, test_cases: Sequence[str], prefix: str) -> Iterator[str]:
    if category == "Management" and not test_cases:
        yield f"{prefix}test_cases is empty: a Management task needs at least one"
    for problem in parse_test_cases(test_cases):
        yield f"{prefix}test_cases: {problem}"


def _doubts(record: TaskRecord) -> Iterator[str]:
    by_id = "Management" if "_M_" in record.instance_id else "Query"
    if by_id != record.category:
        yield f"its id says {by_id}, its category {record.category}"
    if record.follow_up is not None and record.follow_up.category is None:
        yield "follow_up.category is missing and is inferred"


class _Oracle:
    """Submits the gold of each phase, and never asks."""

    def __init__(self, task: CInteractTask) -> None:
        follow_up = task.private.follow_up
        self._gold = {1: task.private.gold, 2: follow_up.gold if follow_up else ()}

    def move(self, view: SystemView) -> Move:
        return Move("submit_sql", ";\n".join(sql.strip().rstrip(";") for sql in self._gold[view.phase]))


def _oracle_failure(task: CInteractTask, source: SqliteSource, grader: ConversationalGrader) -> str | None:
    source.check(task.public.database)
    controller = CInteractController(task, source, grader)
    play(controller, [_Oracle(task)])
    if all(attempt.passed for attempt in controller.attempts):
        return None
    failed = controller.attempts[-1]
    reason = controller.private_log[-1].get("reason", "")
    return f"its own gold fails in phase {failed.phase} ({failed.status}): {reason}"
