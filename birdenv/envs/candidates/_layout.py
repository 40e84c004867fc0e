"""The layout of the candidate setting: its actions and the columns of its observations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final

MAX_POINTS: Final = 8
"""The maximum number of annotated ambiguities of a request that the user may be unable to explain."""


class Columns(IntEnum):
    """The base class for the columns of a table in the observation. The value of a member is its index."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class SpanColumn(Columns):
    """The columns that describe a span, that is, a phrase of the request that the agent can ask about.

    Flags are 0 or 1, and all other values lie between 0 and 1. `ASKED` and `INFORMED` change in a phase.
    """

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
    QUESTION = auto()  # the sentence is a question
    BEFORE_NUMBER = auto()
    AFTER_ARTICLE = auto()
    AFTER_PREPOSITION = auto()
    ASKED = auto()
    INFORMED = auto()  # the answer distinguishes candidates


class CandidateColumn(Columns):
    """The columns that describe a candidate statement. Flags are 0 or 1, and other values between 0 and 1."""

    EXISTS = auto()
    REQUEST = auto()  # fit to the request; 1 for the best candidate
    FITS_REQUEST = auto()  # no candidate fits the request better
    ANSWERS = auto()  # mean fit to the informative answers
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
    """The columns that describe the episode as a whole. All values lie between 0 and 1."""

    PRICE = auto()
    QUESTIONS_LEFT = auto()
    FOLLOW_UP = auto()
    DEBUG = auto()
    CAN_ASK = auto()
    CANDIDATES = auto()
    SPANS = auto()
    ASKED = auto()
    INFORMED = auto()
    BEST = auto()  # share of candidates that fit best
    ONE_OF_BEST = auto()  # chance of a blind guess among these candidates


@dataclass(frozen=True, slots=True)
class Layout:
    """The numbers of spans and candidates of an environment, and the indices of its actions.

    The actions, in this order: ask about span i; ask a useless question; execute candidate j; submit
    candidate j; give up.

    Attributes:
        spans: the maximum number of phrases of a request that the agent can ask about.
        candidates: the maximum number of candidate statements of a task.
    """

    spans: int
    candidates: int

    @property
    def useless(self) -> int:
        """Return the index of the action that asks the useless question."""
        return self.spans

    @property
    def execute(self) -> int:
        """Return the index of the action that executes candidate 0, the first of the execute actions."""
        return self.spans + 1

    @property
    def submit(self) -> int:
        """Return the index of the action that submits candidate 0, the first of the submit actions."""
        return self.execute + self.candidates

    @property
    def give_up(self) -> int:
        """Return the index of the action that gives up."""
        return self.submit + self.candidates

    @property
    def actions(self) -> int:
        """Return the number of actions."""
        return self.give_up + 1

    @property
    def draws(self) -> int:
        """Return how many random numbers an episode needs for its task, price, orders and refusals."""
        return 2 + 2 * self.candidates + MAX_POINTS
