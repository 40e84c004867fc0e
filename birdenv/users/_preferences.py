"""Questions about a kind of clause that the gold SQL does not have: the user has no preference there."""

from __future__ import annotations

import re

from birdenv.users._segments import Segment

__all__ = ["is_left_open"]

_ASKED: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "order",
        re.compile(
            r"\b(?:sort(?:ed|ing|s)?|ordering|order (?:by|of (?:the )?(?:rows|results|output))"
            r"|(?:rows|results|records|output|they|it|them) (?:be )?(?:ordered|ranked)"
            r"|in (?:what|which|any|a (?:certain|particular|specific)) order|(?:ascending|descending))\b"
        ),
    ),
    (
        "limit",
        re.compile(
            r"\b(?:limit(?:ed)?|how many (?:rows|results|records|entries)"
            r"|(?:maximum )?number of (?:rows|results)|row cap|cap (?:on )?the (?:rows|results|number))\b"
        ),
    ),
    (
        "distinct",
        re.compile(r"\b(?:duplicates?|duplicated|deduplicat\w+|distinct rows|repeated rows|unique rows)\b"),
    ),
)


def is_left_open(text: str, parts: tuple[Segment, ...]) -> bool:
    """Whether a question asks for a sorting, a limit or no duplicates, none of which is in `parts`.

    `text` are the question's words, `parts` those of the gold SQL.
    """
    asked = {clause for clause, pattern in _ASKED if pattern.search(text)}
    return bool(asked) and not asked.intersection(part.clause for part in parts)
