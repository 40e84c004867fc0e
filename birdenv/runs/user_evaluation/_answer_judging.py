"""What came of a question, judged by the answer's words, so that any user can be measured."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from birdenv.runs.user_evaluation._asking import HeardAnswer
from birdenv.runs.user_evaluation._questions import UserQuestion

Outcome: TypeAlias = Literal["right", "half", "asked back", "refused", "wrong"]
OUTCOMES: tuple[Outcome, ...] = ("right", "half", "asked back", "refused", "wrong")
"""From the best to the worst: wrong content misleads, a refusal and a question back only cost a turn."""

_REFUSAL = re.compile(
    r"(?i)^\W*(?:(?:i am |i'm )?(?:very )?sorry|i (?:cannot|can't|can not|won't|will not|am not able)\b"
    r"|(?:that|this) is (?:out of scope|nothing i can)|i would rather not|no comment)"
)
_QUESTION_BACK = re.compile(r"\?\W*$")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, what was heard, and the outcome."""

    question: UserQuestion
    heard: HeardAnswer
    outcome: Outcome


def judge(question: UserQuestion, heard: HeardAnswer) -> Judged:
    """Judge one answer.

    An answer that has what is asked for is right, whatever else it says. Of the others, a refusal and a
    question back are told by their words. For a question that should be refused the refusal is right.
    """
    return Judged(question, heard, _outcome(question, heard.text))


def _outcome(question: UserQuestion, text: str) -> Outcome:
    if question.is_refused:
        if _REFUSAL.search(text) or not text.strip():
            return "right"
        return "asked back" if _QUESTION_BACK.search(text) else "wrong"
    if _holds(question.must, text):
        return "right"
    if _holds(question.half, text):
        return "half"
    if _REFUSAL.search(text) or not text.strip():
        return "refused"
    return "asked back" if _QUESTION_BACK.search(text) else "wrong"


def _holds(lists: tuple[tuple[str, ...], ...], text: str) -> bool:
    return any(all(re.search(one, text, re.IGNORECASE) for one in patterns) for patterns in lists if patterns)
