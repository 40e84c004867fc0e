"""How large a statement becomes while SQLite compiles it, estimated from its text.

SQLite copies: a common table expression or a view for each place that names it, the expression behind a
column for each mention of the column, all columns for a `*`. Where such places are copied themselves, a short
text becomes gigabytes, and nothing stops SQLite while it copies. So the copies are counted before.

A *part* is a view, or a query in parentheses, or the statement around them. It costs its tokens, what the
parts that it names cost, once for each mention, and for each name in it as much as the largest expression
that may stand behind a column of those parts. What SQLite makes of it is no more, and often less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from birdenv.sql import folded, tokens, unquoted

MOST_COPIES: Final = 100_000
"""Tokens that a statement may become beyond its length: a tenth of a second, more where views are joined."""

_WORTH_A_LOOK: Final = 10 * MOST_COPIES  # what no text comes near that is written to be read
_KEPT: Final = 10_000  # characters of a text whose parts are remembered

HARMLESS: Final = 150
"""Characters that become nothing large, where there are no views."""

_STAR: Final = 200  # columns: of few tables more
_DEEPEST: Final = 60  # parts in parts, views of views
_ENDLESS: Final = 10**12  # tokens
_OF_A_SELECT: Final = 14  # characters at least, with its FROM
_MANY: Final = 50  # SELECTs, of which nothing is said without a look
_ALL_COLUMNS: Final = re.compile(r"(?:\b(?:SELECT|ALL|DISTINCT)|[,.])\s*+\*", re.IGNORECASE)
_NAME_OR_QUOTE: Final = re.compile(r"""[^\W\d]\w*+|["'`\[]""")
_LONG: Final = 2_000  # characters, most of which may be numbers
_NAMES: Final = ("word", "quoted", "string")
_BEGINS: Final = frozenset({"SELECT", "WITH", "VALUES"})
_SOURCES: Final = frozenset({"FROM", "JOIN", "UPDATE", "INTO", "IN"})
_AFTER_COLUMNS: Final = frozenset(
    "WHERE GROUP HAVING ORDER LIMIT UNION EXCEPT INTERSECT ON USING SET VALUES".split()
)
_BEFORE_A_STAR: Final = frozenset({"SELECT", "DISTINCT", "ALL", ",", "."})
_RESERVED: Final = (
    _SOURCES
    | _AFTER_COLUMNS
    | frozenset(
        "SELECT AS DISTINCT ALL AND OR NOT NULL IS ISNULL NOTNULL BETWEEN EXISTS CASE WHEN THEN ELSE".split()
    )
)
"""Words that are no names unless they are quoted."""


@dataclass(frozen=True, slots=True)
class Size:
    """`copies`: tokens of everything. `expression`: those of the largest column. `columns`: at most."""

    copies: int = 1
    expression: int = 1
    columns: int = _STAR


_TABLE: Final = Size()
_TOO_LARGE: Final = Size(_ENDLESS, _ENDLESS)


@dataclass(eq=False, slots=True)
class _Column:
    """`names` in it, and `parts`; the last name may be its own."""

    names: int = 0
    last: str = ""
    parts: list[_Part] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Part:
    around: _Part | None = None
    tokens: int = 0
    stars: int = 0
    columns: list[_Column] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # not in columns
    sources: list[str] = field(default_factory=list)  # once for each mention
    parts: list[_Part] = field(default_factory=list)  # used once, where they stand
    defined: dict[str, _Part] = field(default_factory=dict)  # by WITH


@dataclass(slots=True)
class _Level:
    """A pair of parentheses; `begin` is the token before them."""

    part: _Part
    begin: int
    column: _Column | None = None  # that is being read
    has_list: bool = False  # whether commas part columns here
    in_sources: bool = False
    wants_source: bool = False


def may_expand(sql: str, largest: int = 1) -> bool:
    """Whether a text could become more than `MOST_COPIES`, by its length and its number of SELECTs.

    `largest`: tokens of the largest view that it may name.
    """
    selects = sql.upper().count("SELECT")
    # Each copy takes a name, two characters at least. Those of a SELECT multiply those of the next, and at
    # last those of the names that stand for columns of the same SELECT.
    names = max(len(sql) - _OF_A_SELECT * selects, 2) / 2
    if len(sql) > _LONG:
        names = len(_NAME_OR_QUOTE.findall(sql))
    if selects == 0:
        return largest * names > _WORTH_A_LOOK
    copies = largest * (names / (selects + 1)) ** (selects + 1) if selects <= _MANY else _ENDLESS
    if copies > _WORTH_A_LOOK or copies * _STAR <= _WORTH_A_LOOK:
        return copies > _WORTH_A_LOOK
    return "*" in sql and _ALL_COLUMNS.search(sql) is not None


def expansion(sql: str, views: Mapping[str, Size]) -> int:
    """Tokens that a statement may become, given the sizes of the views, by folded names."""
    return _Sizes(lambda name, _: views.get(name, _TABLE)).of(_parts(sql)).copies


def sizes_of_views(definitions: Iterable[tuple[str, str]]) -> dict[str, Size]:
    """The sizes of all views, from their names and the statements that make them."""
    parts: dict[str, list[_Part]] = {}
    for name, sql in definitions:  # several databases may have one of that name
        parts.setdefault(folded(name), []).append(_parts(sql))
    known: dict[str, Size] = {}

    def look_up(name: str, depth: int) -> Size:
        if name not in known:
            if name not in parts:
                return _TABLE
            known[name] = _TABLE  # where it names itself
            known[name] = _largest([_Sizes(look_up, depth).of(part) for part in parts[name]])
        return known[name]

    return {name: look_up(name, 0) for name in parts}


def _largest(sizes: Iterable[Size]) -> Size:
    copies, expressions, columns = zip(*((s.copies, s.expression, s.columns) for s in sizes), strict=True)
    return Size(max(copies), max(expressions), max(columns))


class KnownViews:
    """The sizes of the views that statements may read, given with the statements that make them."""

    def __init__(self, definitions: Iterable[tuple[str, str]]) -> None:
        self._sizes = sizes_of_views(definitions)
        self._largest = max([max(size.copies, size.expression) for size in self._sizes.values()], default=1)

    def may_make_too_large(self, sql: str) -> bool:
        """Whether a text could become more than `MOST_COPIES`."""
        if self._largest == 1 and len(sql) < HARMLESS:
            return False
        return may_expand(sql, self._largest) and expansion(sql, self._sizes) > MOST_COPIES + len(sql)


class _Sizes:
    """Sizes of the parts of one text; `outside` gives those of what the text does not define, at a depth."""

    def __init__(self, outside: Callable[[str, int], Size], depth: int = 0) -> None:
        self._outside = outside
        self._known: dict[_Part, Size] = {}
        self._depth = depth

    def of(self, part: _Part, around: int = 1) -> Size:
        """`around`: the largest expression behind a column that the part may take from outside of it."""
        if self._depth > _DEEPEST:
            return _TOO_LARGE
        self._depth += 1
        sources = [self._source(part, name) for name in part.sources]
        behind = max([around, *(size.expression for size in sources)])
        inside = {id(each): self.of(each, behind) for each in part.parts}
        self._depth -= 1
        behind = max([behind, *(size.expression for size in inside.values())])
        sizes = {
            column: column.names * behind + sum(inside[id(each)].copies for each in column.parts)
            for column in part.columns
        }
        own = {column.last: size for column, size in sizes.items()}
        below = [*sources, *inside.values()]
        star = part.stars * max([size.columns for size in below], default=_STAR)
        copies = part.tokens + sum(size.copies for size in below) + sum(sizes.values())
        copies += star * behind + sum(max(own.get(name, 1), behind) for name in part.names)
        expression = max([1, *sizes.values()]) if not star else max([behind, *sizes.values()])
        return Size(
            min(copies, _ENDLESS),
            min(expression, _ENDLESS),
            min(len(part.columns) + star, _STAR),
        )

    def _source(self, part: _Part, name: str) -> Size:
        """What a name means where it is mentioned."""
        scope: _Part | None = part
        while scope is not None:
            found = scope.defined.get(name)
            if found is not None:
                if found not in self._known:
                    self._known[found] = _TABLE  # where it names itself
                    self._known[found] = self.of(found)
                return self._known[found]
            scope = scope.around
        return self._outside(name, self._depth)


def _parts(sql: str) -> _Part:
    return _remembered(sql) if len(sql) <= _KEPT else _read(sql)


@lru_cache(maxsize=256)
def _remembered(sql: str) -> _Part:
    return _read(sql)


def _read(sql: str) -> _Part:
    """Cut a text, which need not be right, into its parts."""
    whole = _Part()
    levels = [_Level(whole, -1)]
    words, names = [], []
    for token in tokens(sql):
        words.append(token.text.upper() if token.kind == "word" else token.text)
        names.append(token.kind in _NAMES and words[-1] not in _RESERVED)
    before = -1  # the token before the parentheses that were closed last
    for index, word in enumerate(words):
        level, follows = levels[-1], words[index + 1] if index + 1 < len(words) else ""
        part = level.part
        part.tokens += 1
        if names[index]:
            if follows != ".":
                _mention(level, folded(unquoted(word)), is_new=index > 0 and _ends(words, names, index - 1))
        elif word == "(":
            levels.append(_opened(level, index, follows, _defined(words, index, before)))
        elif word == ")":
            if len(levels) > 1:
                before = levels.pop().begin
        elif word == "*" and words[max(index - 1, 0)] in _BEFORE_A_STAR:
            part.stars += 1
        else:
            _follow(level, word, follows)
    return whole


def _follow(level: _Level, word: str, follows: str) -> None:
    """Follow the clauses of a level."""
    if word == "SELECT":
        level.column, level.has_list, level.in_sources = _new_column(level.part), True, False
    elif word in _SOURCES:
        level.wants_source = word != "IN" or follows != "("
        if word in ("FROM", "JOIN"):
            level.column, level.has_list, level.in_sources = None, False, True
    elif word in _AFTER_COLUMNS:
        level.column, level.has_list, level.wants_source = None, False, False
        level.in_sources = level.in_sources and word in ("ON", "USING")
    elif word == ",":
        level.wants_source = level.in_sources
        if level.has_list:
            level.column = _new_column(level.part)


def _new_column(part: _Part) -> _Column:
    part.columns.append(_Column())
    return part.columns[-1]


def _ends(words: list[str], names: list[bool], index: int) -> bool:
    """Whether an expression may end with a token, so that a name after it is a new one."""
    return words[index] in ("AS", ")") or (names[index] and words[index] not in ("BY", "DISTINCT"))


def _mention(level: _Level, name: str, *, is_new: bool) -> None:
    if level.wants_source:
        level.part.sources.append(name)
        level.wants_source = False
    elif level.column is None:
        level.part.names.append(name)
    else:
        level.column.names += not is_new
        level.column.last = name


def _defined(words: list[str], index: int, before: int) -> str | None:
    """What a parenthesis at `index` defines, as in `name (a, b) AS MATERIALIZED (`; None for nothing."""
    place = index - 1
    if place >= 0 and words[place] == "MATERIALIZED":
        place -= 2 if place > 1 and words[place - 1] == "NOT" else 1
    if place < 1 or words[place] != "AS":
        return None
    place = before if words[place - 1] == ")" else place - 1
    return folded(unquoted(words[place])) if place >= 0 else None


def _opened(level: _Level, index: int, follows: str, defined: str | None) -> _Level:
    """The level that an opening parenthesis begins."""
    part = level.part
    if follows not in _BEGINS:
        inner = _Level(part, index - 1, level.column, False, level.wants_source, level.wants_source)
        level.wants_source = False
        return inner
    new = _Part(part)
    if defined is not None:
        part.defined[defined] = new
    else:
        part.parts.append(new)
        if level.column is not None:
            level.column.parts.append(new)
    level.wants_source = False
    return _Level(new, index - 1)
