"""Lines of `summary.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["breakdown", "rate_line", "rule", "status_notes"]

_WIDTH = 55


def rule(character: str) -> str:
    return character * _WIDTH


def rate_line(name: str, rate: Mapping[str, Any]) -> str:
    """`EX             40/52   76.9 %`; a dash where there is nothing to divide by."""
    total = rate["total"]
    percent = f"{100 * rate['passed'] / total:6.1f} %" if total else "      -"
    return f"{name:<24}{rate['passed']:>6}/{total:<6}{percent}"


def breakdown(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [rate_line(f"  {name}", rate) for name, rate in groups.items()]
    return ["", title, *lines] if lines else []


def status_notes(status: Mapping[str, int]) -> list[str]:
    """What the rates leave out, and why; `status` counts episodes."""
    notes = {
        "ungraded": "task(s) without gold were played, not graded or counted.",
        "skipped": "task(s) without gold were skipped.",
        "infra_error": "task(s) could not be played or graded (broken benchmark or database); not counted.",
        "test_error": "task(s) have test cases that do not run; not counted.",
        "task_error": "episode(s) broke off with an error of the agent; counted as failed.",
        "task error": "episode(s) broke off with an error of the agent; counted as failed.",
    }
    return [f"{status[name]} {note}" for name, note in notes.items() if status.get(name)]
