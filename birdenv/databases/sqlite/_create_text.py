"""Reading a stored CREATE TABLE or CREATE INDEX for what SQLite's pragmas do not tell.

In linear time: the text is as long, and its parentheses as many, as whoever wrote it liked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from birdenv.sql import Token, folded, spelling, tokens, unquoted

_CONSTRAINT_STARTS = frozenset(["constraint", "primary", "unique", "check", "foreign"])
_CONFLICT_CONSTRAINTS = frozenset(["primary", "unique", "null"])  # a CHECK's ON CONFLICT means nothing


@dataclass
class TableText:
    """What a CREATE TABLE says beyond the pragmas; names folded, expressions as normalised tokens."""

    checks: list[str] = field(default_factory=list)
    collations: dict[str, str] = field(default_factory=dict)
    """Column to collation, without `binary`, the default."""
    generated: dict[str, str] = field(default_factory=dict)
    """Column to the expression that computes it."""
    conflicts: list[str] = field(default_factory=list)
    """`unique (a , b): ignore`, for each ON CONFLICT but `abort`, the default."""
    deferred: list[str] = field(default_factory=list)
    """The columns and the parent of each foreign key that is INITIALLY DEFERRED."""
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
            _Definition(
                definition, "" if is_constraint else folded(unquoted(definition[0].text)), text
            ).read()
    return text


def index_text(sql: str) -> IndexText:
    """Read a stored CREATE INDEX statement; empty text (an automatic index) gives an empty one."""
    body, rest = _parentheses(list(tokens(sql)))
    terms = tuple(_join(_without_order(term)) for term in _split(body))
    is_partial = bool(rest) and _word(rest[0]) == "where"
    return IndexText(terms, _join(rest[1:]) if is_partial else "")


class _Definition:
    """One column definition, or one or more table constraints (`column` is empty), read from the left."""

    def __init__(self, pieces: list[Token], column: str, text: TableText) -> None:
        self._pieces = pieces
        self._column = column
        self._text = text
        self._constraint = ""  # the one that an ON CONFLICT belongs to
        self._columns = column  # its columns
        self._foreign_key = ""

    def read(self) -> None:
        """Collect everything into the text."""
        pieces = self._pieces
        position = 1 if self._column else 0
        before = ""
        while position < len(pieces):
            word = _word(pieces[position])
            if pieces[position].text == "(":
                end = _closing(pieces, position)
                self._read_parentheses(before, pieces[position + 1 : end])
                position = end
            else:
                self._read_word(before, word, pieces[position + 1 : position + 3])
            before = word
            position += 1

    def _read_word(self, before: str, word: str, following: list[Token]) -> None:
        after = [spelling(token) for token in following]
        if word == "collate" and self._column and after:
            if after[0] != "binary":
                self._text.collations[self._column] = after[0]
        elif word in ("primary", "unique", "check", "foreign", "null"):
            self._constraint, self._columns = word, self._column
        elif word == "references" and after:
            self._foreign_key = f"{self._columns} -> {after[0]}"
        elif before == "on" and word == "conflict" and after:
            if self._constraint in _CONFLICT_CONSTRAINTS and after[0] != "abort":
                name = {"primary": "primary key", "null": "not null"}.get(self._constraint, self._constraint)
                self._text.conflicts.append(f"{name} ({self._columns}): {after[0]}")
        elif word == "deferrable" and before != "not" and after == ["initially", "deferred"]:
            self._text.deferred.append(self._foreign_key)

    def _read_parentheses(self, before: str, inside: list[Token]) -> None:
        if before == "check":
            self._text.checks.append(_join(inside))
        elif before == "as" and self._column:
            self._text.generated[self._column] = _join(inside)
        elif before in ("key", "unique") and not self._column:
            self._columns = " , ".join(_join(_without_order(term)) for term in _split(inside))


def _parentheses(pieces: list[Token]) -> tuple[list[Token], list[Token]]:
    """What is inside the first pair of parentheses, and what follows it."""
    start = next((i for i, token in enumerate(pieces) if token.text == "("), len(pieces))
    end = _closing(pieces, start)
    return pieces[start + 1 : end], pieces[end + 1 :]


def _closing(pieces: list[Token], start: int) -> int:
    """Where the parenthesis closes that opens at `start`; the end if it never does."""
    depth = 0
    for i in range(start, len(pieces)):
        depth += {"(": 1, ")": -1}.get(pieces[i].text, 0)
        if depth == 0:
            return i
    return len(pieces)


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
