"""Exact match (EM): compare the text of queries, ignoring differences that cannot matter.

Queries are compared at one of three levels. `strict` ignores only outer white space. `conservative` also
ignores comments, white space between tokens, and the case of keywords. `folded` also ignores the case of
unquoted names, unnecessary quotes around names, and whether an operator is written as `<>` or `!=` (in SQLite
also `==` or `=`). At no level are literals changed, parts reordered, or aliases renamed.

SQLite treats a word in double quotes as a string if no column has that name. Therefore the quotes are ignored
only if the word is certainly a name: next to a dot, after FROM, JOIN or AS, or if either query of the pair
uses the same name without quotes.

The files in `keywords` hold the keywords from sqlite.org/lang_keywords.html, and from `pg_get_keywords()` in
PostgreSQL 18.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from birdenv.sql import Token, folded, sql_tokens

KEYWORDS: Final = {
    path.stem: frozenset(path.read_text("utf-8").split())
    for path in Path(__file__).with_name("keywords").glob("*.txt")
}


EmLevel: TypeAlias = Literal["strict", "conservative", "folded"]
EM_LEVELS: Final[tuple[EmLevel, ...]] = get_args(EmLevel)
_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_SQLITE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_NAMES: Final[frozenset[str]] = frozenset()


def em_keys(gold: str, pred: str, dialect: str, level: EmLevel = "conservative") -> tuple[str, str]:
    """Return the keys (`em_key`) of two queries. The queries match if their keys are equal.

    At level `folded`, a word in double quotes counts as a name if the other query uses the same word as an
    unquoted name.
    """
    names = _certain_names(gold, dialect) | _certain_names(pred, dialect) if level == "folded" else _NO_NAMES
    return em_key(gold, dialect, level, names), em_key(pred, dialect, level, names)


def _certain_names(sql: str, dialect: str) -> frozenset[str]:
    """Return all unquoted words that are not keywords, in lower case."""
    try:
        words = [token.text for token in sql_tokens(sql, dialect) if token.kind == "word"]
    except ValueError:
        return _NO_NAMES
    return frozenset(folded(word) for word in words if not _is_keyword(word, dialect))


def em_key(sql: str, dialect: str, level: EmLevel = "conservative", names: frozenset[str] = _NO_NAMES) -> str:
    """Return a key that is equal for all queries that match each other at the given level.

    If the query has an unterminated quote, the key is the query itself with outer white space removed.

    Args:
        sql: the query to normalise.
        dialect: `sqlite` or `postgres`.
        level: the level, as described in the module's docstring.
        names: words in lower case that are names (not strings) even in double quotes.
    """
    if level == "strict":
        return sql.strip()
    try:
        tokens = sql_tokens(sql, dialect)
    except ValueError:
        return sql.strip()
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if level == "folded":
        return " ".join(_folded(tokens, place, dialect, names) for place in range(len(tokens)))
    return " ".join(_conservative(tokens, place, dialect) for place in range(len(tokens)))


def _conservative(tokens: Sequence[Token], place: int, dialect: str) -> str:
    token = tokens[place]
    is_keyword = (
        token.kind == "word" and _is_keyword(token.text, dialect) and not _is_qualified(tokens, place)
    )
    return token.text.upper() if is_keyword else token.text


def _folded(tokens: Sequence[Token], place: int, dialect: str, names: frozenset[str]) -> str:
    token = tokens[place]
    if token.kind == "word":
        spelt = _conservative(tokens, place, dialect)
        return spelt if spelt != token.text or _is_keyword(token.text, dialect) else folded(token.text)
    if token.kind == "quoted":
        return _without_needless_quotes(tokens, place, dialect, names)
    if token.text == "<>":
        return "!="
    return "=" if token.text == "==" and dialect == "sqlite" else token.text


def _without_needless_quotes(tokens: Sequence[Token], place: int, dialect: str, names: frozenset[str]) -> str:
    text = tokens[place].text
    name = text[1:-1]
    if dialect == "postgres":
        return name if _PLAIN_NAME.fullmatch(name) and not _is_keyword(name, dialect) else text
    is_certain = (
        text[0] != '"'
        or _is_qualified(tokens, place)
        or _text(tokens, place + 1) == "."
        or _text(tokens, place - 1).upper() in ("FROM", "JOIN", "AS")
        or folded(name) in names
    )
    plain = _SQLITE_NAME.fullmatch(name) and not _is_keyword(name, dialect)
    return folded(name) if is_certain and plain else text


def _is_keyword(word: str, dialect: str) -> bool:
    return word.isascii() and word.lower() in KEYWORDS[dialect]


def _is_qualified(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the token follows a dot, and is therefore a name."""
    return place > 0 and tokens[place - 1].text == "."


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""
