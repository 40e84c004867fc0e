"""Judge a proposal about which rows are in, where the answer is no piece of SQL.

The gold SQL may leave open which rows count or how many are shown, or a join may decide it.
"""

from __future__ import annotations

from collections.abc import Set

from birdenv.users._bounds import yes_or_no
from birdenv.users._claims import says
from birdenv.users.understanding._left_open import ALL_ROWS, DROPPED, KEPT, NO_RESTRICTION

_DECIDES = frozenset({"in", "out", "shown", "hidden", "narrows", "widens"})
"""Groups of phrases that say what to do with rows."""


def offers_a_choice(text: str) -> bool:
    """Return True if a cleaned question offers a choice of what to do with rows.

    "Are closed or seasonal stations left out?" offers none.
    """
    before, offers, after = text.rpartition(" or ")
    asks_twice = after.startswith(("should ", "shall ", "do ", "would "))
    return bool(offers) and (asks_twice or not says(before).isdisjoint(_DECIDES))


def of_rows(said: Set[str], answer: str) -> str:
    """Return "Yes" or "No" to a proposal about rows; empty if its words do not decide it.

    Args:
        said: the groups of phrases in the question.
        answer: the answer, such as `NO_RESTRICTION`.
    """
    if "turned" in said and answer in (NO_RESTRICTION, ALL_ROWS):
        return ""  # "all but the last?"
    out = not said.isdisjoint(("out", "hidden"))
    shown = not said.isdisjoint(("in", "shown"))
    if answer in (KEPT, DROPPED):
        is_about_them = said & {"missing", "unmatched"} and (out != shown or "hidden" in said)
        is_about_them = is_about_them and said.isdisjoint(("only", "not out", "reversed"))
        return yes_or_no(out == (answer == DROPPED)) if is_about_them else ""
    if answer not in (NO_RESTRICTION, ALL_ROWS) or "use" in said:
        return ""
    if "lifts" in said and "only" not in said and said & {"narrows", "keeps"}:
        return "Yes"  # "does the minimum no longer hold?"
    widens, narrows = "widens" in said, "narrows" in said or out
    if widens and narrows:
        return ""
    return "No" if narrows else "Yes" if widens or shown else ""
