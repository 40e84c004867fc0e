"""What a check of benchmark data found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Problem", "Report"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one task; `instance_id` is "" for the file as a whole.

    `truth_missing` marks what `--partial` permits.
    """

    instance_id: str
    message: str
    truth_missing: bool = False

    def __str__(self) -> str:
        return f"{self.instance_id}: {self.message}" if self.instance_id else self.message


@dataclass(frozen=True, slots=True)
class Report:
    """`problems` must be mended; `warnings` should be read; `figures` are counts by name."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    figures: dict[str, int]

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def partial_would_pass(self) -> bool:
        """Whether nothing but ground truth is missing."""
        return all(problem.truth_missing for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "figures": self.figures,
            "problems": [{"instance_id": p.instance_id, "message": p.message} for p in self.problems],
            "warnings": [{"instance_id": p.instance_id, "message": p.message} for p in self.warnings],
        }

    def lines(self, most: int = 20) -> list[str]:
        """The report for people: figures, then at most `most` problems and warnings each."""
        lines = [f"{name}: {count}" for name, count in self.figures.items()]
        for title, items in (("PROBLEM", self.problems), ("warning", self.warnings)):
            said = _grouped(items)
            lines += [f"{title}  {line}" for line in said[:most]]
            if len(said) > most:
                lines.append(f"{title}  ... and {len(said) - most} more")
        return lines


def _grouped(problems: Sequence[Problem]) -> list[str]:
    """What several tasks have in common is said once."""
    by_message: dict[str, list[str]] = {}
    for problem in problems:
        by_message.setdefault(problem.message, []).append(problem.instance_id)
    lines = []
    for message, names in by_message.items():
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        lines.append(f"{shown}: {message}" if shown else message)
    return lines
