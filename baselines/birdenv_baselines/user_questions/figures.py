"""Measure how the rule-based users answer the demo questions, for run summaries."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import birdenv
from birdenv.runs import user_evaluation
from birdenv.runs.user_evaluation import DEMO_QUESTIONS, ask, class_figures, judge, read_questions
from birdenv.users import TEMPERAMENTS

FILE = Path(user_evaluation.__file__).parent / "known_figures.json"


def figures() -> dict[str, Any]:
    """Return the contents for `birdenv/runs/user_evaluation/known_figures.json`."""
    questions = read_questions(DEMO_QUESTIONS)
    users = {}
    for name in TEMPERAMENTS:
        user = "rule" if name == "cooperative" else f"rule:{name}"
        with birdenv.make_game("c-interact", user=user) as arena:
            users[user] = class_figures([judge(q, ask(arena, q.instance_id, q.question)) for q in questions])
    return {"questions": f"{len(questions)} questions to the demo", "users": users}


if __name__ == "__main__":
    text = json.dumps(figures(), indent=1) + "\n"
    if "--write" in sys.argv[1:]:
        FILE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
