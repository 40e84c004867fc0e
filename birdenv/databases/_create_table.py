"""Reading a stored CREATE TABLE or CREATE INDEX for what SQLite's pragmas do not tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from birdenv.databases._sql_text import Token, spelling, tokens, unquoted

__all__ = ["IndexText", "TableText", "index_text", "read_table_text"]

_CONSTRAINT_STARTS = frozenset(["constraint", "primary", "unique", "check", "foreign"])


@dataclass
class TableText:
    """What a CREATE TABLE says beyond the pragmas; names in lower case, expressions as normalised tokens."""

    checks: list[str] = field(default_factory=list)
    collations: dict[str, str] = field(default_factory=dict)
    """Column to collation, without `binary`, the default."""
    generated: dict[str, str] = field(default_factory=dict)
    """Column to the expression that computes it."""
    autoincrement: bool = False


@dataclass(frozen=True)
class IndexText:
    """The terms of an index in order, without ASC, DESC and COLLATE, and its WHERE (empty if none)."""

    terms: tuple[str, ...] = ()
    where: str = ""


def read_table_text(sql: str) -> TableText:
    """Read a stored CREATE TABLE statement; parts of another form (CREATE TABLE AS) are empty."""
    body, _ = _parentheses(list(tokens(sql)))
    text = TableText(autoincrement="autoincrement" in map(_word, body))
    for definition in _split(body):
        if definition:
            is_constraint = _word(definition[0]) in _CONSTRAINT_STARTS
            _read_definition(definition, "" if is_constraint else unquoted(definition[0].text).lower(), text)
    return text


def index_text(sql: str) -> IndexText:
    """Read a stored CREATE INDEX statement; empty text (an automatic index) gives an empty one."""
    body, rest = _parentheses(list(tokens(sql)))
    terms = tuple(_join(_without_order(term)) for term in _split(body))
    is_partial = bool(rest) and _word(rest[0]) == "where"
    return IndexText(terms, _join(rest[1:]) if is_partial else "")


def _read_definition(definition: list[Token], column: str, text: TableText) -> None:
    """Collect from one column definition (or table constraint: `column` is empty)."""
    position = 0
    while position < len(definition):
        word = _word(definition[position]) if position or not column else ""
        position += 1
        if word == "collate" and column and position < len(definition):
            collation = spelling(definition[position])
            if collation != "binary":
                text.collations[column] = collation
        elif definition[position : position + 1] and definition[position].text == "(":
            inside, rest = _parentheses(definition[position:])
            position = len(definition) - len(rest)
            if word == "check":
                text.checks.append(_join(inside))
            elif word == "as" and column:
                text.generated[column] = _join(inside)


def _parentheses(pieces: list[Token]) -> tuple[list[Token], list[Token]]:
    """What is inside the first pair of parentheses, and what follows it."""
    start = next((i for i, token in enumerate(pieces) if token.text == "("), len(pieces))
    depth = 0
    for i in range(start, len(pieces)):
        depth += {"(": 1, ")": -1}.get(pieces[i].text, 0)
        if depth == 0:
            return pieces[start + 1 : i], pieces[i + 1 :]
    return pieces[start + 1 :], []


def _split(pieces: list[Token]) -> Iterator[list[Token]]:
    """Cut at the commas that are outside inner parentheses."""
    part: list[Token] = []
    depth = 0
    for token in pieces:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _without_order(term: list[Token]) -> list[Token]:
    if term and _word(term[-1]) in ("asc", "desc"):
        term = term[:-1]
    if len(term) > 1 and _word(term[-2]) == "collate":
        term = term[:-2]
    return term


def _word(token: Token) -> str:
    return spelling(token) if token.kind == "word" else ""


def _join(pieces: list[Token]) -> str:
    return " ".join(map(spelling, pieces))
