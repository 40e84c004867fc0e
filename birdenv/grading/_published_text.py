"""What the published c-Interact evaluators cut out of SQL before they compare (BIRD-Interact §4.2).

They work on the text, not on the SQL: what they do to string literals, names and operators is part of the
published scores, so it is repeated here, edge cases and all. Never use it to clean SQL.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["published_text", "without_comments", "without_distinct", "without_round"]

_MOST_ROUNDS: Final = 100
"""ROUND calls taken out of one text: more are in no benchmark, and each costs a pass over the text."""

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_BLANK_LINES: Final = re.compile(r"\n\s*\n+")
_ROUND: Final = re.compile(r"ROUND\s*\(", re.IGNORECASE)
_PUNCTUATION: Final = re.compile(r"[(),]")


def published_text(sql: str) -> str:
    """All three cuts, in the published order: comments, DISTINCT, ROUND."""
    return without_round(without_distinct(without_comments(sql)))


def without_comments(sql: str) -> str:
    """Without `/*...*/`, and without `--...` where a line end follows; blank lines are joined, ends trimmed.

    A `--` comment at the end of the text stays, and what looks like a comment in a string literal goes.

    >>> without_comments("SELECT '/*x*/' /* a */ -- b")
    "SELECT ''  -- b"
    """
    return _BLANK_LINES.sub("\n", _without_line_comments(_without_block_comments(sql))).strip()


def without_distinct(sql: str) -> str:
    """Without the word DISTINCT wherever single spaces, or the text's ends, stand on both sides of it.

    >>> without_distinct("SELECT DISTINCT COUNT(DISTINCT a), a IS DISTINCT FROM b")
    'SELECT COUNT(DISTINCT a), a IS FROM b'
    """
    return " ".join(word for word in sql.split(" ") if word.lower() != "distinct")


def without_round(sql: str) -> str:
    """Each `ROUND(...)`, from the left, replaced by its first argument, without parentheses around it.

    Any name that ends in "round" counts, quotes mean nothing, and a call that does not close ends it.

    >>> without_round("SELECT ROUND(a + b, 2) * 100, background(a, b)")
    'SELECT a + b * 100, backga'
    """
    for _ in range(_MOST_ROUNDS):
        call = _ROUND.search(sql)
        if call is None:
            break
        argument_end, end = _argument_and_call_end(sql, call.end())
        if end < 0:
            break
        sql = sql[: call.start()] + sql[call.end() : argument_end].strip() + sql[end:]
    return sql


def _argument_and_call_end(sql: str, start: int) -> tuple[int, int]:
    """Where the first argument that begins at `start` ends, and where its call does (-1 if it never does)."""
    depth, argument_end = 0, -1
    for mark in _PUNCTUATION.finditer(sql, start):
        if mark.group() == "(":
            depth += 1
        elif depth > 0:
            depth -= mark.group() == ")"
        else:
            if argument_end < 0:
                argument_end = mark.start()
            if mark.group() == ")":
                return argument_end, mark.end()
    return -1, -1


def _without_block_comments(sql: str) -> str:
    pieces, place = [], 0
    while (start := sql.find("/*", place)) >= 0 and (end := sql.find("*/", start + 2)) >= 0:
        pieces.append(sql[place:start])
        place = end + 2
    return "".join([*pieces, sql[place:]])


def _without_line_comments(sql: str) -> str:
    pieces, place = [], 0
    while (start := sql.find("--", place)) >= 0 and (newline := _NEWLINE.search(sql, start + 2)):
        pieces.append(sql[place:start])
        place = newline.start()
    return "".join([*pieces, sql[place:]])
