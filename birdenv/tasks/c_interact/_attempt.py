"""One submission: how it stands in the public result, and in the private log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from birdenv.grading import Grade

__all__ = ["Attempt", "AttemptName"]

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
        """With what grading found, if it came to that; some of it tells of the gold."""
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
