"""What compiling a statement may cost: nothing can stop SQLite while it compiles.

Its time grows with the square of the terms of an expression (`a = 1 AND b = 2 AND ...`: 40,000 take three
seconds, the terms of window functions four times that). Lists of literals, as in a long INSERT, take time in
proportion. So a long text may have only so much that is no literal.

It also grows with the square of the window functions of a SELECT (1,600 take seven seconds), of which SQLite
itself takes some 200 different ones.

And it grows with what the text becomes: `_expansion` estimates that.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from birdenv.databases._results import QueryError
from birdenv.databases.sqlite.guard._expansion import MOST_COPIES, KnownViews

_SHORT: Final = 200_000
"""Characters that compile within about a second, whatever they are (measured on 2 GHz)."""

_MOST_BESIDES_LITERALS: Final = 30_000

_MOST_WINDOWS: Final = 500
HARMLESS: Final = 4 * _MOST_WINDOWS
"""Characters that hold nothing that takes long to compile."""

_OVER: Final = re.compile(r"\bOVER\b", re.IGNORECASE)

_LITERALS: Final = r"""
      (?P<kept> "[^"]*+(?:""[^"]*+)*+"? | `[^`]*+`? | \[[^\]]*+\]? )
    | [xX]?'[^']*+(?:''[^']*+)*+'?
    | --[^\n]*+
    | /\*(?:[^*]|\*(?!/))*+(?:\*/)?
    | (?<=[(,\s])[-+]?[0-9.]++(?:[eE][-+]?[0-9]++)?
    | [0-9.]++
    | [(),\s]++
    | \bNULL\b
    """


@cache
def _literals() -> re.Pattern[str]:
    return re.compile(_LITERALS, re.VERBOSE | re.IGNORECASE)


def besides_literals(sql: str) -> int:
    """Characters of a text that belong to no literal, comment, comma or parenthesis; takes linear time."""
    return len(_literals().sub(r"\g<kept>", sql))


def _windows(sql: str) -> int:
    """Window functions in a text, at most."""
    return len(_OVER.findall(_literals().sub(r"\g<kept> ", sql)))


def compiling_fault(sql: str) -> QueryError | None:
    """Why a text that is not `HARMLESS` would take too long to compile; None if it does not."""
    if sql.upper().count("OVER") > _MOST_WINDOWS:
        windows = _windows(sql)
        if windows > _MOST_WINDOWS:
            return QueryError(
                "too_large",
                f"the statement has {windows} window functions, and at most {_MOST_WINDOWS} are allowed: it "
                "could take SQLite very long to compile (isolation=process has no such bound)",
                repeatable=True,
            )
    if len(sql) <= _SHORT:
        return None
    besides = besides_literals(sql)
    if besides <= _MOST_BESIDES_LITERALS:
        return None
    return QueryError(
        "too_large",
        f"the statement has {len(sql)} characters, {besides} of them not of literals: it could take SQLite "
        f"very long to compile. Beyond {_SHORT} characters at most {_MOST_BESIDES_LITERALS} may be anything "
        "but literals (isolation=process has no such bound)",
        repeatable=True,
    )


def expansion_fault(sql: str, views: KnownViews) -> QueryError | None:
    """Why a text would become too large while it is compiled; None if it would not."""
    if not views.may_make_too_large(sql):
        return None
    return QueryError(
        "too_large",
        "common table expressions, views or subqueries that use each other several times would make this"
        f" statement more than {MOST_COPIES} tokens long when SQLite compiles it: keep what is used often in"
        " a temporary table (isolation=process has no such bound)",
    )
