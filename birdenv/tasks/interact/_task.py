"""A c-Interact task in two halves that never meet outside the rules.

One submission: how it stands in the public result, and in the private log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from birdenv.grading.compare import Conditions
from birdenv.grading.interact import Category, Grade
from birdenv.tasks.interact._knowledge import DatabaseNotes, user_notes
from birdenv.tasks.interact._record import AmbiguityRecord, ConditionsRecord, TaskRecord
from birdenv.users import Ambiguity, AmbiguityKind, Brief

AttemptName: TypeAlias = Literal["first", "debug"] | int
"""Which of the two attempts that a phase has; or where it has any number, which of them, from 1."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One graded (or empty) submission. `reward` is what it earned."""

    phase: int
    attempt: AttemptName
    sql: str
    status: str
    passed: bool
    reward: float

    def public(self) -> dict[str, Any]:
        return {
            "phase": self.phase,
            "attempt": self.attempt,
            "status": self.status,
            "reward": self.reward,
        }

    def private(self, grade: Grade | None) -> dict[str, Any]:
        """Return the attempt with the findings of its grading, some of which reveal the gold."""
        entry: dict[str, Any] = {
            "kind": "submission",
            "phase": self.phase,
            "attempt": self.attempt,
            "status": self.status,
        }
        if grade is not None:
            entry |= {"reason": grade.reason, "flags": list(grade.flags)}
            entry |= {"rows_gold": grade.rows_gold, "rows_pred": grade.rows_pred}
        return entry


@dataclass(frozen=True, slots=True)
class PublicTask:
    """The half of a task that the system may know: the ambiguous question, and the number of questions.

    `counted_ambiguities` is the number that the turn budget is made of (critical plus knowledge); the system
    learns it from `turns_left` in any case.
    """

    index: int
    instance_id: str
    database: str
    question: str
    counted_ambiguities: int
    high_level: bool | None
    difficulty: str
    candidates: tuple[str, ...]
    """In the order of the task file; who makes one shuffles them (`benchmarks.generator._task_records`)."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The second sub-task, revealed only when the first is passed.

    `category` may be inferred; `stated_category` is what the record says, if it says anything.
    """

    query: str
    gold: tuple[str, ...]
    test_cases: tuple[str, ...]
    category: Category
    conditions: Conditions | None
    type: str
    candidates: tuple[str, ...]
    stated_category: Category | None = None
    by_state: bool = False


@dataclass(frozen=True, slots=True)
class PrivateTask:
    """The half of a task that the system must not see: clear question, ambiguities, gold, follow-up.

    `notes` is here because it still holds the knowledge that the task deletes; the rules show the rest.
    """

    category: Category
    brief: Brief
    gold: tuple[str, ...]
    test_cases: tuple[str, ...]
    conditions: Conditions
    preprocess: tuple[str, ...]
    cleanup: tuple[str, ...]
    deleted_knowledge: frozenset[int]
    notes: DatabaseNotes
    follow_up: FollowUp | None
    by_state: bool = False


class CInteractTask(NamedTuple):
    public: PublicTask
    private: PrivateTask

    @property
    def has_gold(self) -> bool:
        return bool(self.private.gold)

    @property
    def own_code(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the SQL that comes with the task, and its test cases, of both phases."""
        private, follow_up = self.private, self.private.follow_up
        gold, tests = (follow_up.gold, follow_up.test_cases) if follow_up else ((), ())
        sqls = (*private.preprocess, *private.gold, *gold, *private.cleanup)
        return sqls, (*private.test_cases, *tests)


def split_record(record: TaskRecord, index: int, notes: DatabaseNotes, dialect: str) -> CInteractTask:
    """Split a record into its public and its private half."""
    ambiguities = _ambiguities(record)
    counted = sum(ambiguity.kind != "non_critical" for ambiguity in ambiguities)
    public = PublicTask(
        index=index,
        instance_id=record.instance_id,
        database=record.selected_database,
        question=record.amb_user_query,
        counted_ambiguities=counted,
        high_level=record.high_level,
        difficulty=record.difficulty_tier or "unknown",
        candidates=record.candidates,
    )
    conditions = _conditions(record.conditions) or Conditions()
    private = PrivateTask(
        category=record.category,
        brief=Brief(
            clear_query=record.query,
            ambiguities=ambiguities,
            gold=record.sol_sql,
            identifiers=notes.identifiers,
            dialect=dialect,
            notes=user_notes(notes),
            request=record.amb_user_query,
            annotated=record.annotated,
        ),
        gold=record.sol_sql,
        test_cases=record.test_cases,
        conditions=conditions,
        preprocess=record.preprocess_sql,
        cleanup=record.clean_up_sqls,
        deleted_knowledge=frozenset(
            knowledge_id for ambiguity in ambiguities for knowledge_id in ambiguity.deleted_knowledge
        ),
        notes=notes,
        follow_up=_follow_up(record),
        by_state=record.grading == "state",
    )
    return CInteractTask(public, private)


def _ambiguities(record: TaskRecord) -> tuple[Ambiguity, ...]:
    annotated = record.user_query_ambiguity
    by_kind: dict[AmbiguityKind, tuple[AmbiguityRecord, ...]] = {
        "critical": annotated.critical_ambiguity,
        "non_critical": annotated.non_critical_ambiguity,
        "knowledge": record.knowledge_ambiguity,
    }
    return tuple(
        Ambiguity(item.term, item.sql_snippet, kind, item.type, item.deleted_knowledge)
        for kind, items in by_kind.items()
        for item in items
    )


def _conditions(record: ConditionsRecord | None) -> Conditions | None:
    if record is None:
        return None
    return Conditions(decimal=record.decimal, distinct=record.distinct, order=record.order)


def _follow_up(parent: TaskRecord) -> FollowUp | None:
    record = parent.follow_up
    if record is None or not record.query:
        return None
    return FollowUp(
        query=record.query,
        gold=record.sol_sql,
        test_cases=record.test_cases,
        category=record.category_below(parent.category),
        conditions=_conditions(record.conditions),
        type=record.type,
        candidates=record.candidates,
        stated_category=record.category,
        by_state=(record.grading or parent.grading) == "state",
    )


def task_fields(task: CInteractTask) -> dict[str, Any]:
    """Return the fields of the task in the public record of a run."""
    return {
        "database": task.public.database,
        "category": task.private.category,
        "difficulty": task.public.difficulty,
        "high_level": task.public.high_level,
        "follow_up": _follow_up_kind(task),
    }


def private_task_fields(task: CInteractTask, *, played: bool = True) -> dict[str, Any]:
    """Return the fields of the task in the private record; with the gold if the episode was played."""
    private, follow_up = task.private, task.private.follow_up
    gold = {
        "gold_sql": list(private.gold),
        "follow_up_gold_sql": list(follow_up.gold) if follow_up else [],
        "clear_query": private.brief.clear_query,
    }
    ambiguities = private.brief.ambiguities
    types = {ambiguity.type for ambiguity in ambiguities if ambiguity.type}
    return {
        **(gold if played else {}),
        "ambiguity_types": sorted(types),
        "ambiguities": len(ambiguities),
    }


def _follow_up_kind(task: CInteractTask) -> Literal["none", "graded", "ungraded"]:
    """Return `none`, `graded`, or `ungraded` where its gold is withheld, so that it is never asked."""
    if task.private.follow_up is None:
        return "none"
    return "graded" if task.private.follow_up.gold else "ungraded"
