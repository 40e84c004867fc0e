"""Answers to questions, as forms bring them."""

from __future__ import annotations

from typing import Final

from birdenv.dialogue.games import SurveyQuestion
from birdenv.errors import InputError

_MOST: Final = 5_000
_DIGITS: Final = 10


def read_answer(question: SurveyQuestion, given: str) -> int | str | None:
    """Return an answer: a step of the scale, words, or None where it was left out.

    Raises:
        InputError: it is needed and missing, or not possible.
    """
    if not question.scale:
        return read_words(question.text, given, question.required)
    given = given.strip()
    if not given and not question.required:
        return None
    if not given:
        raise InputError(f"please answer: {question.text}")
    step = int(given) if given.isascii() and given.isdigit() and len(given) < _DIGITS else 0
    if not 1 <= step <= question.scale:
        raise InputError(f"please answer from 1 to {question.scale}: {question.text}")
    return step


def read_words(text: str, given: str, required: bool) -> str | None:
    """Return an answer in words; None where it was left out.

    Raises:
        InputError: it is needed and missing, or too long.
    """
    given = given.replace("\r\n", "\n").replace("\r", "\n").strip()  # forms send both
    if not given and required:
        raise InputError(f"please answer: {text}")
    if len(given) > _MOST:
        raise InputError(f"an answer has {_MOST} characters at most: {text}")
    return given or None
