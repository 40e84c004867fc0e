"""The figures of a run of a-Interact, from its records (BIRD-Interact §5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from birdenv.runs._interact_summary import Counting, interact_figures, interact_text, mean
from birdenv.runs._measures import passed
from birdenv.tasks import TOOLS

__all__ = ["tool_figures", "tool_text"]


def tool_figures(runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`overall.json` of a run: `interact_figures`; and submissions, budget and calls of each tool as means
    over the tasks that were played."""
    return interact_figures(runs, private, Counting(_passes, _spending, tells_first=False))


def tool_text(overall: Mapping[str, Any], engine: str) -> str:
    """`summary.txt` of a run on an engine (`SQLite 3.40.1`)."""
    total = overall["budget"]
    of_total = "" if total is None else f"  of {total:.2f}"
    lines = [
        f"{'Submissions per task':<24}{_mean(overall['submissions'], 13)}",
        f"{'Budget used per task':<24}{_mean(overall['budget_used'], 13)}{of_total}",
        "",
        "Calls per task",
        *(f"  {kind:<33}{_mean(overall['calls'][kind], 6)}" for kind in TOOLS),
        f"  {'malformed':<33}{_mean(overall['malformed'], 6)}",
        "",
    ]
    title = f"a-Interact: profile {overall['profile']}, patience {overall['patience']}"
    return interact_text(title, engine, overall, lines)


def _passes(run: Mapping[str, Any]) -> frozenset[tuple[int, str]]:
    """A pass counts as one at the first try, whenever it came: later submissions earn no less."""
    return frozenset((phase, "first") for phase in (1, 2) if passed(run, phase))


def _spending(played: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "submissions": mean([len(run["attempts"]) for run in played]),
        "budget": mean([run["budget"] for run in played]),
        "budget_used": mean([run["budget_used"] for run in played]),
        "calls": {kind: mean([run["calls"].get(kind, 0) for run in played]) for kind in TOOLS},
        "malformed": mean([run["malformed"] for run in played]),
    }


def _mean(value: float | None, width: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.2f}"
