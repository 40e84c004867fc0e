"""Check survey questions, and parse people's answers to the questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from birdenv.dialogue.games import SurveyQuestion
from birdenv.errors import InputError

_OWN_FIELDS: Final = frozenset({"form", "item", "try", "winner", "justification"})
"""Form fields of pages that are not questions."""

_LARGEST_SCALE: Final = 100
_ABOUT: Final = ("partner", "self", "dialogue")
_MOST: Final = 5_000
_DIGITS: Final = 10


def read_answer(question: SurveyQuestion, given: str) -> int | str | None:
    """Parse an answer from a form: a point on the question's scale, or free text. Return None for no answer.

    Raises:
        InputError: a required answer is missing, or an answer is invalid.
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
    """Validate an answer in words, and return it stripped, or None if it is empty.

    Args:
        text: the question, for error messages.
        given: the answer.
        required: True to reject an empty answer.

    Raises:
        InputError: a required answer is missing, or an answer is too long.
    """
    given = given.replace("\r\n", "\n").replace("\r", "\n").strip()  # browsers send either
    if not given and required:
        raise InputError(f"please answer: {text}")
    if len(given) > _MOST:
        raise InputError(f"an answer can have at most {_MOST:,} characters: {text}")
    return given or None


def check_questions(questions: Iterable[SurveyQuestion]) -> None:
    """Check that questions can be asked together on one page.

    Raises:
        ValueError: a name occurs twice or is already a field of the page, a scale has one step or too many
            steps, or the subject of a question (`about`) is unknown.
    """
    seen: set[str] = set()
    for each in questions:
        if each.name in _OWN_FIELDS:
            raise ValueError(
                f"a question cannot have the name {each.name!r}: the page already uses that name"
            )
        if each.name in seen:
            raise ValueError(f"two questions have the name {each.name!r}")
        if each.scale != 0 and not 2 <= each.scale <= _LARGEST_SCALE:
            raise ValueError(
                f"the scale of {each.name!r} is {each.scale}: use 0 (text) or 2 to {_LARGEST_SCALE}"
            )
        if each.about not in _ABOUT:
            raise ValueError(
                f"`about` of the question {each.name!r} is {each.about!r}: use {', '.join(_ABOUT)}"
            )
        seen.add(each.name)
