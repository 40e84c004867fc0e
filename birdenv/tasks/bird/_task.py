"""BIRD tasks, and a reader for the task files of mini-dev (2024 and 2025), dev and train."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.tasks.sql._records import Filled, in_dialect, parsed


@dataclass(frozen=True, slots=True)
class PublicBirdTask:
    """The part of a BIRD task that the evaluated system may know.

    Attributes:
        index: the task's position in the task file, from 0.
        question_id: the task's id in the file; if the file contains no id, the position as text.
        occurrence: 1 for the first record with this `question_id`, 2 for the second, and so on. The 2024
            edition of mini-dev contains the ids 137 and 138 twice.
        db_id: the name of the database.
        question: the question in natural language.
        evidence: a hint that helps to understand the question; can be empty.
        difficulty: `simple`, `moderate` or `challenging` in the published files.
        candidates: SQL statements that agents can choose from; empty in the published files.
    """

    index: int
    question_id: str
    occurrence: int
    db_id: str
    question: str
    evidence: str
    difficulty: str
    candidates: tuple[str, ...] = ()

    @property
    def instance_id(self) -> str:
        """Return the unique id of the task: `question_id`, or `question_id#2` at its second occurrence."""
        return self.question_id if self.occurrence == 1 else f"{self.question_id}#{self.occurrence}"

    @property
    def database(self) -> str:
        return self.db_id


@dataclass(frozen=True, slots=True)
class PrivateBirdTask:
    """The part of a BIRD task that the evaluated system must not know.

    Attributes:
        gold: the gold SQL statements. A submission is correct if its result matches the result of at least
            one of these statements. Empty if the task cannot be graded.
    """

    gold: tuple[str, ...]


class BirdTask(NamedTuple):
    """A BIRD task, divided into a public part and a private part."""

    public: PublicBirdTask
    private: PrivateBirdTask

    @property
    def has_gold(self) -> bool:
        return bool(self.private.gold)

    @property
    def own_code(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the task's gold SQL, and an empty sequence in place of test cases."""
        return self.private.gold, ()


class BirdRecord(BaseModel):
    """A record in a BIRD task file.

    Attributes:
        question_id: the id of the task; if it is None, the position in the file becomes the id.
        db_id: the name of the database.
        question: the question in natural language.
        evidence: a hint that helps to understand the question; can be empty.
        difficulty: `simple`, `moderate` or `challenging` in the published files.
        SQL: the gold statement, or several accepted statements. A task without gold cannot be graded.
        candidates: SQL statements that agents can choose from; an addition of birdenv to the format.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    question_id: str | int | None = None
    db_id: Filled
    question: Filled
    evidence: str = ""
    difficulty: str = "unknown"
    SQL: str | tuple[str, ...] = ()
    candidates: str | tuple[str, ...] = ()

    @field_validator("evidence", "difficulty", "SQL", "candidates", mode="wrap")
    @classmethod
    def _null_is_missing(cls, value: Any, check: Any, info: ValidationInfo) -> Any:
        if value is None:
            return cls.model_fields[str(info.field_name)].default
        return check(value)

    @field_validator("question_id", mode="before")
    @classmethod
    def _is_id(cls, value: Any) -> Any:
        is_id = isinstance(value, int | str) and not isinstance(value, bool) and str(value).strip()
        if value is not None and not is_id:
            raise ValueError("must be a whole number or text")
        return value

    @field_validator("SQL", "candidates", mode="before")
    @classmethod
    def _are_texts(cls, value: Any) -> Any:
        values = [value] if isinstance(value, str) else value or []
        if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in values):
            raise ValueError("must be a string or a list of strings")
        return tuple(item for item in values if item.strip())


DIFFICULTIES = ("simple", "moderate", "challenging")


def load_tasks(path: Path, dialect: str = "sqlite") -> list[BirdTask]:
    """Return the tasks in a file, in file order. `BirdRecord` describes the fields of a record.

    Args:
        path: the task file (JSON or JSONL).
        dialect: the dialect to read from records that have SQL for several dialects.

    Raises:
        InputError: the file cannot be read, a field of a record is missing or has an invalid value, or two
            tasks have the same `instance_id`.
    """
    seen: Counter[str] = Counter()
    places: dict[str, int] = {}
    tasks = []
    for index, raw in enumerate(read_records(path)):
        named = raw.get("question_id")
        shown = f" (question_id {named})" if isinstance(named, int | str) and str(named).strip() else ""
        where = f"{path}: record {index + 1}{'' if isinstance(named, bool) else shown}"
        record = parsed(BirdRecord, in_dialect(raw, dialect, where), where)
        question_id = str(index if record.question_id is None else record.question_id)
        seen[question_id] += 1
        public = PublicBirdTask(
            index=index,
            question_id=question_id,
            occurrence=seen[question_id],
            db_id=record.db_id,
            question=record.question,
            evidence=record.evidence,
            difficulty=record.difficulty,
            candidates=tuple(record.candidates),
        )
        first = places.setdefault(public.instance_id, index)
        if first != index:
            raise InputError(
                f"{where}: record {first + 1} has the same id {public.instance_id!r}; change one"
            )
        tasks.append(BirdTask(public, PrivateBirdTask(tuple(record.SQL))))
    return tasks
