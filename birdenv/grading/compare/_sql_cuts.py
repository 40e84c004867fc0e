"""Remove DISTINCT, ROUND and comments from SQL before results are compared.

`without_outer_distinct` works on tokens, and keeps every other character (BIRD-Interact §7.4).

The published c-Interact evaluators (§4.2) edit the text without regard to SQL syntax, so that they also
change string literals, names and operators. That affects published scores, and `reference_text` does exactly
the same. Never use it to clean SQL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from birdenv.sql import LONGEST_SQL

_NOT_ONE_SELECT: Final = frozenset(
    {"UNION", "EXCEPT", "INTERSECT", "SEMICOLON", "INSERT", "UPDATE", "DELETE", "MERGE"}
)


class _Token(NamedTuple):
    kind: str
    start: int
    end: int


def without_outer_distinct(sql: str, dialect: str) -> str:
    """Remove the DISTINCT keyword of the single outermost SELECT (BIRD-Interact §7.4, strict).

    These remain unchanged: DISTINCT ON; DISTINCT in aggregates, sub-queries, CTEs and `IS DISTINCT FROM`; a
    query whose outermost level is a set operation; several statements; statements other than SELECT and WITH
    ... SELECT; text that sqlglot cannot tokenize in `dialect`; and text longer than `LONGEST_SQL`.
    """
    if len(sql) > LONGEST_SQL or "DISTINCT" not in sql.upper():
        return sql
    tokens = _unwrapped(_tokens(sql, dialect))
    if not tokens or tokens[0].kind not in ("SELECT", "WITH"):
        return sql
    outer = _outermost(tokens)
    selects = [i for i in outer if tokens[i].kind == "SELECT"]
    if len(selects) != 1 or any(tokens[i].kind in _NOT_ONE_SELECT for i in outer):
        return sql
    following = tokens[selects[0] + 1 : selects[0] + 3]
    kinds = [token.kind for token in following]
    if kinds[:1] != ["DISTINCT"] or kinds[1:] == ["ON"]:
        return sql
    _, start, end = following[0]
    return sql[:start] + sql[end:] if sql[start:end].upper() == "DISTINCT" else sql


def _tokens(sql: str, dialect: str) -> list[_Token]:
    """Return sqlglot's tokens without comments, or an empty list if it cannot tokenize the text."""
    from sqlglot import tokenize
    from sqlglot.errors import SqlglotError

    try:
        return [_Token(token.token_type.name, token.start, token.end + 1) for token in tokenize(sql, dialect)]
    except SqlglotError:
        return []


def _unwrapped(tokens: list[_Token]) -> list[_Token]:
    """Return the tokens without final semicolons, and without parentheses around the whole statement."""
    closing = _closing(tokens)
    start, end = 0, len(tokens)
    while start < end:
        if tokens[end - 1].kind == "SEMICOLON":
            end -= 1
        elif closing.get(start) == end - 1:
            start, end = start + 1, end - 1
        else:
            break
    return tokens[start:end]


def _closing(tokens: Sequence[_Token]) -> dict[int, int]:
    """Return the position of each closing parenthesis, by the position of the opening one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind == "L_PAREN":
            opened.append(i)
        elif token.kind == "R_PAREN" and opened:
            closing[opened.pop()] = i
    return closing


def _outermost(tokens: list[_Token]) -> list[int]:
    """Return the positions of tokens outside of parentheses, including the outermost parentheses."""
    places, depth = [], 0
    for i, token in enumerate(tokens):
        depth -= token.kind == "R_PAREN"
        if depth <= 0:
            places.append(i)
        depth += token.kind == "L_PAREN"
    return places


_MOST_ROUNDS: Final = 100
"""Maximum number of ROUND calls that are removed. No benchmark has more, and each needs a pass."""

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_BLANK_LINES: Final = re.compile(r"\n\s*\n+")
_ROUND: Final = re.compile(r"ROUND\s*\(", re.IGNORECASE)
_PUNCTUATION: Final = re.compile(r"[(),]")


def reference_text(sql: str) -> str:
    """Remove comments, DISTINCT and ROUND, in this order, as the published evaluators do."""
    return without_round(without_distinct(without_comments(sql)))


def without_comments(sql: str) -> str:
    """Remove `/*...*/`, and `--...` if a line end follows, as well as blank lines and outer white space.

    A `--` comment at the end of the text is kept, and text in string literals that looks like a comment is
    removed.

    >>> without_comments("SELECT '/*x*/' /* a */ -- b")
    "SELECT ''  -- b"
    """
    return _BLANK_LINES.sub("\n", _without_line_comments(_without_block_comments(sql))).strip()


def without_distinct(sql: str) -> str:
    """Remove the word DISTINCT wherever it is between single spaces, or at an end of the text.

    >>> without_distinct("SELECT DISTINCT COUNT(DISTINCT a), a IS DISTINCT FROM b")
    'SELECT COUNT(DISTINCT a), a IS FROM b'
    """
    return " ".join(word for word in sql.split(" ") if word.lower() != "distinct")


def without_round(sql: str) -> str:
    """Replace each `ROUND(...)`, from the left, by its first argument without parentheses.

    This applies to any name that ends in "round", and ignores quotes. It stops at a call that is not closed.

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
    """Return the end of the argument that begins at `start`, and the end of its call, or -1 and -1."""
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
