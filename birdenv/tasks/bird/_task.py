"""A BIRD task in two halves, what the system is told and the gold SQL; and reading BIRD's task files.

Mini-dev's 2024 and 2025 editions, dev, train; JSON or JSONL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from birdenv.files import read_records
from birdenv.tasks.sql._records import Filled, in_dialect, parsed


@dataclass(frozen=True, slots=True)
class PublicBirdTask:
    """The half of a task that the system may know.

    `index` is the position in the task file. `occurrence` counts records with the same `question_id` from 1
    (the 2024 edition of mini-dev has 137 and 138 twice).
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
        """Return `question_id`, with `#2` and so on behind a repeated one."""
        return self.question_id if self.occurrence == 1 else f"{self.question_id}#{self.occurrence}"

    @property
    def database(self) -> str:
        return self.db_id


@dataclass(frozen=True, slots=True)
class PrivateBirdTask:
    """The accepted gold statements (any of them counts); empty where the file has none."""

    gold: tuple[str, ...]


class BirdTask(NamedTuple):
    public: PublicBirdTask
    private: PrivateBirdTask

    @property
    def has_gold(self) -> bool:
        return bool(self.private.gold)

    @property
    def own_code(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the SQL that comes with the task, and its test cases: none."""
        return self.private.gold, ()


class BirdRecord(BaseModel):
    """One question of a BIRD file, as written there.

    Attributes:
        question_id: the id; without it, the position in the file.
        db_id: the database.
        question: the question.
        evidence: a hint.
        SQL: the reference statement, or several that are accepted; without it the task is not graded.
        difficulty: `simple`, `moderate` or `challenging` in the published files.
        candidates: public statements to choose from (birdenv's own).
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
            raise ValueError("must be text or a list of texts")
        return tuple(item for item in values if item.strip())


DIFFICULTIES = ("simple", "moderate", "challenging")


def load_tasks(path: Path, dialect: str = "sqlite") -> list[BirdTask]:
    """Return all tasks of the file in their form for an engine, in the file's order.

    `evidence` may be missing (then empty), so may `difficulty` (then `unknown`), `question_id` (then the
    position) and `SQL` (then the task cannot be graded); `SQL` may be a list of accepted statements.
    Raises `InputError` for a record without question or database, or with an id that is neither a whole
    number nor text.
    """
    seen: Counter[str] = Counter()
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
        tasks.append(BirdTask(public, PrivateBirdTask(tuple(record.SQL))))
    return tasks
