"""What a study is: texts, partners, limits, quotas, codes; from our own file or from `app_params.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from birdenv.dialogue import Game
from birdenv.dialogue.games import SurveyQuestion
from birdenv.studies._questions import check_questions

HUMAN: Final = "human"
"""The partner that is another person."""

Ending: TypeAlias = Literal[
    "done", "partner_left", "nobody_came", "left", "failed_check", "too_short", "full"
]
"""How a person's part came to its end."""

PAID: Final[tuple[Ending, ...]] = ("done", "partner_left", "nobody_came", "full")
"""Endings that have a completion code."""


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
"""The questions after a dialogue, where neither the study nor its game has its own."""


def default_survey(game: Game) -> tuple[SurveyQuestion, ...]:
    """Return the questions of a game: its own, or ours, without those about a partner if it has one seat."""
    ours = SURVEY if len(game.seats) > 1 else tuple(each for each in SURVEY if each.about != "partner")
    return game.survey or ours


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Check(_Part):
    """One question of the comprehension check; `answer` is the place of the right option, from 0."""

    question: str
    options: tuple[str, ...] = Field(min_length=2)
    answer: int = Field(ge=0)

    @model_validator(mode="after")
    def _has_answer(self) -> Check:
        if self.answer >= len(self.options):
            raise ValueError(f"answer is {self.answer}, and the last option is {len(self.options) - 1}")
        return self


class Partner(_Part):
    """One kind of partner.

    Attributes:
        player: a player's spec; None for another person.
        chats: dialogues of each task with this partner, at most; None for any number.
    """

    player: str | None = None
    chats: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _is_no_terminal(self) -> Partner:
        if self.player == HUMAN:
            raise ValueError("a partner without `player` is a person: leave out 'human'")
        return self


class StudyLimits(_Part):
    """The limits of a study, in seconds unless stated otherwise. None means no limit.

    Attributes:
        waiting: in the waiting room; then the stand-by player comes, or the end.
        chat: of a dialogue.
        idle: of one who may act and does nothing.
        away: without a connection, before a person counts as gone.
        steady: how long one who comes back must stay before the waiting room pairs them.
        newcomers: how many new people may come from one address in a minute.
    """

    waiting: float | None = Field(180, gt=0)
    chat: float | None = Field(1200, gt=0)
    idle: float | None = Field(300, gt=0)
    away: float | None = Field(60, gt=0)
    steady: float = Field(10, ge=0)
    newcomers: int | None = Field(300, gt=0)


class StudyConfig(_Part):
    """A study.

    Attributes:
        title: its name on the pages; without it, the game's title.
        consent: what people agree to, as plain text.
        instructions: plain text that is shown before the dialogue, in addition to the seat's own guide.
        check: the comprehension check; there are two tries.
        seat: where people sit who have a player as partner; None takes turns.
        partners: kinds of partners by name.
        standby: the partner that comes when nobody came in time.
        limits: time limits.
        codes: completion codes by ending; an ending without one has a random code for each person.
        survey: questions after the dialogue; None for the game's own, or five of ours.
        typing_speed: characters a second at which players seem to type; None for at once.
        least_words: words that a person must have written in a dialogue, or it does not count for them.
        hosts: names under which the pages are reached, beside the loopback ones.
        prefix: begins random completion codes.
        contact: whom people may ask about their payment, such as an address of mail; shown as it is.
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
    codes: Mapping[Ending, str] = Field(default_factory=dict)
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
                    f"standby is {self.standby!r}, which is no player among the partners: write "
                    f'"partners": {{"{self.standby}": {{"player": "PLAYER", "chats": 0}}, ...}}'
                )
        return self
