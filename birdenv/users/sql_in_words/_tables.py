"""Words for the tables that the user may name, and the plurals of English words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from birdenv.users.identifiers import is_identifier
from birdenv.users.sql_in_words._parse import split_words

_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+(?:\w+\.)?[\"`]?(\w+)")
_UNCOUNTED = ("maintenance", "equipment", "information", "data", "news", "staff", "traffic", "weather")
_SPACE = re.compile(r"\s+")
_NOT_PLURAL = re.compile(r"(?:ss|us|is|as|ics|ies of|degrees|celsius|series|always|hours|days|minutes)$")


@lru_cache(maxsize=256)
def spoken_tables(request: str, identifiers: frozenset[str]) -> Mapping[str, str]:
    """Return plural nouns for the tables that the request mentions, by table name in lower case.

    >>> spoken_tables("List trips and each order line.", frozenset({"trips", "order_lines", "bikes"}))
    {'order_lines': 'order lines', 'trips': 'trips'}
    """
    said = {singular(word) for word in re.findall(r"[a-z]+", request.lower())}
    found = {}
    for name in sorted(identifiers):
        words = split_words(name)
        if words and said.issuperset(map(singular, words.split())):
            found[name.lower()] = words if words.endswith(_UNCOUNTED) else plural(words)
    return found


def plain_sources(snippet: str) -> Mapping[str, str]:
    """Return the tables in a snippet whose names are everyday plurals, such as trips.

    >>> plain_sources("SELECT COUNT(*) FROM trips t JOIN trkdata d ON t.id = d.id")
    {'trips': 'trips'}
    """
    names = {name.lower() for name in _SOURCE.findall(snippet)}
    return {name: name for name in sorted(names) if name.endswith("s") and not is_identifier(name)}


def counted_noun(snippet: str, gold: Sequence[str], tables: Mapping[str, str]) -> str:
    """Return the noun for the rows that COUNT(*) counts in a fragment from a query on one table.

    The result is an empty string if the noun is unknown.
    """
    wanted = _flat(snippet)
    for statement in gold:
        text = _flat(statement)
        if wanted in text and len(sources := _SOURCE.findall(text)) == 1:
            return tables.get(sources[0].lower(), "")
    return ""


def _flat(sql: str) -> str:
    return _SPACE.sub(" ", sql).strip(" ;").lower()


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
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return noun + ("es" if re.search(r"(?:s|x|ch|sh)$", noun) else "s")
