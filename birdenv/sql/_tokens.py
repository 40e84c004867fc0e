"""Split SQL text into tokens by the lexical rules of SQLite, PostgreSQL, or both.

This module does not decide which SQL is safe to run: the engines do that, after parsing the text. All
functions run in linear time, even for malicious text.

`tokens` splits any text by SQLite's rules. `sql_tokens` splits a query by the rules of a dialect, and raises
an error for unterminated quotes. `stretches` splits text in an unknown dialect, such as a model's answer, and
keeps every character.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache, partial
from typing import Final, NamedTuple

LONGEST_SQL: Final = 1_000_000
"""The maximum length of SQL in characters. Longer text is refused before it is analysed."""

_compiled = cache(partial(re.compile, flags=re.VERBOSE | re.DOTALL))
"""Compiles a pattern at its first use, because compiling is slow and few processes need all patterns."""

# Common patterns. Those of quotes do not include the closing quote.
_STRING: Final = r"'[^']*+(?:''[^']*+)*+"
_ESCAPED: Final = r"[eE]'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+"
_NAME: Final = r'"[^"]*+(?:""[^"]*+)*+'
_BACKTICKED: Final = r"`[^`]*+(?:``[^`]*+)*+"
_WORD: Final = r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+"
_DOLLAR: Final = r"\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)?\$"

_SQLITE: Final = rf"""
      (?P<space>   [ \t\n\v\f\r\ufeff]++ )
    | (?P<comment> --[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/)? )
    | (?P<string>  {_STRING}'? )
    | (?P<quoted>  {_NAME}"? | {_BACKTICKED}`? | \[[^\]]*+\]? )
    | (?P<word>    {_WORD} )
    | (?P<number>  0[xX][0-9a-fA-F]++ | (?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)? )
    | (?P<symbol>  ->>? | \|\| | [<>=!]= | <> | << | >> | . )
    """
# `E'...'` has backslash escapes; the other prefixes (B, X, N, U&) are part of the token, too.
_POSTGRES: Final = rf"""
      (?P<space>   [ \t\n\v\f\r]++ | --[^\n\r]*+ )
    | (?P<comment> /\* )
    | (?P<string>  {_ESCAPED}(?P<end_e>')? | (?:[bBxXnN]|[uU]&)?{_STRING}(?P<end_s>')? )
    | (?P<quoted>  (?:[uU]&)?{_NAME}(?P<end_d>")? )
    | (?P<dollar>  {_DOLLAR} )
    | (?P<word>    {_WORD} )
    | (?P<number>  0[xX](?:_?[0-9a-fA-F])++ | 0[oO](?:_?[0-7])++ | 0[bB](?:_?[01])++
                 | (?:[0-9](?:_?[0-9])*+(?:\.(?!\.)(?:[0-9](?:_?[0-9])*+)?)?|\.[0-9](?:_?[0-9])*+)
                   (?:[eE][+-]?[0-9](?:_?[0-9])*+)? )
    | (?P<param>   \$[0-9]++ )
    | (?P<symbol>  :: | := | \.\. | [-+*/<>=~!@\#%^&|`?] | . )
    """
# Quotes and comments of either dialect. Brackets quote a name only if it is short and contains no quote,
# because in PostgreSQL they belong to an array.
_EITHER: Final = rf"""
      (?P<space>   \s++ )
    | (?P<comment> --[^\n]*+ )
    | (?P<block>   /\* )
    | (?P<quoted>  (?<![\w$]){_ESCAPED}(?P<end_e>')? | {_STRING}(?P<end_s>')? | {_NAME}(?P<end_d>")?
                 | {_BACKTICKED}(?P<end_b>`)? | (?P<end_s_b>\[[^\]'"`\n]{{0,128}}\]) )
    | (?P<dollar>  (?<![\w$])\$(?:[^\W\d]\w*+)?\$ )
    | (?P<word>    \w++ )
    | (?P<symbol>  . )
    """
# Tokens that may end a PostgreSQL statement, or contain text that looks like its end.
_STOP: Final = rf"""
      (?P<symbol>  [;()] )
    | (?P<space>   --[^\n]*+ )
    | (?P<comment> /\* )
    | (?P<string>  \b{_ESCAPED}(?P<end_e>')? | {_STRING}(?P<end_s>')? )
    | (?P<quoted>  {_NAME}(?P<end_d>")? )
    | (?P<dollar>  (?<![A-Za-z0-9_$\x80-\U0010ffff]){_DOLLAR} )
    """
_POSTGRES_ENDS: Final = ("end_e", "end_s", "end_d")
_EITHER_ENDS: Final = (*_POSTGRES_ENDS, "end_b", "end_s_b")
_ANY_DOLLAR: Final = re.compile(r"(?=(\$(?:[^\W\d]\w*+)?\$))")
_OPERATORS: Final = re.compile(r"(?:(?!--|/\*)[-+*/<>=~!@#%^&|`?])++")
_COMMENT_EDGE: Final = re.compile(r"/\*|\*/")
_SIGN_ENDS: Final = frozenset("~!@#%^&|`?")
_TO_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN_NAME: Final = re.compile(r"[a-z_\x80-\U0010ffff][a-z0-9_$\x80-\U0010ffff]*")


class UnterminatedError(ValueError):
    """A quote or comment is not terminated. `opening` is the text that begins it."""

    def __init__(self, opening: str) -> None:
        super().__init__(f"unterminated {opening} in the SQL")
        self.opening = opening


class Token(NamedTuple):
    """An SQL token. White space and comments are not tokens.

    Attributes:
        kind: `string`, `quoted` (an identifier in any kind of quotes that SQLite allows), `word`, `number` or
            `symbol`.
        text: the text of the token.
        end: the position after the token, in characters from the start of the SQL.
    """

    kind: str
    text: str
    end: int


def tokens(sql: str) -> Iterator[Token]:
    """Yield the tokens in SQL text by SQLite's rules.

    An unterminated quote or comment extends to the end of the text.
    """
    for match in _compiled(_SQLITE).finditer(sql):
        kind = match.lastgroup or "symbol"
        if kind not in ("space", "comment"):
            yield Token(kind, match.group(), match.end())


def folded(name: str) -> str:
    """Return a name with ASCII letters in lower case. SQLite ignores case only for these letters."""
    return name.lower() if name.isascii() else name.translate(_TO_LOWER)


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    """Remove quotes of any kind from around a name or string."""
    if text[0] not in "'\"`[":
        return text
    return text[1:-1].replace(text[0] * 2, text[0]) if text[0] != "[" else text[1:-1]


def spelling(token: Token) -> str:
    """Return a token in a normal form: words become lower case, and names lose unnecessary quotes."""
    if token.kind == "word":
        return folded(token.text)
    if token.kind == "quoted":
        name = folded(unquoted(token.text))
        return name if _PLAIN_NAME.fullmatch(name) else quoted(name)
    return {"<>": "!=", "==": "="}.get(token.text, token.text)


def normalised(sql: str) -> str:
    """Return SQL in a normal form: its tokens in normal form, joined by spaces, without comments."""
    return " ".join(map(spelling, tokens(sql)))


def sql_tokens(sql: str, dialect: str) -> list[Token]:
    """Split a query into tokens by the rules of a dialect. White space and comments are dropped.

    Args:
        sql: the query.
        dialect: `sqlite` or `postgres`.

    Returns:
        The tokens in order. A string's token includes its prefix (`E`, `x`) and its quotes or dollar tags.

    Raises:
        ValueError: a quote or, in PostgreSQL, a comment is not terminated, or the text is longer than
            `LONGEST_SQL`.
    """
    if len(sql) > LONGEST_SQL:
        raise ValueError(f"the SQL is longer than {LONGEST_SQL} characters")
    return list(postgres_tokens(sql) if dialect == "postgres" else _sqlite_tokens(sql))


def _sqlite_tokens(sql: str) -> Iterator[Token]:
    blob: Token | None = None  # an `x` that may be the prefix of a string
    for token in tokens(sql):
        if token.kind in ("string", "quoted") and not _is_closed(token.text):
            raise UnterminatedError(token.text[0])
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


def postgres_tokens(sql: str, place: int = 0) -> Iterator[Token]:
    """Yield the tokens in SQL text from a position on, by PostgreSQL's rules.

    Raises `UnterminatedError` at an unterminated quote or comment, after yielding the tokens before it.
    """
    while match := _compiled(_POSTGRES).match(sql, place):
        kind = match.lastgroup or "symbol"
        place = _end(match, kind)
        if kind == "symbol" and (operators := _OPERATORS.match(sql, match.start())):
            yield from _single_operators(operators)
            place = operators.end()
        elif kind == "dollar":
            yield Token("string", sql[match.start() : place], place)
        elif kind not in ("space", "comment"):
            yield Token("number" if kind == "param" else kind, match.group(), place)


def _single_operators(run: re.Match[str]) -> Iterator[Token]:
    """Yield the operators in a run of operator characters, by PostgreSQL's rules (manual, §4.1.3).

    An operator ends before a comment. It may end in + or - only if it contains one of ~ ! @ # % ^ & | ` ?.
    """
    text, start = run.group(), run.start()
    first = len(text) if _SIGN_ENDS & set(text) else len(text.rstrip("+-"))
    if first:
        yield Token("symbol", text[:first], start + first)
    for place in range(first, len(text)):
        yield Token("symbol", text[place], start + place + 1)


def postgres_stops(script: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield each semicolon and parenthesis outside of quotes and comments, with the position after it.

    The search begins at `start`. For dumps, this is several times faster than `postgres_tokens`. Raises
    `UnterminatedError` at an unterminated quote or comment.
    """
    place = start
    while match := _compiled(_STOP).search(script, place):
        kind = match.lastgroup or "symbol"
        place = _end(match, kind)
        if kind == "symbol":
            yield match.group(), place


def _end(match: re.Match[str], kind: str) -> int:
    """Return the end of a PostgreSQL token. For a comment or dollar quote, find the end in the text first."""
    sql, place = match.string, match.end()
    if kind in ("string", "quoted") and not any(map(match.group, _POSTGRES_ENDS)):
        raise UnterminatedError(match.group()[:1])
    if kind == "comment":
        return comment_end(sql, place)
    if kind == "dollar":
        end = sql.find(match.group(), place)
        if end < 0:
            raise UnterminatedError(match.group())
        return end + len(match.group())
    return place


def comment_end(sql: str, place: int) -> int:
    """Return the position after a PostgreSQL block comment, which can contain nested block comments.

    `place` is a position after the opening `/*`. Raises `UnterminatedError` if the comment is not terminated.
    """
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(sql, place)
        if edge is None:
            raise UnterminatedError("/*")
        depth += 1 if edge.group() == "/*" else -1
        place = edge.end()
    return place


class Stretch(NamedTuple):
    """A part of SQL text in an unknown dialect. The stretches cover the text without gaps.

    Attributes:
        kind: `space`, `comment`, `quoted` (in any kind of quotes), `word` (or number) or `symbol` (one
            character).
        text: the text of the stretch.
        start: the position of the stretch in the whole text.
        is_closed: False for an unterminated quote or block comment, which extends to the end of the text.
    """

    kind: str
    text: str
    start: int
    is_closed: bool

    @property
    def end(self) -> int:
        """Return the position after the stretch in the whole text."""
        return self.start + len(self.text)


def stretches(text: str) -> Iterator[Stretch]:
    """Split SQL text in an unknown dialect into stretches. A quote in either dialect is a single stretch.

    A block comment ends at the first `*/`, as in SQLite. If a dollar quote is not terminated, its `$` is a
    symbol.
    """
    closings = {match[1]: match.start() for match in _ANY_DOLLAR.finditer(text)} if "$" in text else {}
    last_comment_end = text.rfind("*/")
    place = 0
    while match := _compiled(_EITHER).match(text, place):
        start, place = match.span()
        kind, is_closed = match.lastgroup or "symbol", True
        if kind == "quoted":
            is_closed = any(map(match.group, _EITHER_ENDS))
        elif kind == "block":
            kind, is_closed = "comment", last_comment_end >= place
            place = text.index("*/", place) + 2 if is_closed else len(text)
        elif kind == "dollar":
            tag = match.group()
            kind, place = (
                ("quoted", text.index(tag, place) + len(tag))
                if closings[tag] >= place
                else ("symbol", start + 1)
            )
        yield Stretch(kind, text[start:place], start, is_closed)
