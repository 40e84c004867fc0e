"""Take the DISTINCT of the outermost SELECT out of a query, by token, leaving every other character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from birdenv.databases import LONGEST_SQL

__all__ = ["without_outer_distinct"]

_NOT_ONE_SELECT: Final = frozenset(
    {"UNION", "EXCEPT", "INTERSECT", "SEMICOLON", "INSERT", "UPDATE", "DELETE", "MERGE"}
)


class _Token(NamedTuple):
    kind: str
    start: int
    end: int


def without_outer_distinct(sql: str, dialect: str) -> str:
    """`sql` without the DISTINCT keyword of its single outermost SELECT (BIRD-Interact §7.4, strict).

    Unchanged: DISTINCT ON, DISTINCT in aggregates, sub-queries, CTEs and `IS DISTINCT FROM`; a query whose
    outermost level is a set operation; several statements, or one that is no plain SELECT or WITH ... SELECT;
    text that sqlglot cannot cut into tokens of `dialect`; text longer than `LONGEST_SQL`, which no database
    runs.
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
    """The tokens by sqlglot's names, comments left out; none if it cannot read the text."""
    from sqlglot import tokenize
    from sqlglot.errors import SqlglotError

    try:
        return [_Token(token.token_type.name, token.start, token.end + 1) for token in tokenize(sql, dialect)]
    except SqlglotError:
        return []


def _unwrapped(tokens: list[_Token]) -> list[_Token]:
    """The tokens without semicolons at the end and parentheses around the whole statement."""
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
    """Where each parenthesis closes, by where it opens."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind == "L_PAREN":
            opened.append(i)
        elif token.kind == "R_PAREN" and opened:
            closing[opened.pop()] = i
    return closing


def _outermost(tokens: list[_Token]) -> list[int]:
    """Which tokens stand outside all parentheses, the outermost parentheses themselves included."""
    places, depth = [], 0
    for i, token in enumerate(tokens):
        depth -= token.kind == "R_PAREN"
        if depth <= 0:
            places.append(i)
        depth += token.kind == "L_PAREN"
    return places
