"""Questions to a user, with what counts as a right answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from birdenv.errors import InputError
from birdenv.files import read_records

QuestionKind = Literal["labelled", "unlabelled", "unanswerable", "extraction"]
"""About an annotated ambiguity, about another part of the request, out of scope, or after the solution."""

DEMO_QUESTIONS = Path(__file__).parent / "demo_questions.jsonl"
"""Questions to tasks of the demo. The rule-based user was not made from them."""


def _compiles(lists: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    for patterns in lists:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return lists


_Patterns = Annotated[tuple[tuple[str, ...], ...], AfterValidator(_compiles)]


class UserQuestion(BaseModel):
    """One question to one task.

    Attributes:
        must: lists of regular expressions; an answer is right if all expressions of one list are found.
        half: the same, for an answer that is half right.
        style: how it is phrased; figures are given by style.
        hand: who wrote it; figures are given by hand.
    """

    model_config = ConfigDict(frozen=True)

    instance_id: str
    question: str
    kind: QuestionKind
    must: _Patterns = ()
    half: _Patterns = ()
    style: str = ""
    hand: str = ""

    @property
    def is_refused(self) -> bool:
        """True if the right answer is a refusal."""
        return self.kind in ("unanswerable", "extraction")


def read_questions(file: Path) -> Sequence[UserQuestion]:
    """Read a file of questions, one JSON object a line.

    Raises:
        InputError: the file cannot be read, or a line is no question.
    """
    questions = []
    for number, record in enumerate(read_records(file), 1):
        try:
            questions.append(UserQuestion.model_validate(record))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"{file}, question {number}: {place}: {first['msg']}") from error
    if not questions:
        raise InputError(f"{file} has no questions")
    return questions
