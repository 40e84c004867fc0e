"""The figures of a run of c-Interact, from its records (BIRD-Interact §5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from birdenv.runs._interact_summary import Counting, interact_figures, interact_text, mean
from birdenv.runs._measures import passed
from birdenv.runs._phase_figures_text import questions_line

__all__ = ["dialogue_figures", "dialogue_text"]

_PLACES = [(phase, attempt) for phase in (1, 2) for attempt in ("first", "debug")]


def dialogue_figures(
    runs: Sequence[Mapping[str, Any]], private: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """`overall.json` of a run: `interact_figures`; and questions asked and allowed, means over the tasks."""
    return interact_figures(runs, private, Counting(_passes, _questions, tells_first=True))


def dialogue_text(overall: Mapping[str, Any], engine: str) -> str:
    """`summary.txt` of a run on an engine (`SQLite 3.40.1`)."""
    tool = "with execute_sql" if overall["execute_sql"] else "without execute_sql"
    title = f"c-Interact: profile {overall['profile']}, patience {overall['patience']}, {tool}"
    questions = questions_line(overall["questions_asked"], overall["questions_allowed"])
    return interact_text(title, engine, overall, [questions])


def _passes(run: Mapping[str, Any]) -> frozenset[tuple[int, str]]:
    return frozenset(place for place in _PLACES if passed(run, *place))


def _questions(played: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "questions_asked": mean([run["questions"] for run in played]),
        "questions_allowed": mean([run["max_questions"] for run in played]),
    }
