"""Remove DISTINCT, ROUND and comments from SQL before results are compared.

`without_outer_distinct` removes a single token, and keeps all other text (BIRD-Interact §7.4).

The published c-Interact evaluators (§4.2) edit SQL without parsing it, and so they also change string
literals, names and operators. Published scores depend on these edits, so `reference_text` reproduces them
exactly. Never use it to clean SQL.
"""

from __future__ import annotations

import re
from typing import Final

from birdenv.sql import Token, sql_tokens

_NOT_ONE_SELECT: Final = frozenset(
    {"UNION", "EXCEPT", "INTERSECT", ";", "INSERT", "UPDATE", "DELETE", "MERGE"}
)


def without_outer_distinct(sql: str, dialect: str) -> str:
    """Remove the DISTINCT keyword from the single outermost SELECT (BIRD-Interact §7.4, strict).

    The following SQL is returned unchanged: DISTINCT ON; DISTINCT in aggregates, sub-queries, CTEs and `IS
    DISTINCT FROM`; a query whose outermost level is a set operation; several statements; statements other
    than SELECT and WITH ... SELECT; text with an unterminated quote; and text longer than `LONGEST_SQL`.
    """
    if "DISTINCT" not in sql.upper():
        return sql
    try:
        tokens = _unwrapped(sql_tokens(sql, dialect))
    except ValueError:
        return sql
    words = [token.text.upper() for token in tokens]
    outer = _outermost(words)
    selects = [i for i in outer if words[i] == "SELECT"]
    if words[:1] not in (["SELECT"], ["WITH"]) or len(selects) != 1:
        return sql
    place = selects[0] + 1
    if not _NOT_ONE_SELECT.isdisjoint(words[i] for i in outer) or words[place : place + 1] != ["DISTINCT"]:
        return sql
    end = tokens[place].end
    return sql if words[place + 1 : place + 2] == ["ON"] else sql[: end - len("DISTINCT")] + sql[end:]


def _unwrapped(tokens: list[Token]) -> list[Token]:
    """Return the tokens of a statement without final semicolons, and without parentheses around all of it."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.text == "(":
            opened.append(i)
        elif token.text == ")" and opened:
            closing[opened.pop()] = i
    start, end = 0, len(tokens)
    while start < end:
        if tokens[end - 1].text == ";":
            end -= 1
        elif closing.get(start) == end - 1:
            start, end = start + 1, end - 1
        else:
            break
    return tokens[start:end]


def _outermost(words: list[str]) -> list[int]:
    """Return the positions of the words that are outside parentheses, and of the outermost parentheses."""
    places, depth = [], 0
    for i, word in enumerate(words):
        depth -= word == ")"
        if depth <= 0:
            places.append(i)
        depth += word == "("
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
    """Remove comments (`/*...*/`, and `--...` up to the end of the line), blank lines and outer white space.

    A `--` comment at the end of the text is kept, and text in string literals that looks like a comment is
    removed.

    >>> without_comments("SELECT '/*x*/' /* a */ -- b")
    "SELECT ''  -- b"
    """
    return _BLANK_LINES.sub("\n", _without_line_comments(_without_block_comments(sql))).strip()


def without_distinct(sql: str) -> str:
    """Remove the word DISTINCT wherever it stands between single spaces, or at either end of the text.

    >>> without_distinct("SELECT DISTINCT COUNT(DISTINCT a), a IS DISTINCT FROM b")
    'SELECT COUNT(DISTINCT a), a IS FROM b'
    """
    return " ".join(word for word in sql.split(" ") if word.lower() != "distinct")


def without_round(sql: str) -> str:
    """Replace each call `ROUND(...)` with its first argument, without parentheses.

    Calls are replaced from left to right, up to the first call without a closing parenthesis. Quotes are
    ignored, and any name that ends in "round" counts as a call.

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
