"""The tokens of a query by dialect: SQLite's rules (`_sql_text`) or PostgreSQL's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from birdenv.databases._sql_text import Token, tokens

__all__ = ["sql_tokens"]

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
