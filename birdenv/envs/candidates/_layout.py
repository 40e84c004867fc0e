"""The sizes of the candidate setting: its actions, and the columns of its observations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final

MAX_POINTS: Final = 8
"""Annotated points of a request that are told apart when refusals are drawn."""


class Columns(IntEnum):
    """Columns of a table, counted from 0."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class SpanColumn(Columns):
    """The columns of a span. All but the last two are constant in a phase."""

    EXISTS = auto()
    POSITION = auto()
    WORDS = auto()
    UNKNOWN = auto()  # share of words that neither schema nor knowledge has
    ALL_UNKNOWN = auto()
    FIRST_UNKNOWN = auto()
    IN_ALL = auto()  # share of words that all candidates have
    IN_SOME = auto()  # share of words in which the candidates differ
    LAST_IN_ALL = auto()
    FIRST_SENTENCE = auto()
    LAST_SENTENCE = auto()
    QUESTION = auto()  # stands in a sentence that asks
    BEFORE_NUMBER = auto()
    AFTER_ARTICLE = auto()
    AFTER_PREPOSITION = auto()
    ASKED = auto()
    INFORMED = auto()  # the answer tells candidates apart


class CandidateColumn(Columns):
    """The columns of a candidate. The first three are constant in a phase."""

    EXISTS = auto()
    REQUEST = auto()  # how well it fits the request, the best being 1
    FITS_REQUEST = auto()  # none fits it better
    ANSWERS = auto()  # how well it fits the answers that told something, on average
    FITS_ANSWERS = auto()  # none fits any of them better
    TOTAL = auto()
    BEHIND = auto()  # by how much the best one that was not tried is better
    BEST = auto()
    TRIED = auto()
    EXECUTED = auto()
    FAILED = auto()
    ROWS = auto()
    SAME = auto()  # share of the other executed ones that gave the same


class EpisodeColumn(Columns):
    """The columns of the episode."""

    PRICE = auto()
    QUESTIONS_LEFT = auto()
    FOLLOW_UP = auto()
    DEBUG = auto()
    CAN_ASK = auto()
    CANDIDATES = auto()
    SPANS = auto()
    ASKED = auto()
    INFORMED = auto()
    BEST = auto()  # share of candidates that none is better than
    ONE_OF_BEST = auto()  # chance of a blind guess among them


@dataclass(frozen=True, slots=True)
class Layout:
    """The fixed sizes of an environment, and the meaning of its actions.

    Actions, in this order: ask about span i; ask something useless; execute candidate j; submit candidate j;
    give up.
    """

    spans: int
    candidates: int

    @property
    def useless(self) -> int:
        """Return the action that asks about nothing."""
        return self.spans

    @property
    def execute(self) -> int:
        """Return the action that executes candidate 0."""
        return self.spans + 1

    @property
    def submit(self) -> int:
        """Return the action that submits candidate 0."""
        return self.execute + self.candidates

    @property
    def give_up(self) -> int:
        """Return the action that leaves."""
        return self.submit + self.candidates

    @property
    def actions(self) -> int:
        """Return the number of actions."""
        return self.give_up + 1

    @property
    def draws(self) -> int:
        """Return random numbers of an episode: task, price, two orders of candidates, refusals."""
        return 2 + 2 * self.candidates + MAX_POINTS
