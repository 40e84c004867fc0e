"""The tokens of SQL text, by the lexical rules of SQLite, of PostgreSQL, or of both at once.

Nothing here decides what is safe to run: authorizers, roles and rights do, after the engine has parsed the
text. Every function takes time in proportion to its text, whoever wrote it.

`tokens` reads any text by SQLite's rules. `sql_tokens` reads a query by the rules of a dialect and raises for
quotes that never end. `stretches` cuts text whose dialect nobody knows, such as a model's answer, without
losing a character.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache, partial
from typing import Final, NamedTuple

LONGEST_SQL: Final = 1_000_000
"""Characters of SQL in one text; a longer one is refused before anything looks into it."""

_compiled = cache(partial(re.compile, flags=re.VERBOSE | re.DOTALL))
"""On first use: each takes longer than the rest of this room, and few processes need all four."""

# What the dialects have in common; each quote up to, not including, the one that closes it.
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
# Outside comments. `E'...'` has backslash escapes; the other prefixes (B, X, N, U&) belong to the text too.
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
# The quotes and comments of either. Brackets quote a name only if it is short and holds no quote: in
# PostgreSQL they are those of an array.
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
# What may end a statement of PostgreSQL, or hide what does.
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
    """A quote or comment that never ends; `opening` is how it begins."""

    def __init__(self, opening: str) -> None:
        super().__init__(f"unterminated {opening} in the SQL")
        self.opening = opening


class Token(NamedTuple):
    """One piece of SQL that means something: never white space or a comment."""

    kind: str
    """`string`, `quoted` (an identifier in any of SQLite's three quotes), `word`, `number` or `symbol`."""
    text: str
    end: int
    """Where the token ends in the text, in characters."""


def tokens(sql: str) -> Iterator[Token]:
    """Yield the tokens of any text, in order; unterminated quotes and comments reach to the end."""
    for match in _compiled(_SQLITE).finditer(sql):
        kind = match.lastgroup or "symbol"
        if kind not in ("space", "comment"):
            yield Token(kind, match.group(), match.end())


def folded(name: str) -> str:
    """Return a name as SQLite compares names: A to Z in lower case, every other character as it is."""
    return name.lower() if name.isascii() else name.translate(_TO_LOWER)


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    """Return a name or string without its quotes, of whichever kind; text without quotes as it is."""
    if text[0] not in "'\"`[":
        return text
    return text[1:-1].replace(text[0] * 2, text[0]) if text[0] != "[" else text[1:-1]


def spelling(token: Token) -> str:
    """Return one spelling for a token: names in lower case and without needless quotes, strings as they
    are.
    """
    if token.kind == "word":
        return folded(token.text)
    if token.kind == "quoted":
        name = folded(unquoted(token.text))
        return name if _PLAIN_NAME.fullmatch(name) else quoted(name)
    return {"<>": "!=", "==": "="}.get(token.text, token.text)


def normalised(sql: str) -> str:
    """Return `sql` with one space between tokens, one spelling for each, and no comments."""
    return " ".join(map(spelling, tokens(sql)))


def sql_tokens(sql: str, dialect: str) -> list[Token]:
    """Cut a query into its tokens, without white space and comments.

    Args:
        sql: Any text.
        dialect: `sqlite` or `postgres`.

    Returns:
        The tokens in order. A string's token holds its prefix (`E`, `x`) and its quotes, a dollar quote its
        tags.

    Raises:
        ValueError: A quote, or in PostgreSQL a comment, never ends; or the text is longer than `LONGEST_SQL`.
    """
    if len(sql) > LONGEST_SQL:
        raise ValueError(f"more than {LONGEST_SQL} characters of SQL")
    return list(postgres_tokens(sql) if dialect == "postgres" else _sqlite_tokens(sql))


def _sqlite_tokens(sql: str) -> Iterator[Token]:
    blob: Token | None = None  # an `x` which a string may follow at once
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


def postgres_tokens(sql: str) -> Iterator[Token]:
    """Yield the tokens by PostgreSQL's rules, one at a time.

    Raises `UnterminatedError` on reaching a quote or comment that never ends.
    """
    place = 0
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
    """Yield the operators of a run of operator characters, by PostgreSQL's rules (manual, §4.1.3).

    One ends before a comment; it may end in + or - only if it holds one of ~ ! @ # % ^ & | ` ?.
    """
    text, start = run.group(), run.start()
    first = len(text) if _SIGN_ENDS & set(text) else len(text.rstrip("+-"))
    if first:
        yield Token("symbol", text[:first], start + first)
    for place in range(first, len(text)):
        yield Token("symbol", text[place], start + place + 1)


def postgres_stops(script: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield the semicolons and parentheses outside quotes and comments, from a place on, with their ends.

    Several times quicker than all tokens, for dumps. Raises `UnterminatedError` as `postgres_tokens` does.
    """
    place = start
    while match := _compiled(_STOP).search(script, place):
        kind = match.lastgroup or "symbol"
        place = _end(match, kind)
        if kind == "symbol":
            yield match.group(), place


def _end(match: re.Match[str], kind: str) -> int:
    """Return where what a match of PostgreSQL's rules begins ends: quotes and comments with their
    contents.
    """
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
    """Return where a block comment of PostgreSQL ends that began before `place`; comments nest.

    Raises `UnterminatedError` if it never does.
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
    """A part of a text in an unknown dialect; the stretches of a text follow each other without a gap."""

    kind: str
    """`space`, `comment`, `quoted` (in any quotes), `word` (numbers too) or `symbol` (one character)."""
    text: str
    start: int
    is_closed: bool
    """Whether a quote or block comment ends; what does not reaches to the end of the text."""

    @property
    def end(self) -> int:
        """Return the end of the token in the text, in characters."""
        return self.start + len(self.text)


def stretches(text: str) -> Iterator[Stretch]:
    """Cut a text by the rules of both dialects: no quote of either is looked into.

    A block comment ends at the first `*/`, as in SQLite. A dollar quote that never closes is a `$`.
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
