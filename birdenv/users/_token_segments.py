"""Cut gold SQL at its keywords, as the published simulators do (BIRD-Interact §3.2).

The text runs from one keyword to the next, at any depth. What stands before the first one is lost, and so are
the words of a nested query's end. `birdenv.users.segments` cuts by the syntax tree instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from birdenv.sql import quiet_parser
from birdenv.users.segments import Segment

_KEYWORDS: Final = (
    "SELECT FROM WHERE GROUP_BY HAVING ORDER_BY LIMIT OFFSET JOIN STRAIGHT_JOIN".split()
)  # names of sqlglot's token types


def token_segments(gold: Sequence[str]) -> tuple[Segment, ...]:
    """Return the slices of the statements, with ids T1, T2 and so on.

    One without keywords is one slice of clause "statement"; so is each part between semicolons of a text
    that has no tokens.

    >>> [(each.clause, each.sql) for each in token_segments(["UPDATE s SET c = 1 WHERE d < 0"])]
    [('where', 'WHERE d < 0')]
    """
    found = [piece for text in gold for piece in _slices(text)]
    return tuple(Segment(f"T{number}", clause, sql) for number, (clause, sql) in enumerate(found, 1))


def _slices(text: str) -> list[tuple[str, str]]:
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        with quiet_parser():
            tokens = sqlglot.tokenize(text, read="postgres")
    except SqlglotError:
        return [("statement", part.strip()) for part in text.split(";") if part.strip()]
    starts = [(token.start, token.token_type.name) for token in tokens if token.token_type.name in _KEYWORDS]
    if not starts:
        return [("statement", text.strip())]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return [
        (name.removesuffix("_BY").lower(), text[start:end].strip())
        for (start, name), end in zip(starts, ends, strict=True)
    ]
