"""What a check of benchmark data found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Problem", "Report"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one task; `instance_id` is "" for the file as a whole."""

    instance_id: str
    message: str

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
            lines += [f"{title}  {item}" for item in items[:most]]
            if len(items) > most:
                lines.append(f"{title}  ... and {len(items) - most} more")
        return lines
