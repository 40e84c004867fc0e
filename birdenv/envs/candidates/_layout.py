"""The layout of the candidate setting: its actions and the columns of its observations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final

MAX_POINTS: Final = 8
"""Maximum number of annotated points of a request for which refusals are drawn separately."""


class Columns(IntEnum):
    """The columns of a table in the observation. The value of a member is the index of its column, from 0."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class SpanColumn(Columns):
    """The columns that describe a span of the request. All but the last two are constant in a phase."""

    EXISTS = auto()
    POSITION = auto()
    WORDS = auto()
    UNKNOWN = auto()  # share of words that occur in neither schema nor knowledge
    ALL_UNKNOWN = auto()
    FIRST_UNKNOWN = auto()
    IN_ALL = auto()  # share of words that occur in all candidates
    IN_SOME = auto()  # share of words that occur in some candidates
    LAST_IN_ALL = auto()
    FIRST_SENTENCE = auto()
    LAST_SENTENCE = auto()
    QUESTION = auto()  # belongs to a sentence that asks
    BEFORE_NUMBER = auto()
    AFTER_ARTICLE = auto()
    AFTER_PREPOSITION = auto()
    ASKED = auto()
    INFORMED = auto()  # the answer distinguishes candidates


class CandidateColumn(Columns):
    """The columns that describe a candidate. The first three are constant in a phase."""

    EXISTS = auto()
    REQUEST = auto()  # how well it fits the request; the best candidate has 1
    FITS_REQUEST = auto()  # no candidate fits the request better
    ANSWERS = auto()  # how well it fits the informative answers, on average
    FITS_ANSWERS = auto()  # no candidate fits any informative answer better
    TOTAL = auto()
    BEHIND = auto()  # difference from the best candidate that was not tried
    BEST = auto()
    TRIED = auto()
    EXECUTED = auto()
    FAILED = auto()
    ROWS = auto()
    SAME = auto()  # share of the other executed candidates with the same result


class EpisodeColumn(Columns):
    """The columns that describe the episode as a whole."""

    PRICE = auto()
    QUESTIONS_LEFT = auto()
    FOLLOW_UP = auto()
    DEBUG = auto()
    CAN_ASK = auto()
    CANDIDATES = auto()
    SPANS = auto()
    ASKED = auto()
    INFORMED = auto()
    BEST = auto()  # share of candidates that share the first rank
    ONE_OF_BEST = auto()  # chance of a blind guess among these


@dataclass(frozen=True, slots=True)
class Layout:
    """The numbers of spans, candidates and actions of an environment, and the meaning of the actions.

    The actions, in this order: ask about span i; ask a useless question; execute candidate j; submit
    candidate j; give up.
    """

    spans: int
    candidates: int

    @property
    def useless(self) -> int:
        """The index of the action that asks the useless question."""
        return self.spans

    @property
    def execute(self) -> int:
        """The index of the action that executes candidate 0. The actions for the other candidates follow."""
        return self.spans + 1

    @property
    def submit(self) -> int:
        """The index of the action that submits candidate 0. The actions for the other candidates follow."""
        return self.execute + self.candidates

    @property
    def give_up(self) -> int:
        """The index of the action that gives up."""
        return self.submit + self.candidates

    @property
    def actions(self) -> int:
        """The number of actions."""
        return self.give_up + 1

    @property
    def draws(self) -> int:
        """How many random numbers determine the task, price, candidate orders and refusals of an episode."""
        return 2 + 2 * self.candidates + MAX_POINTS
