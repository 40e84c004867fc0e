"""What is known of a user from `birdenv users eval`, for the summaries of runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from birdenv.runs.user_evaluation._answer_judging import Judged

_FILE = Path(__file__).parent / "known_figures.json"
_SAME = {"rule:cooperative": "rule"}


def class_figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the number of questions of each class, and of those answered right and with wrong content."""
    counts: dict[str, Counter[str]] = {}
    for one in judged:
        name = "refusals" if one.question.is_refused else one.question.kind
        counts.setdefault(name, Counter()).update(["questions", one.outcome])
    return {
        name: {key: found[key] for key in ("questions", "right", "half", "wrong")}
        for name, found in sorted(counts.items())
    }


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def user_line(user: str) -> str:
    """Say in a line who the user of a run was, and how well it answers.

    Args:
        user: the user's spec, such as `rule` or `llm:MODEL`.
    """
    figures = _known()["users"].get(_SAME.get(user, user))
    if figures is None:
        return f"User {user}: not measured; birdenv users eval --user {user}"
    shares = ", ".join(
        f"{name} {_percent(of, 'right')} right, {_percent(of, 'wrong')} wrong" for name, of in figures.items()
    )
    return f"User {user}, on {_known()['questions']}: {shares}"


def _percent(of: Mapping[str, int], outcome: str) -> str:
    return f"{100 * of[outcome] / of['questions']:.0f} %"
