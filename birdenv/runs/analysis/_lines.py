"""Lines of `summary.txt`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

_WIDTH = 55
_COLUMNS = {"simple": 10, "moderate": 10, "challenging": 12, "total": 8}
"""The columns of the official table, and how wide ours are."""


def rule(character: str) -> str:
    return character * _WIDTH


def engine_line(engine: str) -> str:
    """`Engine                  SQLite 3.40.1`: what ran the SQL, as `config.json` has it."""
    return f"{'Engine':<24}{engine:>13}"


def rate_line(name: str, rate: Mapping[str, Any]) -> str:
    """`EX             40/52   76.9 %`; a dash where there is nothing to divide by."""
    total = rate["total"]
    percent = f"{100 * rate['passed'] / total:6.1f} %" if total else "      -"
    return f"{name:<24}{rate['passed']:>6}/{total:<6}{percent}"


def breakdown(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [rate_line(f"  {name}", rate) for name, rate in groups.items()]
    return ["", title, *lines] if lines else []


def difficulty_means(
    difficulties: Sequence[str], scores: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, float | int | None]]:
    """The figures of the official table (mini_dev `print_data`): means times 100 by difficulty and in total.

    `difficulties` and each metric's `scores` (0 to 1, by name) have an entry for every episode. Episodes of
    another difficulty count in the total only. A mean of none is None.
    """
    members = {name: [i for i, other in enumerate(difficulties) if other == name] for name in _COLUMNS}
    members["total"] = list(range(len(difficulties)))
    means: dict[str, dict[str, float | int | None]] = {
        metric: {
            name: round(100 * fsum(of[i] for i in chosen) / len(chosen), 2) if chosen else None
            for name, chosen in members.items()
        }
        for metric, of in scores.items()
    }
    return {"count": {name: len(chosen) for name, chosen in members.items()}, **means}


def difficulty_table(
    means: Mapping[str, Mapping[str, float | int | None]], titles: Mapping[str, str]
) -> list[str]:
    """The official table as lines; `means` as `difficulty_means` gives them, `titles` of its metrics."""
    lines = ["".join([" " * 15, *(f"{name:>{width}}" for name, width in _COLUMNS.items())])]
    for metric, of in means.items():
        cells = [f"{_figure(of[name]):>{width}}" for name, width in _COLUMNS.items()]
        lines.append(f"{titles.get(metric, metric):<15}" + "".join(cells))
    return lines


def _figure(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def status_notes(status: Mapping[str, int]) -> list[str]:
    """What the rates leave out, and why; `status` counts episodes."""
    notes = {
        "ungraded": "task(s) without gold were played, not graded or counted.",
        "skipped": "task(s) without gold were skipped.",
        "infra_error": "task(s) could not be played or graded (broken benchmark or database); not counted.",
        "test_error": "task(s) have test cases that do not run, or none; not counted.",
        "task_error": "episode(s) broke off with an error of the agent; counted as failed.",
        "task error": "episode(s) broke off with an error of the agent; counted as failed.",
    }
    return [f"{status[name]} {note}" for name, note in notes.items() if status.get(name)]
