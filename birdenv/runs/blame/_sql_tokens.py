"""SQL as tokens that can be compared: without qualifiers, case and spaces."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\d+(?:\.\d+)?|\w+|[<>=!]+|[^\s\w]")
_ALIAS: Final = re.compile(r"(?i)(?<!\s)\s++AS\s++\w++\s*+$")
_CLAUSE: Final = re.compile(r"(?i)^\s*(WHERE|HAVING|ORDER\s+BY|GROUP\s+BY)\s+")


class Token(NamedTuple):
    """A token: what it is compared by, and where it stands with its qualifier."""

    key: str
    start: int
    end: int


def tokens(sql: str) -> list[Token]:
    """Return the tokens of SQL; the qualifier of a name belongs to the name."""
    found: list[Token] = []
    for match in _TOKEN.finditer(sql):
        text, start = match[0], match.start()
        if len(found) > 1 and found[-1].key == "." and _is_name(found[-2].key) and _is_name(text.casefold()):
            start = found[-2].start
            del found[-2:]
        key = text if text.startswith("'") else text.strip('"').casefold()
        found.append(Token(key, start, match.end()))
    return found


def _is_name(key: str) -> bool:
    return not key[:1].isdigit() and key.strip('"').replace("_", "a").isalnum()


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
