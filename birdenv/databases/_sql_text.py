"""SQLite's lexical rules: tokens, where a statement ends, what it starts with, one spelling of a text.

Nothing here decides what is safe to run (the authorizer does, after SQLite has parsed the text): this cuts
scripts, names the kind of a statement, and compares definitions.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

__all__ = [
    "Token",
    "first_keyword",
    "folded",
    "normalised",
    "quoted",
    "spelling",
    "split_statements",
    "tokens",
    "unquoted",
]

_TOKEN = re.compile(
    r"""
      (?P<space>   [ \t\n\v\f\r\ufeff]++ )
    | (?P<comment> --[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/)? )
    | (?P<string>  '[^']*+(?:''[^']*+)*+'? )
    | (?P<quoted>  "[^"]*+(?:""[^"]*+)*+"? | `[^`]*+(?:``[^`]*+)*+`? | \[[^\]]*+\]? )
    | (?P<word>    [A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+ )
    | (?P<number>  0[xX][0-9a-fA-F]++ | (?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)? )
    | (?P<symbol>  ->>? | \|\| | [<>=!]= | <> | << | >> | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_TO_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN_NAME = re.compile(r"[a-z_\x80-\U0010ffff][a-z0-9_$\x80-\U0010ffff]*")
_TRIGGER_HEAD = re.compile(r"(EXPLAIN (QUERY PLAN )?)?CREATE (TEMP |TEMPORARY )?TRIGGER")
_LONGEST_HEAD = 6  # tokens: EXPLAIN QUERY PLAN CREATE TEMPORARY TRIGGER


_FIRST_WORD = re.compile(r"[ \t\n]*([A-Za-z]+)[ \t\n]")  # of nearly all texts


class Token(NamedTuple):
    """One piece of SQL that means something: never white space or a comment."""

    kind: str
    """`string`, `quoted` (an identifier in any of SQLite's three quotes), `word`, `number` or `symbol`."""
    text: str
    end: int
    """Where the token ends in the text, in characters."""


def tokens(sql: str) -> Iterator[Token]:
    """The tokens of any text, in order; unterminated quotes and comments reach to the end."""
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or "symbol"
        if kind not in ("space", "comment"):
            yield Token(kind, match.group(), match.end())


def split_statements(sql: str) -> list[str]:
    """Cut a script into its statements, each without its `;` and the white space and comments after it.

    Semicolons in quotes, comments and trigger bodies do not cut. Pieces that hold nothing but white space
    and comments are dropped; text after the last `;` is a statement. A trigger ends where
    `sqlite3_complete()` says: at `; END ;`.
    """
    pieces: list[str] = []
    start = end = 0  # of the piece being read; `end` stays behind `start` while it holds no token
    head: list[str] = []  # the first tokens of the piece, up to `_LONGEST_HEAD`
    is_trigger = False
    before, last = "", ""  # the two latest tokens of the piece
    for token in tokens(sql):
        if token.text == ";" and (not is_trigger or (before == ";" and last == "END")):
            if end > start:
                pieces.append(sql[start:end].strip())
            start, head, is_trigger, before, last = token.end, [], False, "", ""
            continue
        end = token.end
        before, last = last, _upper(token.text) if token.kind == "word" else token.text[:1]
        if len(head) < _LONGEST_HEAD and not is_trigger:
            head.append(last)
            is_trigger = _TRIGGER_HEAD.fullmatch(" ".join(head)) is not None
    if end > start:
        pieces.append(sql[start:end].strip())
    return pieces


def first_keyword(sql: str) -> str:
    """The first token after comments and opening parentheses, in upper case; empty for blank text."""
    plain = _FIRST_WORD.match(sql)
    if plain is not None:
        return plain[1].upper()
    for token in tokens(sql):
        if token.text not in ("(", ";"):
            return _upper(token.text)
    return ""


def folded(name: str) -> str:
    """A name as SQLite compares names: A to Z in lower case, every other character as it is."""
    return name.lower() if name.isascii() else name.translate(_TO_LOWER)


def _upper(word: str) -> str:
    return word.upper() if word.isascii() else word


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    """A name or string without its quotes, of whichever kind; text without quotes as it is."""
    if text[0] not in "'\"`[":
        return text
    return text[1:-1].replace(text[0] * 2, text[0]) if text[0] != "[" else text[1:-1]


def spelling(token: Token) -> str:
    """One spelling for a token: names in lower case and without needless quotes, strings as they are."""
    if token.kind == "word":
        return folded(token.text)
    if token.kind == "quoted":
        name = folded(unquoted(token.text))
        return name if _PLAIN_NAME.fullmatch(name) else quoted(name)
    return {"<>": "!=", "==": "="}.get(token.text, token.text)


def normalised(sql: str) -> str:
    """`sql` with one space between tokens, one spelling for each, and no comments."""
    return " ".join(map(spelling, tokens(sql)))
