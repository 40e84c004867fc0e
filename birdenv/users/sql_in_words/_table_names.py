"""Which tables a user may name: those that the request speaks of, and plain plurals in the answer's SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from birdenv.users._identifiers import is_identifier
from birdenv.users.sql_in_words._counted import plural
from birdenv.users.sql_in_words._lexer import split_words

_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+(?:\w+\.)?[\"`]?(\w+)")
_UNCOUNTED = ("maintenance", "equipment", "information", "data", "news", "staff", "traffic", "weather")
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=256)
def spoken_tables(request: str, identifiers: frozenset[str]) -> Mapping[str, str]:
    """The plural words for each name of the schema, in lower case, whose words the request says.

    >>> spoken_tables("List trips and each order line.", frozenset({"trips", "order_lines", "bikes"}))
    {'order_lines': 'order lines', 'trips': 'trips'}
    """
    said = {_singular(word) for word in re.findall(r"[a-z]+", request.lower())}
    found = {}
    for name in sorted(identifiers):
        words = split_words(name)
        if words and said.issuperset(map(_singular, words.split())):
            found[name.lower()] = words if words.endswith(_UNCOUNTED) else plural(words)
    return found


def plain_sources(snippet: str) -> Mapping[str, str]:
    """The tables of a snippet whose names are everyday plurals, such as trips.

    >>> plain_sources("SELECT COUNT(*) FROM trips t JOIN trkdata d ON t.id = d.id")
    {'trips': 'trips'}
    """
    names = {name.lower() for name in _SOURCE.findall(snippet)}
    return {name: name for name in sorted(names) if name.endswith("s") and not is_identifier(name)}


def counted_noun(snippet: str, gold: Sequence[str], nouns: Mapping[str, str]) -> str:
    """The noun for what COUNT(*) counts in a fragment of a query on one table; "" where that is not known."""
    wanted = _flat(snippet)
    for statement in gold:
        text = _flat(statement)
        if wanted in text and len(tables := _SOURCE.findall(text)) == 1:
            return nouns.get(tables[0].lower(), "")
    return ""


def _flat(sql: str) -> str:
    return _SPACE.sub(" ", sql).strip(" ;").lower()


def _singular(word: str) -> str:
    for ending, single in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x")):
        if word.endswith(ending):
            return word.removesuffix(ending) + single
    return word.removesuffix("s") if not word.endswith("ss") else word
