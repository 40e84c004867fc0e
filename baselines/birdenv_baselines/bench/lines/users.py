"""Measure how long the rule-based user takes to answer a question that it has not been asked before."""

from __future__ import annotations

import time
from itertools import islice, product
from typing import Final

import birdenv
from birdenv.runs.user_evaluation import DEMO_QUESTIONS, read_questions
from birdenv_baselines.bench._measure import Bar, Figure, Line, Setting, spread

__all__ = ["lines"]

_OPENINGS: Final = (
    "",
    "Sorry, ",
    "Just to be sure: ",
    "One more thing: ",
    "Hello, ",
    "Thanks. ",
    "Hm, ",
    "Okay, ",
)
_QUESTIONS: Final = 1_000


def lines(quick: bool) -> list[Line]:
    """Return the line about the rule-based user; `quick` asks only a few questions."""
    return [Line("a question to the rule user, none twice, CPU", "", _questions, Bar("at most", 300.0))]


def _questions(setting: Setting) -> Figure:
    """Ask each question in an episode of its own, after a warm-up question to every task."""
    number = 50 if setting.quick else _QUESTIONS
    asked = list(islice(product(_OPENINGS, read_questions(DEMO_QUESTIONS)), number))
    times = []
    with birdenv.make_game("c-interact") as arena:
        for instance_id in arena.ids:
            with arena.episode(instance_id) as episode:
                episode.act("clarify", "What do you mean?")
        for opening, question in asked:
            with arena.episode(question.instance_id) as episode:
                began = time.process_time()
                episode.act("clarify", opening + question.question)
                times.append(time.process_time() - began)
    return spread([seconds * 1e6 for seconds in times], "µs", note=f"{len(times):,} questions")
