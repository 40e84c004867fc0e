"""Exact match (EM): the spelling of a query in which what cannot matter is gone. Literals are never touched.

Levels: `strict` is the text itself without the white space around it. `conservative` drops comments, puts one
space between tokens and writes keywords in upper case. `folded` besides that writes unquoted names as the
dialect compares them (lower case), drops quotes that a name does not need, and writes `<>` as `!=` (in SQLite
`==` as `=` too). Nothing is reordered, and no alias is renamed.

SQLite takes a word in double quotes for a string where no column has that name. So its quotes are dropped
only where it is certainly a name: beside a dot, after FROM, JOIN or AS, or if either query of the pair has
the same name without quotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

from birdenv.grading.em_esm._keywords import KEYWORDS
from birdenv.sql import Token, sql_tokens

EmLevel: TypeAlias = Literal["strict", "conservative", "folded"]
EM_LEVELS: Final[tuple[EmLevel, ...]] = get_args(EmLevel)
_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_SQLITE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_NAMES: Final[frozenset[str]] = frozenset()


def em_keys(gold: str, pred: str, dialect: str, level: EmLevel = "conservative") -> tuple[str, str]:
    """The keys of a pair, as `em_key`; what is a name in one query is one in the other."""
    names = _certain_names(gold, dialect) | _certain_names(pred, dialect) if level == "folded" else _NO_NAMES
    return em_key(gold, dialect, level, names), em_key(pred, dialect, level, names)


def _certain_names(sql: str, dialect: str) -> frozenset[str]:
    """Words without quotes that are no keywords, in lower case."""
    try:
        words = [token.text for token in sql_tokens(sql, dialect) if token.kind == "word"]
    except ValueError:
        return _NO_NAMES
    return frozenset(_lower(word) for word in words if not _is_keyword(word, dialect))


def em_key(sql: str, dialect: str, level: EmLevel = "conservative", names: frozenset[str] = _NO_NAMES) -> str:
    """The key of a query: two queries match exactly if their keys are equal.

    `dialect`: `sqlite` or `postgres`. `names`: words in lower case that are names of the database also where
    they stand in double quotes. Text with a quote that never ends is its own key, without the white space
    around it.
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
        return spelt if spelt != token.text or _is_keyword(token.text, dialect) else _lower(token.text)
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
        or _lower(name) in names
    )
    plain = _SQLITE_NAME.fullmatch(name) and not _is_keyword(name, dialect)
    return _lower(name) if is_certain and plain else text


def _is_keyword(word: str, dialect: str) -> bool:
    return word.isascii() and word.lower() in KEYWORDS[dialect]


def _is_qualified(tokens: Sequence[Token], place: int) -> bool:
    """Whether a dot stands in front: then it is a name, whatever it looks like."""
    return place > 0 and tokens[place - 1].text == "."


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""


def _lower(name: str) -> str:
    """As the engines do: ASCII letters only."""
    return name.lower() if name.isascii() else "".join(c.lower() if c.isascii() else c for c in name)
