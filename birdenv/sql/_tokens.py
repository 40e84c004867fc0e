"""SQLite's lexical rules: tokens, where a statement ends, what it starts with, one spelling of a text.

Nothing here decides what is safe to run (the authorizer does, after SQLite has parsed the text): this cuts
scripts, names the kind of a statement, and compares definitions.

The tokens of a query by dialect: SQLite's rules or PostgreSQL's.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

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


# Outside comments. `E'...'` has backslash escapes; the other prefixes (B, X, N, U&) belong to the text too.
_POSTGRES_TOKEN = re.compile(
    r"""
      (?P<space>   [ \t\n\v\f\r]++ | --[^\n\r]*+ )
    | (?P<comment> /\* )
    | (?P<string>  [eE]'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+(?P<end_e>')?
                 | (?:[bBxXnN]|[uU]&)?'[^']*+(?:''[^']*+)*+(?P<end_s>')? )
    | (?P<quoted>  (?:[uU]&)?"[^"]*+(?:""[^"]*+)*+(?P<end_d>")? )
    | (?P<dollar>  \$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)?\$ )
    | (?P<word>    [A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+ )
    | (?P<number>  0[xX](?:_?[0-9a-fA-F])++ | 0[oO](?:_?[0-7])++ | 0[bB](?:_?[01])++
                 | (?:[0-9](?:_?[0-9])*+(?:\.(?!\.)(?:[0-9](?:_?[0-9])*+)?)?|\.[0-9](?:_?[0-9])*+)
                   (?:[eE][+-]?[0-9](?:_?[0-9])*+)? )
    | (?P<param>   \$[0-9]++ )
    | (?P<symbol>  :: | := | \.\. | [-+*/<>=~!@\#%^&|`?] | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATOR = re.compile(r"[-+*/<>=~!@#%^&|`?]+")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_SIGN_ENDS = frozenset("~!@#%^&|`?")


def sql_tokens(sql: str, dialect: str) -> list[Token]:
    """The tokens of a text in order, without white space and comments.

    `dialect`: `sqlite` or `postgres`. Kinds are those of `Token`; a string's token holds its prefix (`E`,
    `x`) and its quotes, dollar quotes with their tags. Raises `ValueError` for a quote, or in PostgreSQL a
    comment, that never ends.
    """
    if dialect == "postgres":
        return list(_postgres(sql))
    return list(_sqlite(sql))


def _sqlite(sql: str) -> Iterator[Token]:
    blob: Token | None = None  # an `x` which a string may follow at once
    for token in tokens(sql):
        if token.kind in ("string", "quoted") and not _is_closed(token.text):
            raise ValueError(f"unterminated {token.text[0]} in the SQL")
        start = token.end - len(token.text)
        if blob is not None and (token.kind != "string" or start != blob.end):
            yield blob
            blob = None
        if blob is not None:
            token, blob = Token("string", blob.text + token.text, token.end), None
        elif token.kind == "word" and token.text in ("x", "X"):
            blob = token
            continue
        yield token
    if blob is not None:
        yield blob


def _is_closed(text: str) -> bool:
    return text.endswith("]") if text[0] == "[" else text.count(text[0]) % 2 == 0


def _postgres(sql: str) -> Iterator[Token]:
    place = 0
    while match := _POSTGRES_TOKEN.match(sql, place):
        place = match.end()
        kind = match.lastgroup or "symbol"
        if kind in ("string", "quoted") and not any(match[end] for end in ("end_e", "end_s", "end_d")):
            raise ValueError(f"unterminated {match.group()[:1]} in the SQL")
        if kind == "comment":
            place = _comment_end(sql, place)
        elif kind == "dollar":
            end = sql.find(match.group(), place)
            if end < 0:
                raise ValueError(f"unterminated {match.group()} in the SQL")
            place = end + len(match.group())
            yield Token("string", sql[match.start() : place], place)
        elif kind == "symbol" and (operator := _OPERATOR.match(sql, match.start())):
            text = _one_operator(operator.group())
            place = match.start() + len(text)
            yield Token("symbol", text, place)
        elif kind != "space":
            yield Token("number" if kind == "param" else kind, match.group(), place)


def _comment_end(sql: str, place: int) -> int:
    """Where a block comment ends that began before `place`; comments nest."""
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(sql, place)
        if edge is None:
            raise ValueError("unterminated /* in the SQL")
        depth += 1 if edge.group() == "/*" else -1
        place = edge.end()
    return place


def _one_operator(text: str) -> str:
    """The first operator of a run of operator characters, by PostgreSQL's rules (manual, §4.1.3).

    It ends before a comment; it may end in + or - only if it holds one of ~ ! @ # % ^ & | ` ?.
    """
    for edge in ("--", "/*"):
        at = text.find(edge)
        if at > 0:
            text = text[:at]
    if not _SIGN_ENDS & set(text):
        while len(text) > 1 and text[-1] in "+-":
            text = text[:-1]
    return text
