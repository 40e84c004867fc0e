"""Noticing that SQL which SQLite does not compile is PostgreSQL's."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Final

from birdenv.grading.em_esm import PairVerdict
from birdenv.sql import sql_tokens

_DOES_NOT_COMPILE: Final = ("syntax: ", "missing: no such function: ")
_SHOWN: Final = 100  # characters of the error
_MARKS: Final = frozenset(
    {
        "::",
        "ILIKE",
        "LATERAL",
        "EXTRACT",
        "INTERVAL",
        "ARRAY_AGG",
        "DATE_PART",
        "DATE_TRUNC",
        "GENERATE_SERIES",
        "SPLIT_PART",
        "STRING_AGG",
        "TO_CHAR",
        "TO_DATE",
        "TO_TIMESTAMP",
    }
)
"""What PostgreSQL's queries are full of and SQLite has not."""


def postgres_note(verdicts: Sequence[PairVerdict]) -> str:
    """A line for people about pairs that ran on SQLite and look like PostgreSQL's; empty if none does."""
    found = [idx for idx, verdict in enumerate(verdicts) if _is_marked(verdict)]
    if not found:
        return ""
    error = shorten(verdicts[found[0]].error or "", _SHOWN)
    return (
        f"{len(found)} of {len(verdicts)} pairs have SQL that SQLite does not compile and that reads like "
        f"PostgreSQL's (the first: pair {found[0]}, {error}); if it is PostgreSQL's, run all of it there: "
        "--dialect postgres"
    )


def _is_marked(verdict: PairVerdict) -> bool:
    if verdict.error is None or not verdict.error.startswith(_DOES_NOT_COMPILE):
        return False
    sql = verdict.gold.sql if verdict.side == "gold" else verdict.pred.sql
    try:
        return any(token.text.upper() in _MARKS for token in sql_tokens(sql, "postgres"))
    except ValueError:  # a quote that never ends
        return False
