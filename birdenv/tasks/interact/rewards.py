"""What a pass earns by phase and attempt (BIRD-Interact §5.1), and what each seat is paid of it.

The system's seat may pay for its questions, and the user's seat for the points that it tells. Which annotated
points an answer tells is read from its words alone, so that a replay pays the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from birdenv.users import Brief
from birdenv.users.sql_in_words import read_aloud

REWARDS: Final[Mapping[tuple[int, int], float]] = MappingProxyType(
    {(1, 1): 0.7, (1, 2): 0.5, (2, 1): 0.3, (2, 2): 0.2}
)
"""By (phase, attempt): phase 1 is the clarified question, 2 the follow-up; attempt 2 is after debugging."""


def reward(phase: int, attempt: int, passed: bool) -> float:
    """Return what one graded submission earns; 0 if it did not pass.

    Raises:
        ValueError: the schedule has no such phase or attempt.
    """
    if (phase, attempt) not in REWARDS:
        raise ValueError(f"there is no phase {phase}, attempt {attempt}: both are 1 or 2")
    return REWARDS[phase, attempt] if passed else 0.0


def batch_reward(a: int, b: int, c: int, d: int, n: int) -> float:
    """Return the mean reward of a batch, (0.7a + 0.5b + 0.3c + 0.2d) / n, from 0 to 1 (in papers: x100).

    `a` and `b` are the numbers of tasks that passed phase 1 at once and after debugging, `c` and `d` the same
    for phase 2. `n` counts all tasks, also failed ones and those without a follow-up. An empty batch earns 0.
    """
    return (7 * a + 5 * b + 3 * c + 2 * d) / (10 * n) if n else 0.0


Scheme: TypeAlias = Literal["cooperative", "user_cost", "zero_sum"]

_DIGITS = 10  # of sums of rewards
_WORD = re.compile(r"[^\W_]+")
_TOLD = 0.6
"""Share of the new words of a meaning that an answer must hold to have told it."""


@dataclass(frozen=True, slots=True)
class RewardScheme:
    """The scheme by which the seats are paid.

    With R what the SQL earned, q the price of the questions asked and d the price of the points told:
    `cooperative` pays R - q - d to both seats; `user_cost` pays R - q to the system and R - d to the user;
    `zero_sum` pays R - q to the system and the negative of that to the user.
    """

    name: Scheme = "cooperative"
    question_price: float = 0.0
    disclosure_price: float = 0.0

    def rewards(self, earned: float, questions: int, told: int) -> tuple[float, float]:
        """Return the rewards of the system's seat and of the user's."""
        asked, disclosed = questions * self.question_price, told * self.disclosure_price
        system = earned - asked
        if self.name == "cooperative":
            system -= disclosed
            return (round(system, _DIGITS),) * 2
        user = earned - disclosed if self.name == "user_cost" else -system
        return round(system, _DIGITS), round(user, _DIGITS)

    @property
    def system_words(self) -> str:
        """Return what the system is told about prices, for the end of its instruction."""
        price = self.question_price
        return f"\n\nEach question takes {price:g} from your reward." if price else ""

    @property
    def user_words(self) -> str:
        """Return what the user is told about its pay, for the end of its instruction."""
        if self == _SHARED:
            return ""
        price = self.disclosure_price
        goal = "a wrong answer" if self.name == "zero_sum" else "the right answer"
        cost = f" Each of these points that you tell takes {price:g} from it." if price else ""
        return f"\n\nYou are rewarded for {goal}.{cost}"


_SHARED: Final = RewardScheme()


def told_points(brief: Brief, text: str) -> set[str]:
    """Return the snippets of the annotated points that a text tells, that is, most of their new words."""
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
