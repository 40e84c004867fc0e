"""A BIRD task in two halves: what the system is told, and the gold SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


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

    @property
    def own_code(self) -> tuple[Sequence[str], Sequence[str]]:
        """The SQL that comes with the task, and its test cases: none."""
        return self.private.gold, ()
