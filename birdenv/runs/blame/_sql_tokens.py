"""SQL as tokens that can be compared: without qualifiers, case and spaces."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from birdenv.sql import tokens as sql_tokens
from birdenv.sql import unquoted

_ALIAS: Final = re.compile(r"(?i)(?<!\s)\s++AS\s++\w++\s*+$")
_CLAUSE: Final = re.compile(r"(?i)^\s*(WHERE|HAVING|ORDER\s+BY|GROUP\s+BY)\s+")
_NAMES: Final = ("word", "quoted")


class ComparedToken(NamedTuple):
    """A token: what it is compared by, and where it stands with its qualifier."""

    key: str
    start: int
    end: int


def tokens(sql: str) -> list[ComparedToken]:
    """Return the tokens of SQL; the qualifier of a name belongs to the name."""
    found: list[ComparedToken] = []
    kinds: list[str] = []
    for kind, text, end in sql_tokens(sql):
        start = end - len(text)
        if kinds[-2:] in (["word", "."], ["quoted", "."]) and kind in _NAMES:
            start = found[-2].start
            del found[-2:], kinds[-2:]
        key = text if kind == "string" else (unquoted(text) if kind == "quoted" else text).casefold()
        found.append(ComparedToken(key, start, end))
        kinds.append("." if text == "." else kind)
    return found


def bare_snippet(snippet: str) -> str:
    """Return a snippet without the keyword of its clause and the name that it gives."""
    return _CLAUSE.sub("", _ALIAS.sub("", snippet))


def uses(sql: str, snippet: str) -> bool:
    """Return whether a snippet stands in SQL, whatever the aliases, the case and the spaces.

    >>> uses("SELECT name FROM branches AS x WHERE x.Seats>=40", "b.seats >= 40")
    True
    """
    looked_for, held = ([t.key for t in tokens(text)] for text in (bare_snippet(snippet), sql))
    count = len(looked_for)
    return bool(looked_for) and any(
        held[at : at + count] == looked_for for at in range(len(held) - count + 1)
    )
