"""The configuration of a study: page text, partners, limits, quotas, and completion codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from birdenv.dialogue import Game
from birdenv.dialogue.games import SurveyQuestion
from birdenv.studies._questions import check_questions

HUMAN: Final = "human"
"""The name of the partner that is another person."""

Ending: TypeAlias = Literal[
    "done", "partner_left", "nobody_came", "left", "failed_check", "too_short", "full"
]
"""The reasons why a person's participation in a study ends."""

PAID: Final[tuple[Ending, ...]] = ("done", "partner_left", "nobody_came", "full")
"""The endings for which a person gets a completion code."""


SURVEY: Final = (
    SurveyQuestion("fluent", "How fluent was your partner's language?", low="not fluent", high="very fluent"),
    SurveyQuestion(
        "correct",
        "How correct was what your partner said and did?",
        low="all of it was wrong",
        high="all of it was correct",
    ),
    SurveyQuestion(
        "humanlike",
        "How much did your partner talk like a person?",
        low="like a machine",
        high="like a person",
    ),
    SurveyQuestion("cooperative", "How well did your partner work with you?", low="badly", high="very well"),
    SurveyQuestion("comments", "Is there anything that you would like to tell us?", "dialogue", 0, False),
)
"""The questions after a dialogue if neither the study nor its game has its own."""


def default_survey(game: Game) -> tuple[SurveyQuestion, ...]:
    """Return a game's survey, or the standard questions if the game has no survey.

    If the game has only one seat, standard questions about a partner are left out.
    """
    ours = SURVEY if len(game.seats) > 1 else tuple(each for each in SURVEY if each.about != "partner")
    return game.survey or ours


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Check(_Part):
    """A question in the comprehension check; `answer` is the zero-based index of the correct option."""

    question: str
    options: tuple[str, ...] = Field(min_length=2)
    answer: int = Field(ge=0)

    @model_validator(mode="after")
    def _has_answer(self) -> Check:
        if self.answer >= len(self.options):
            raise ValueError(
                f"answer is {self.answer}, but the index of the last option is {len(self.options) - 1}"
            )
        return self


class Partner(_Part):
    """A kind of partner in a study.

    Attributes:
        player: the spec of a player, such as `learned:FILE`; None if the partner is a person.
        chats: the maximum number of dialogues per task with this kind of partner; None for no limit.
    """

    player: str | None = None
    chats: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _is_no_terminal(self) -> Partner:
        if self.player == HUMAN:
            raise ValueError("for a partner who is a person, leave out `player` instead of writing 'human'")
        return self


class StudyLimits(_Part):
    """The limits of a study, in seconds unless stated otherwise. None means no limit.

    Attributes:
        waiting: the maximum time in the waiting room. Afterwards, the stand-by player becomes the person's
            partner; without a stand-by player, the person's participation ends.
        chat: the maximum length of a dialogue.
        idle: the maximum time that a person may take for one move.
        away: the maximum time that a person may be disconnected before counting as gone.
        steady: the minimum time that a person who reconnects must stay connected before being paired.
        newcomers: the maximum number of new people per minute from one address.
    """

    waiting: float | None = Field(180, gt=0)
    chat: float | None = Field(1200, gt=0)
    idle: float | None = Field(300, gt=0)
    away: float | None = Field(60, gt=0)
    steady: float = Field(10, ge=0)
    newcomers: int | None = Field(300, gt=0)


class StudyConfig(_Part):
    """The configuration of a study.

    Attributes:
        title: the title of the study's pages; by default, the title of the game.
        consent: the text that people agree to before they begin, without markup.
        instructions: plain text that is shown before the dialogue, in addition to the seat's guide.
        check: the questions of the comprehension check. A person has two attempts.
        seat: the seat for a person whose partner is a player; None for a random seat.
        partners: the kinds of partners, keyed by name.
        standby: the name in `partners` of the player that talks to people who have waited too long; None to
            end their participation instead.
        limits: the time limits, and the limit on new people.
        codes: the completion codes, keyed by ending. If a paid ending has no code, each person gets a random
            code.
        survey: the questions after the dialogue; None for the game's survey, or the standard questions if
            the game has no survey.
        typing_speed: the number of characters per second that players seem to type; None to send messages at
            once.
        least_words: the number of words that a person must write so that the dialogue counts for the person.
        hosts: host names for the pages, in addition to the loopback names.
        prefix: the beginning of random completion codes.
        contact: an email address or other contact for questions about payment; it is shown unchanged.
    """

    title: str = ""
    consent: str = (
        "This is a study of conversation. What you write is stored and analysed under a random number. You "
        "may leave at any time. Please do not write anything that identifies you."
    )
    instructions: str = ""
    check: tuple[Check, ...] = ()
    seat: str | None = None
    partners: Mapping[str, Partner] = Field(default_factory=lambda: {HUMAN: Partner()}, min_length=1)
    standby: str | None = None
    limits: StudyLimits = StudyLimits()
    codes: Mapping[Ending, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    survey: tuple[SurveyQuestion, ...] | None = None
    typing_speed: float | None = Field(None, gt=0)
    least_words: int = Field(0, ge=0)
    hosts: tuple[str, ...] = ()
    prefix: str = "BIRDENV"
    contact: str = ""

    @model_validator(mode="after")
    def _questions_can_be_asked(self) -> StudyConfig:
        check_questions(self.survey or ())
        return self

    @model_validator(mode="after")
    def _known_standby(self) -> StudyConfig:
        if self.standby is not None:
            found = self.partners.get(self.standby)
            if found is None or found.player is None:
                raise ValueError(
                    f"standby is {self.standby!r}, but no partner with that name is a player: write "
                    f'"partners": {{"{self.standby}": {{"player": "PLAYER", "chats": 0}}, ...}}'
                )
        return self
