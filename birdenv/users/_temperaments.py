"""Rule-based users that differ in how they answer: all deterministic, all on the same understanding."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from birdenv.errors import InputError

TEMPERAMENTS: Final = {
    "cooperative": "answers every question that it understands; the default",
    "literal": "says yes or no to a proposal and no more, and answers the first of several questions",
    "vague": "answers a first question about a point in general words; the second one gets the content",
    "busy": "leaves after 3 messages (`busy:N`: after N), and answers the first question of each",
    "mistaken": "gives a wrong number, says that it is not sure, and corrects itself when asked again",
}
"""What distinguishes the users `rule:NAME`."""

_QUESTIONS_OF_BUSY = 3
"""So many questions the user `rule:busy` answers before it leaves."""

_QUOTED = re.compile(r"'(?:[^']|'')*'?")
_NUMBER = re.compile(r"(?<![\w.'])\d+(?:\.\d+)?(?![\w.'])")

NO_TIME: Final = "Sorry, I have no more time for questions. Please go on with what you know."
"""What a busy user says at last."""

UNSURE: Final = "I am not sure of the number, so please ask me to confirm it."
"""What a mistaken user adds to a number that is wrong."""


@dataclass(frozen=True, slots=True)
class Temperament:
    """A user's way to answer. `questions` are the most that it answers (None: any number)."""

    name: str = "cooperative"
    questions: int | None = None


def read_temperament(argument: str) -> Temperament:
    """Read the argument of `rule:`.

    Raises:
        InputError: there is no such user, or the number of questions is none.
    """
    name, _, number = argument.partition(":")
    name = name or "cooperative"
    if name not in TEMPERAMENTS or (number and name != "busy"):
        known = ", ".join(f"rule:{one}" for one in TEMPERAMENTS)
        raise InputError(f"there is no user rule:{argument}; there are {known}, and rule:busy:N")
    if name != "busy":
        return Temperament(name)
    if number and not re.fullmatch(r"[0-9]{1,4}", number):
        raise InputError(f"rule:busy:N takes a number of questions, got {number!r}")
    return replace(Temperament(name), questions=int(number or _QUESTIONS_OF_BUSY))


def misremembered(snippet: str) -> str | None:
    """Return a snippet with its last number one higher; None if it has no number in a comparison.

    What stands in quotation marks, such as a date, is remembered.

    >>> misremembered("b.seats >= 40 AND b.opened >= '2024-01-01'")
    "b.seats >= 41 AND b.opened >= '2024-01-01'"
    """
    hidden = _QUOTED.sub(lambda match: "x" * len(match.group()), snippet)
    found = list(_NUMBER.finditer(hidden))
    if not found or not re.search(r"[<>=]", snippet):
        return None
    last = found[-1]
    whole, _, fraction = last.group().partition(".")
    wrong = f"{whole}.{fraction}1" if fraction else str(int(whole) + 1)
    return snippet[: last.start()] + wrong + snippet[last.end() :]
