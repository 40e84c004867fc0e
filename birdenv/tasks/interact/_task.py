"""The tasks of c-Interact and a-Interact, split into public and private parts, and attempts to solve them."""

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
"""The name of an attempt in a phase: `first` or `debug` in c-Interact, a number from 1 in a-Interact."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The system's submission in one attempt, or a refused action that counted as an empty submission.

    Attributes:
        phase: 1 for the first request, 2 for the follow-up.
        attempt: the name or number of the attempt in the phase.
        sql: the submitted SQL; empty for a refused action.
        status: the verdict, such as `passed`.
        passed: True if the submission passed.
        reward: the reward that the submission earned.
    """

    phase: int
    attempt: AttemptName
    sql: str
    status: str
    passed: bool
    reward: float

    def public(self) -> dict[str, Any]:
        """Return the fields of the attempt that the public record contains."""
        return {
            "phase": self.phase,
            "attempt": self.attempt,
            "status": self.status,
            "reward": self.reward,
        }

    def private(self, grade: Grade | None) -> dict[str, Any]:
        """Return the entry for the private log, with grading details that may reveal the gold SQL."""
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
    """The part of a task that the evaluated system may know.

    Attributes:
        index: the task's position in the task file, from 0.
        instance_id: the id of the task.
        database: the name of the database.
        question: the ambiguous request.
        counted_ambiguities: the number of critical and knowledge ambiguities, which determines the budget.
            This number is public because `turns_left` reveals it.
        high_level: True if the request is phrased in general terms; None if the file does not specify it.
        difficulty: the difficulty in the file, or `unknown`.
        candidates: SQL statements that agents can choose from, in file order. Because they are not shuffled,
            the position of the correct statement in the file must vary.
    """

    index: int
    instance_id: str
    database: str
    question: str
    counted_ambiguities: int
    high_level: bool | None
    difficulty: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The second request in a task, which the system sees only after passing phase 1.

    Attributes:
        query: the request, which is not ambiguous.
        gold: the gold SQL statements; empty if the follow-up cannot be graded.
        test_cases: the test cases, as Python code.
        category: the category; inferred if the record does not state a category.
        conditions: how results are compared; None if the record does not specify them.
        type: the type of the follow-up in the file.
        candidates: SQL statements that agents can choose from.
        stated_category: the category that the record states; None if the record does not state one.
        by_state: True if grading compares the database states after the statements.
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
    """The part of a task that the evaluated system must not see.

    Attributes:
        category: `Query` if the gold SQL reads data, `Management` if it changes the database.
        brief: what the user knows: the clear request and the ambiguities.
        gold: the gold SQL statements; empty if the task cannot be graded.
        test_cases: the test cases, as Python code.
        conditions: how results are compared.
        preprocess: the statements that prepare the database before the gold SQL or a submission runs.
        cleanup: the statements that clean up the database after the gold SQL or a submission has run.
        deleted_knowledge: the ids of the knowledge entries that are hidden from the system.
        notes: the notes about the database. They are private because they include the hidden entries.
        follow_up: the second request; None if the task has only one.
        by_state: True if grading compares the database states after the statements.
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
    """A c-Interact or a-Interact task, divided into a public part and a private part."""

    public: PublicTask
    private: PrivateTask

    @property
    def has_gold(self) -> bool:
        return bool(self.private.gold)

    @property
    def own_code(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return all SQL statements and all test cases of the task, for both phases."""
        private, follow_up = self.private, self.private.follow_up
        gold, tests = (follow_up.gold, follow_up.test_cases) if follow_up else ((), ())
        sqls = (*private.preprocess, *private.gold, *gold, *private.cleanup)
        return sqls, (*private.test_cases, *tests)


def split_record(record: TaskRecord, index: int, notes: DatabaseNotes, dialect: str) -> CInteractTask:
    """Return the task that a record describes, divided into a public part and a private part.

    Args:
        record: the record from the task file.
        index: the index of the record in its file, from 0.
        notes: the notes about the task's database.
        dialect: the SQL dialect of the database.
    """
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
    """Return the fields that describe a task in the public record of an episode."""
    return {
        "database": task.public.database,
        "category": task.private.category,
        "difficulty": task.public.difficulty,
        "high_level": task.public.high_level,
        "follow_up": _follow_up_kind(task),
    }


def private_task_fields(task: CInteractTask, *, played: bool = True) -> dict[str, Any]:
    """Return the fields that describe a task in the private record of an episode.

    The fields include the gold SQL and the clear query if the episode was played (`played`).
    """
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
    """Return `none`, `graded`, or `ungraded` for a follow-up without gold SQL, which is never shown."""
    if task.private.follow_up is None:
        return "none"
    return "graded" if task.private.follow_up.gold else "ungraded"
