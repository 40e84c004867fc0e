"""What each seat earns: the SQL's reward, the price of questions, the price of what the user tells.

Which annotated points an answer tells is read from its words alone, so that a replay pays the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from birdenv.users import Brief
from birdenv.users.sql_in_words import read_aloud

Scheme: TypeAlias = Literal["cooperative", "user_cost", "zero_sum"]

_DIGITS = 10  # of sums of rewards
_WORD = re.compile(r"[^\W_]+")
_TOLD = 0.6
"""Share of the new words of a meaning that an answer must hold to have told it."""


@dataclass(frozen=True, slots=True)
class RewardScheme:
    """How the seats are paid.

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
        """What the system is told of prices, for the end of its instruction."""
        price = self.question_price
        return f"\n\nEach question takes {price:g} from your reward." if price else ""

    @property
    def user_words(self) -> str:
        """The same for the user, who is told what it is paid for."""
        if self == _SHARED:
            return ""
        price = self.disclosure_price
        goal = "a wrong answer" if self.name == "zero_sum" else "the right answer"
        cost = f" Each of these points that you tell takes {price:g} from it." if price else ""
        return f"\n\nYou are rewarded for {goal}.{cost}"


_SHARED: Final = RewardScheme()


def told_points(brief: Brief, text: str) -> set[str]:
    """Return the snippets of the annotated points that a text tells: most of their words that are new."""
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
