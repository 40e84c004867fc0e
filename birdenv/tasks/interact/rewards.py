"""The reward for each phase and attempt (BIRD-Interact §5.1), and the schemes that divide it.

A scheme can charge for the system's questions, and for the annotated ambiguities that the user's answers
explain. Which ambiguities an answer explains depends only on its words, so a replay earns the same rewards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from birdenv.users import Brief

REWARDS: Final[Mapping[tuple[int, int], float]] = MappingProxyType(
    {(1, 1): 0.7, (1, 2): 0.5, (2, 1): 0.3, (2, 2): 0.2}
)
"""The rewards by (phase, attempt). Phase 2 is the follow-up; attempt 2 is the debug attempt."""


def reward(phase: int, attempt: int, passed: bool) -> float:
    """Return the reward for a graded submission, which is 0 if the submission did not pass.

    Raises:
        ValueError: `phase` or `attempt` is not 1 or 2.
    """
    if (phase, attempt) not in REWARDS:
        raise ValueError(f"`phase` and `attempt` must be 1 or 2, got {phase} and {attempt}")
    return REWARDS[phase, attempt] if passed else 0.0


def batch_reward(a: int, b: int, c: int, d: int, n: int) -> float:
    """Return the mean reward of a batch, (0.7a + 0.5b + 0.3c + 0.2d) / n, which papers multiply by 100.

    Args:
        a: the number of tasks that passed phase 1 at the first attempt.
        b: the number of tasks that passed phase 1 after debugging.
        c: the number of tasks that passed phase 2 at the first attempt.
        d: the number of tasks that passed phase 2 after debugging.
        n: the total number of tasks, including tasks that have no follow-up. If n is 0, the mean is 0.
    """
    return (7 * a + 5 * b + 3 * c + 2 * d) / (10 * n) if n else 0.0


Scheme: TypeAlias = Literal["cooperative", "user_cost", "zero_sum"]

_DIGITS = 10  # sums of rewards are rounded to this number of decimals
_WORD = re.compile(r"[^\W_]+")
_TOLD = 0.6
"""An answer discloses a meaning if it contains this share of the words that are not in the request."""


@dataclass(frozen=True, slots=True)
class RewardScheme:
    """A scheme that divides rewards and costs between the system and the user.

    Let R be the reward for the SQL, q the price of all questions, and d the price of all annotated
    ambiguities that the user explained. `cooperative` pays R - q - d to both seats. `user_cost` pays R - q to
    the system and R - d to the user. `zero_sum` pays R - q to the system and q - R to the user.

    Attributes:
        name: the name of the scheme.
        question_price: the price of one question.
        disclosure_price: the price of one annotated ambiguity that the user explains.
    """

    name: Scheme = "cooperative"
    question_price: float = 0.0
    disclosure_price: float = 0.0

    def rewards(self, earned: float, questions: int, told: int) -> tuple[float, float]:
        """Return the system's reward and the user's reward.

        Args:
            earned: the reward for the SQL.
            questions: the number of questions that the system asked.
            told: the number of annotated ambiguities that the user explained.
        """
        asked, disclosed = questions * self.question_price, told * self.disclosure_price
        system = earned - asked
        if self.name == "cooperative":
            system -= disclosed
            return (round(system, _DIGITS),) * 2
        user = earned - disclosed if self.name == "user_cost" else -system
        return round(system, _DIGITS), round(user, _DIGITS)

    @property
    def system_words(self) -> str:
        """Return the end of the system's instruction, which states the price of a question."""
        price = self.question_price
        return f"\n\nEach question reduces your reward by {price:g}." if price else ""

    @property
    def user_words(self) -> str:
        """Return the end of the user's instruction, which states how the user is rewarded."""
        if self == _SHARED:
            return ""
        price = self.disclosure_price
        goal = "a wrong answer" if self.name == "zero_sum" else "the right answer"
        cost = f" Each of these points that you tell reduces your reward by {price:g}." if price else ""
        return f"\n\nYou are rewarded for {goal}.{cost}"


_SHARED: Final = RewardScheme()


def told_points(brief: Brief, text: str) -> set[str]:
    """Return the SQL snippet of each annotated ambiguity that an answer explains.

    An answer explains an ambiguity if it contains most of the words in the snippet's description, ignoring
    words that also appear in the request.
    """
    from birdenv.users.sql_in_words import read_aloud

    said = _words(text)
    known = _words(brief.request)
    found = set()
    for point in brief.ambiguities:
        meaning = _words(read_aloud(point.snippet, brief.identifiers, brief.notes).text) - known
        if meaning and len(meaning & said) >= _TOLD * len(meaning):
            found.add(point.snippet)
    return found


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
