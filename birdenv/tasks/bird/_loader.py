"""Reading BIRD task files: mini-dev's 2024 and 2025 editions, dev, train; JSON or JSONL.

A BIRD task in two halves: what the system is told, and the gold SQL.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.tasks.sql._dialects import in_dialect


@dataclass(frozen=True, slots=True)
class PublicBirdTask:
    """What the system may know.

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
        """`question_id`, with `#2` and so on behind a repeated one."""
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


DIFFICULTIES = ("simple", "moderate", "challenging")


def load_tasks(path: Path, dialect: str = "sqlite") -> list[BirdTask]:
    """All tasks of the file as they are on that engine, in its order.

    `evidence` may be missing (then empty), so may `difficulty` (then `unknown`), `question_id` (then the
    position) and `SQL` (then the task cannot be graded); `SQL` may be a list of accepted statements.
    Raises `InputError` for a record without question or database, or with an id that is neither a whole
    number nor text.
    """
    seen: Counter[str] = Counter()
    tasks = []
    for index, record in enumerate(read_records(path)):
        question_id = _question_id(record, index, f"{path}: record {index + 1}")
        seen[question_id] += 1
        where = f"{path}: record {index + 1} (question_id {question_id})"
        record = in_dialect(record, dialect, where)
        public = PublicBirdTask(
            index=index,
            question_id=question_id,
            occurrence=seen[question_id],
            db_id=_text(record, "db_id", where),
            question=_text(record, "question", where),
            evidence=_text(record, "evidence", where, default=""),
            difficulty=_text(record, "difficulty", where, default="unknown"),
            candidates=_texts(record, "candidates", where),
        )
        tasks.append(BirdTask(public, PrivateBirdTask(_texts(record, "SQL", where))))
    return tasks


def _question_id(record: dict[str, Any], index: int, where: str) -> str:
    value = record.get("question_id")
    if value is None:
        return str(index)
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise InputError(f"{where}: the field `question_id` must be a whole number or text")
    return str(value)


def _text(record: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = record.get(key)
    if value is None:
        value = default
    if value is None:
        raise InputError(f"{where}: the field `{key}` is missing")
    if not isinstance(value, str):
        raise InputError(f"{where}: the field `{key}` is {type(value).__name__}, expected text")
    if default is None and not value.strip():
        raise InputError(f"{where}: the field `{key}` is empty")
    return value


def _texts(record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = record.get(key)
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise InputError(f"{where}: the field `{key}` must be text or a list of texts")
    return tuple(item for item in values if item.strip())
