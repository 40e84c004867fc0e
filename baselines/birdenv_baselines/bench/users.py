"""What a question to the rule-based user costs, over questions that the process has not seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice, product
from statistics import median
from typing import NamedTuple

import birdenv
from birdenv.runs.user_evaluation import DEMO_QUESTIONS, read_questions
from birdenv.users import _conversation
from birdenv_baselines.bench._measure import Bar, Figure, Line, middle_half
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_QUESTIONS = 2_000
_OPENINGS = (
    "",
    "Sorry, ",
    "Just to be sure: ",
    "One more thing: ",
    "Hello, ",
    "Before I start: ",
    "Thanks. ",
    "Hm, ",
    "Please tell me: ",
    "To be exact, ",
    "Again: ",
    "My question: ",
    "Okay, ",
    "So: ",
    "Right, ",
    "Well: ",
)


class _Times(NamedTuple):
    """Microseconds of CPU, of each question."""

    step: list[float]
    understanding: list[float]
    rest: list[float]


def lines(setting: Setting) -> list[Line]:
    name = f"clarify step, {_QUESTIONS:,} questions, none twice, CPU"
    return [
        Line(name, "", lambda: _figure(_measured().step), Bar("at most", 300.0)),
        Line(f"{name}: understanding", "", lambda: _figure(_measured().understanding)),
        Line(f"{name}: all else", "", lambda: _figure(_measured().rest), Bar("at most", 50.0)),
    ]


def _figure(times: list[float]) -> Figure:
    low, high = middle_half(times)
    return Figure(median(times), "µs", note=f"the middle half of the questions: {low:.0f} to {high:.0f} µs")


@lru_cache(maxsize=1)
def _measured() -> _Times:
    """Ask every question in an episode of its own, after one to each task that compiles its guard."""
    known = read_questions(DEMO_QUESTIONS)
    asked = islice(product(_OPENINGS, known), _QUESTIONS)
    steps: list[int] = []
    with _timed_understanding() as understanding, birdenv.make_game("c-interact") as arena:
        for instance_id in arena.ids:
            with arena.episode(instance_id) as episode:
                episode.act("clarify", "What do you mean?")
        understanding.clear()
        for opening, question in asked:
            with arena.episode(question.instance_id) as episode:
                began = time.process_time_ns()
                episode.act("clarify", opening + question.question)
                steps.append(time.process_time_ns() - began)
        rest = [step - part for step, part in zip(steps, understanding, strict=True)]
    return _Times(*([nanoseconds / 1e3 for nanoseconds in part] for part in (steps, understanding, rest)))


@contextmanager
def _timed_understanding() -> Iterator[list[int]]:
    taken: list[int] = []
    whole: Callable[..., _conversation.Choice] = _conversation.Conversation.understand

    def timed(self: _conversation.Conversation, question: str) -> _conversation.Choice:
        began = time.process_time_ns()
        choice = whole(self, question)
        taken.append(time.process_time_ns() - began)
        return choice

    _conversation.Conversation.understand = timed  # type: ignore[method-assign]
    try:
        yield taken
    finally:
        _conversation.Conversation.understand = whole  # type: ignore[method-assign]
