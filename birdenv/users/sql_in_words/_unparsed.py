"""Words for what sqlglot cannot parse, such as a remark or a snippet with a gap: token by token."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.users.sql_in_words._names import Names
from birdenv.users.sql_in_words._parse import Token
from birdenv.users.sql_in_words._phrases import LOOSE, Phrase, quoted

_SYMBOLS = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "%": "modulo",
    "||": "joined with",
    "=": "equals",
    "<>": "differs from",
    "!=": "differs from",
    ">": "is greater than",
    "<": "is less than",
    ">=": "is at least",
    "<=": "is at most",
    "(": "(",
    ")": ")",
    ",": ",",
}
_KEYWORDS = {
    "CASE": "",
    "END": "",
    "WHEN": "if",
    "THEN": "then",
    "ELSE": "otherwise",
    "SELECT": "show",
    "WHERE": "only cases where",
    "GROUP": "grouped",
    "ORDER": "sorted",
    "DESC": "in descending order",
    "COUNT": "the number of",
    "SUM": "the total of",
    "AVG": "the average of",
    "MIN": "the lowest",
    "MAX": "the highest",
    "CAST": "",
    "REAL": "",
    "ROUND": "rounded",
    "COALESCE": "the first available of",
    "NULLIF": "null if it is",
}
_SILENT_BEFORE = frozenset({"FROM", "JOIN", "AS", "INTO", "UPDATE"})
"""A name after one of these is a table, an alias or a type."""


def said_token_by_token(tokens: Sequence[Token], names: Names) -> Phrase:
    """Return the names, literals and operators of tokens in their order."""
    said: list[str] = []
    for at, token in enumerate(tokens):
        before = tokens[at - 1].key if at else ""
        after = tokens[at + 1].key if at + 1 < len(tokens) else ""
        if token.kind == "string":
            said.append(quoted(token.text))
        elif token.kind == "number":
            said.append(token.text)
        elif token.kind == "gap":
            said.append("and so on" if said and said[-1] not in ("(", ",") else "")
        elif token.kind == "symbol":
            said.append(_SYMBOLS.get(token.text, ""))
        elif (
            token.key in _SILENT_BEFORE or before in _SILENT_BEFORE or (after == "." and at + 2 < len(tokens))
        ):
            continue
        else:
            word = names.words(token.text)
            said.append(_KEYWORDS.get(token.key, word) if token.text.isupper() else word)
    text = " ".join(filter(None, said))
    for sign in (")", ","):
        text = text.replace(f" {sign}", sign)
    return Phrase(text.replace("( ", "("), LOOSE)
