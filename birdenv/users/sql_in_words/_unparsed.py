"""Words for what sqlglot cannot parse, such as a remark or a snippet with a gap: its names and literals."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.users.sql_in_words._names import Names
from birdenv.users.sql_in_words._parse import LexicalUnit
from birdenv.users.sql_in_words._phrases import LOOSE, Phrase, quoted

_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "(": "(", ")": ")", ",": ","}
_LEADS = frozenset({"FROM", "JOIN", "AS", "INTO", "UPDATE"})
"""A name after one of these is a table, an alias or a type."""


def said_token_by_token(tokens: Sequence[LexicalUnit], names: Names) -> Phrase:
    """Return the names, literals and signs of tokens in their order, without keywords in capitals."""
    said: list[str] = []
    for at, token in enumerate(tokens):
        before = tokens[at - 1].key if at else ""
        after = tokens[at + 1].key if at + 2 < len(tokens) else ""
        if token.kind == "string":
            said.append(quoted(token.text))
        elif token.kind == "gap" and said and said[-1] not in ("(", ","):
            said.append("and so on")
        elif token.kind == "symbol":
            said.append(_SIGNS.get(token.text, ""))
        elif token.kind == "number":
            said.append(token.text)
        elif token.kind != "gap" and before not in _LEADS and after != ".":
            said.append("" if token.text.isupper() and len(token.text) > 3 else names.words(token.text))
    text = " ".join(filter(None, said))
    return Phrase(text.replace(" )", ")").replace(" ,", ",").replace("( ", "("), LOOSE)
