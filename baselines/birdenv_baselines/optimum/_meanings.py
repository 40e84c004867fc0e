"""The best reachable return of a candidate family, at the level of meanings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from birdenv.envs.candidates import QUESTIONS
from birdenv.grading import reward

__all__ = ["best_return", "submit_value"]

_FIRST = reward(1, 1, True)
_DEBUG = reward(1, 2, True)
_FOLLOW_UP = reward(2, 1, True)


def submit_value(meanings: int) -> float:
    """Return what submitting earns when so many meanings are left, all as likely.

    The first attempt is right once in that many times, the debug attempt as often. A follow-up leaves nothing
    open, so it is passed at once.
    """
    first = (_FIRST + _FOLLOW_UP) / meanings
    return first + ((_DEBUG + _FOLLOW_UP) / meanings if meanings > 1 else 0.0)


def best_return(
    points: Sequence[int], price: float, refusals: float = 0.0, questions: int = QUESTIONS
) -> float:
    """Return the best expected return of any policy that sees only what it is shown.

    The state is which open points were not asked about, how many meanings the refused ones leave together,
    and the questions left. It is exact: meanings are equally likely, an answer settles its point, and a
    refusal tells nothing.

    Args:
        points: the number of meanings of each open point.
        price: the price of a question.
        refusals: the share of points that the user cannot tell.
        questions: the budget of questions.
    """

    @cache
    def value(unasked: tuple[int, ...], others: int, left: int) -> float:
        everything = others
        for meanings in unasked:
            everything *= meanings
        best = submit_value(everything)
        if left:
            for place in {meanings: i for i, meanings in enumerate(unasked)}.values():
                rest = unasked[:place] + unasked[place + 1 :]
                told = value(rest, others, left - 1)
                refused = value(rest, others * unasked[place], left - 1) if refusals else 0.0
                best = max(best, (1 - refusals) * told + refusals * refused - price)
        return best

    return value(tuple(sorted(points)), 1, questions)
