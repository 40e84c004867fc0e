"""Cut SQL text, also broken or partial SQL, into tokens; nothing is ever rejected.

Annotated snippets are often fragments (`... > 1`, `THEN 'x'`, an unclosed bracket), which a dialect's own
tokenizer or parser refuses. Here an unterminated string ends with the text, an unknown character is a
token of its own, and comments are dropped. One pass, no backtracking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

TokenKind: TypeAlias = Literal["string", "quoted", "number", "word", "gap", "symbol"]

_TOKEN = re.compile(
    r"""
      (?P<space>\s++ | --[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/)?)
    | (?P<string>'(?:[^']|'')*+'?)
    | (?P<quoted>"(?:[^"]|"")*+"? | `[^`]*+`?)
    | (?P<gap>\.\.\.++|…)
    | (?P<number>0[xX][0-9a-fA-F]++ | (?:[0-9]++(?:\.(?!\.)[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)
    | (?P<word>[^\W\d][\w$]*+)
    | (?P<symbol>->>|->|\#>>|\#>|\|\||<=|>=|<>|!=|==|::|!~\*|!~|~\*|@>|<@|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_MAX_DEPTH = 30

_WORD_PARTS = re.compile(r"[0-9]+|[^\W\d_]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Token:
    """One lexical unit; `text` is a string's or a quoted name's contents, otherwise the source text."""

    kind: TokenKind
    text: str

    @property
    def key(self) -> str:
        """What keywords and symbols are compared by; never equal to one for strings and quoted names."""
        return self.text.upper() if self.kind in ("word", "symbol") else ""


def tokenize(sql: str) -> list[Token]:
    """The tokens of `sql`, without white space and comments."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup, match.group()
        if kind == "string":
            tokens.append(Token("string", _contents(text, "'")))
        elif kind == "quoted":
            tokens.append(Token("quoted", _contents(text, text[0])))
        elif kind == "number":
            tokens.append(Token("number", text))
        elif kind == "word":
            tokens.append(Token("word", text))
        elif kind == "gap":
            tokens.append(Token("gap", "..."))
        elif kind == "symbol":
            tokens.append(Token("symbol", text))
    return tokens


def balanced(tokens: list[Token]) -> list[Token]:
    """`tokens` with the brackets that a fragment lost put back, and those nested beyond reason left out."""
    depth = missing = 0
    for token in tokens:
        if token.key == "(":
            depth += 1
        elif token.key == ")":
            if depth:
                depth -= 1
            else:
                missing += 1
    whole = [Token("symbol", "(")] * missing + tokens + [Token("symbol", ")")] * depth
    kept: list[Token] = []
    depth = 0
    for token in whole:
        depth += token.key == "("
        if depth <= _MAX_DEPTH or token.key not in ("(", ")"):
            kept.append(token)
        depth -= token.key == ")"
    return kept


def split_words(name: str) -> str:
    """A name as separate lower-case words: `CrustScore` is "crust score", `next_4h` is "next 4 h"."""
    spaced = _INNER_CAPITAL.sub(" ", name)
    return " ".join(part.lower() for part in _WORD_PARTS.findall(spaced))


def _contents(text: str, quote: str) -> str:
    body = text[1:-1] if len(text) > 1 and text.endswith(quote) else text[1:]
    return body.replace(quote * 2, quote)
