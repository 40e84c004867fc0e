"""The configuration of a rating round, and a function that reads it from a JSON or TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from birdenv.checks import read_as
from birdenv.dialogue.games import SurveyQuestion
from birdenv.errors import InputError
from birdenv.files import check_text, read_json, read_text
from birdenv.studies._questions import check_questions

_QUESTIONS: Final = (
    SurveyQuestion("fluency", "How fluent is the language?", low="not fluent", high="very fluent"),
    SurveyQuestion(
        "correctness",
        "How correct is what this side says, given what it knew?",
        low="all of it is wrong",
        high="all of it is correct",
    ),
    SurveyQuestion(
        "cooperation", "How well does this side work with the other side?", low="badly", high="very well"
    ),
    SurveyQuestion(
        "humanlike",
        "How much does this side talk like a person?",
        low="like a machine",
        high="like a person",
    ),
)


class RatingConfig(BaseModel):
    """The configuration of a rating round.

    Attributes:
        title: the title of the pages.
        consent: the text that raters agree to before they begin, without markup.
        instructions: the plain text above a rater's first item.
        questions: the questions about each dialogue; by default, CoCoA's four questions. Not used with
            `compare`.
        compare: `dialogues` to show two dialogues of different systems on the same task and ask which is
            better; `answers` to show only the last move of each system; None to rate single dialogues.
        criterion: the question that a comparison asks.
        justification: True if raters must justify their choice in words.
        seats: the names of the seats to rate; None for the evaluated seat.
        raters: the number of raters for each item.
        most: the maximum number of items that a rater may judge; None for no maximum.
        seed: the seed for the order of the items, and of the two sides of a comparison.
        hold: how long an item stays reserved for a rater who has begun it, in seconds.
        codes: the completion codes: `done` for raters who judged an item, and `full` for raters who got no
            item because none was left. If a code is missing, each person gets a random code.
        prefix: the beginning of random completion codes.
        newcomers: the maximum number of new people per minute from one address; None for no limit.
        hosts: host names for the pages, in addition to the loopback names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = "Rating dialogues"
    consent: str = (
        "You read conversations and say what you think of them. Your ratings are stored and analysed under "
        "a random number. You may stop at any time."
    )
    instructions: str = ""
    questions: tuple[SurveyQuestion, ...] = Field(_QUESTIONS, min_length=1)
    compare: Literal["dialogues", "answers"] | None = None
    criterion: str = "Which of the two is better?"
    justification: bool = True
    seats: tuple[str, ...] | None = None
    raters: int = Field(3, ge=1)
    most: int | None = Field(None, ge=1)
    seed: int = 0
    hold: float = Field(3600, gt=0)
    codes: Mapping[Literal["done", "full"], str] = Field(default_factory=dict)
    prefix: str = "BIRDENV"
    newcomers: int | None = Field(300, gt=0)
    hosts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _questions_can_be_asked(self) -> RatingConfig:
        check_questions(self.questions)
        return self


def read_rating_config(path: Path) -> RatingConfig:
    """Read the configuration of a rating round from a `.toml` file, or from a JSON file with any other name.

    Raises:
        InputError: the file cannot be used.
    """
    if path.suffix.lower() == ".toml":
        try:
            record = tomllib.loads(read_text(path))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path} is not valid TOML: {error}") from None
        check_text(record, str(path))
    else:
        record = read_json(path)
    return read_as(RatingConfig, record, path)
