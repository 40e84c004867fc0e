"""Words for the tables that the user may name, and the plurals of English words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from birdenv.users.identifiers import is_identifier
from birdenv.users.sql_in_words._parse import Node, node_class, parse_fragment, part_of, split_words

_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+(?:\w+\.)?[\"`]?(\w+)[\"`]?(?:\s+(?:AS\s+)?(\w+))?")
_EQUAL_IDS = re.compile(r"\b(\w+)\.(\w+)_id\s*=\s*\w+\.(\w+)_id\b")
_UNCOUNTED = ("maintenance", "equipment", "information", "data", "news", "staff", "traffic", "weather")
_NOT_PLURAL = re.compile(r"(?:ss|us|is|as|ics|ies of|degrees|celsius|series|always|hours|days|minutes)$")


def table_noun(name: str, request: str, identifiers: frozenset[str]) -> str:
    """Return the plural noun for a table, or an empty string if the user may not name the table.

    The user may name tables that the request mentions, and tables whose names are everyday plurals.

    >>> known = frozenset({"order_lines", "trips", "trkdata"})
    >>> [table_noun(name, "Each order line.", known) for name in sorted(known)]
    ['order lines', 'trips', '']
    """
    name = name.lower()
    plain = name if request and name.endswith("s") and not is_identifier(name) else ""
    return _spoken_tables(request, identifiers).get(name, plain)


@lru_cache(maxsize=256)
def _spoken_tables(request: str, identifiers: frozenset[str]) -> Mapping[str, str]:
    """Return plural nouns for the tables that the request mentions, by table name in lower case."""
    said = {singular(word) for word in re.findall(r"[a-z]+", request.lower())}
    found = {}
    for name in sorted(identifiers):
        words = split_words(name)
        if words and said.issuperset(map(singular, words.split())):
            found[name.lower()] = plural(words)
    return found


class Sources(NamedTuple):
    """The tables in the gold statements.

    Attributes:
        only: the table that a snippet's rows come from, if it is the only one in the snippet's statement,
            or if the statement groups its rows by the id of the only other table.
        tables: the table for each table's name and alias in lower case, if there are several tables.
        roles: for each alias, the one role that its rows are matched by, such as "start station".
    """

    only: str
    tables: Mapping[str, str]
    roles: Mapping[str, str]


def sources_of(snippet: str, gold: Sequence[str]) -> Sources:
    """Return the tables in the gold statements, one of which contains the snippet.

    >>> sources_of("", ["SELECT s.name FROM bases s JOIN trips t ON t.start_base_id = s.base_id"]).roles
    {'t': 'start base'}
    """
    wanted = " ".join(snippet.split()).strip(" ;")
    found = {statement: _SOURCE.findall(statement) for statement in (" ".join(sql.split()) for sql in gold)}
    only = (_counted(statement, tables) for statement, tables in found.items() if wanted in statement)
    every = {name.lower(): pair[0] for pairs in found.values() for pair in pairs for name in pair if name}
    pairs = {pair for statement in found for pair in _EQUAL_IDS.findall(statement)}
    roles = [(alias, role) for alias, role, column in sorted(pairs) if role.endswith(f"_{column}")]
    role = {alias.lower(): split_words(column) for alias, column in roles}
    several = len(set(every.values())) > 1
    return Sources(next(only, ""), every if several else {}, role if len(role) == len(roles) else {})


def _counted(statement: str, tables: Sequence[tuple[str, str]]) -> str:
    """Return the table whose rows COUNT(*) counts in a statement; empty if it is not clear.

    Where two sources are joined and grouped by the id of one of them, the rows of the other are counted. If
    the other is a subquery with groups, each of its rows stands for the id by which it is grouped.
    """
    query = parse_fragment(statement) if len(tables) > 1 else None
    if query is None:
        return tables[0][0] if len(tables) == 1 else ""
    joins = query.args.get("joins") or []
    sources = [part.this for part in (part_of(query, "from"), *joins) if part is not None]
    counts_elsewhere = any(star.parent_select is not query for star in query.find_all(node_class("Star")))
    if len(sources) != 2 or joins[0].side or counts_elsewhere or query.find(node_class("Window")) is not None:
        return ""
    key = next(iter(_ids_of_groups(query)), "")
    joined = {(pair.this.name, pair.expression.name) for pair in query.find_all(node_class("EQ"))}
    ids = {one for source in sources for one in _ids_of_groups(source.this) or [_id_of(source.name)]} - {key}
    is_joined = bool(key) and (key, key) in joined
    return next((name for name, _ in tables if is_joined and {_id_of(name)} == ids), "")


def _ids_of_groups(query: Node | None) -> list[str]:
    group = query.args.get("group") if query is not None else None
    return [one.name for one in group.expressions if one.name.endswith("_id")] if group else []


def _id_of(table: str) -> str:
    return f"{singular(table.lower())}_id"


NO_SOURCES: Final = sources_of("", ())


def singular(word: str) -> str:
    """Return the singular of an English noun, such as "copy" for "copies"."""
    for ending, single in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x")):
        if word.endswith(ending):
            return word.removesuffix(ending) + single
    return word.removesuffix("s") if not word.endswith("ss") else word


def is_counted(name: str) -> bool:
    """Return True if a column's name ends in the plural of something countable, such as "seats".

    >>> [is_counted(name) for name in ("seats", "weekly hours", "status", "price")]
    [True, True, False, False]
    """
    last = name.rsplit(" ", 1)[-1]
    if not last.isalpha() or len(last) < 4 or not last.endswith("s"):
        return False
    return (" " in name and last == "hours") or _NOT_PLURAL.search(last) is None


def plural(noun: str) -> str:
    """Return the plural of a noun, which may have several words.

    >>> [plural(noun) for noun in ("title id", "copy", "branch", "trips")]
    ['title ids', 'copies', 'branches', 'trips']
    """
    noun, of_the, owner = noun.partition(" of the ")
    if of_the:
        return f"{plural(noun)} of the {owner}"
    if noun.endswith(_UNCOUNTED) or (noun.endswith("s") and not noun.endswith("ss")):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return noun + ("es" if re.search(r"(?:s|x|ch|sh)$", noun) else "s")
