"""The layout of the candidate setting: its actions and the columns of its observations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final

MAX_POINTS: Final = 8
"""The maximum number of annotated ambiguities of a request that the user may be unable to explain."""


class Columns(IntEnum):
    """The base class for column enumerations. The value of a member is the index of the column."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class SpanColumn(Columns):
    """The columns that describe a span, that is, a phrase in the request that the agent can ask about.

    Flags are 0 or 1, and other values are between 0 and 1. `ASKED` and `INFORMED` change during a phase.
    """

    EXISTS = auto()  # flag: the row describes a span
    POSITION = auto()  # position among the spans of the request
    WORDS = auto()  # number of words, divided by its maximum
    UNKNOWN = auto()  # share of words that occur in neither schema nor knowledge
    ALL_UNKNOWN = auto()  # flag: no word occurs there
    FIRST_UNKNOWN = auto()  # flag: the first word does not occur there
    IN_ALL = auto()  # share of words that occur in all candidates
    IN_SOME = auto()  # share of words that occur in some candidates
    LAST_IN_ALL = auto()  # flag: the last word occurs in all candidates
    FIRST_SENTENCE = auto()  # flag: the span is in the first sentence of the request
    LAST_SENTENCE = auto()  # flag: the span is in the last sentence of the request
    QUESTION = auto()  # flag: the sentence is a question
    BEFORE_NUMBER = auto()  # flag: a number or a date follows
    AFTER_ARTICLE = auto()  # flag: an article precedes
    AFTER_PREPOSITION = auto()  # flag: a preposition precedes
    ASKED = auto()  # flag: the agent has asked about the span
    INFORMED = auto()  # flag: the answer distinguished candidates


class CandidateColumn(Columns):
    """The columns that describe a candidate statement. All values are between 0 and 1."""

    EXISTS = auto()  # flag: the row describes a candidate
    REQUEST = auto()  # fit to the request; 1 for the best candidate
    FITS_REQUEST = auto()  # flag: no candidate fits the request better
    ANSWERS = auto()  # mean fit to the informative answers
    FITS_ANSWERS = auto()  # flag: no candidate fits any informative answer better
    TOTAL = auto()  # weighted mean of the fits to the request and to the answers
    BEHIND = auto()  # difference of TOTAL from the best candidate that was not tried
    BEST = auto()  # flag: the difference is 0, and the candidate was not tried
    TRIED = auto()  # flag: the candidate was submitted and is wrong
    EXECUTED = auto()  # flag: the candidate was executed
    FAILED = auto()  # flag: the execution failed
    ROWS = auto()  # number of rows in the result, on a logarithmic scale
    SAME = auto()  # share of the other executed candidates with the same result


class EpisodeColumn(Columns):
    """The columns that describe the whole episode. All values are between 0 and 1."""

    PRICE = auto()  # price of a question, divided by the highest possible price
    QUESTIONS_LEFT = auto()  # share of the budget that is left
    FOLLOW_UP = auto()  # flag: the current phase is the follow-up
    DEBUG = auto()  # flag: the current attempt is the debug attempt
    CAN_ASK = auto()  # flag: questions are possible now
    CANDIDATES = auto()  # number of candidates, divided by its maximum
    SPANS = auto()  # number of spans, divided by its maximum
    ASKED = auto()  # number of questions in this phase, divided by the budget
    INFORMED = auto()  # number of informative answers, divided by the budget
    BEST = auto()  # share of candidates that fit best
    ONE_OF_BEST = auto()  # chance of a blind guess among these candidates


@dataclass(frozen=True, slots=True)
class Layout:
    """How many spans and candidates an environment has, and the indices of its actions.

    The order of the actions is: ask about span i, ask a useless question, execute candidate j, submit
    candidate j, give up.

    Attributes:
        spans: the maximum number of phrases in a request that the agent can ask about.
        candidates: the maximum number of candidate statements for a task.
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
        """Return how many random numbers determine an episode's task, price, orders and refusals."""
        return 2 + 2 * self.candidates + MAX_POINTS
