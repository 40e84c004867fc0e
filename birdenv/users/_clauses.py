"""Judge proposals about output columns, groups, sorting, the number of rows and duplicates."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from birdenv.users._brief import Brief, BriefNotes
from birdenv.users._claims import PART_STEMS, SPELT
from birdenv.users._facts import names_in, stems_of
from birdenv.users.sql_in_words import Names, parse_fragment, verbalise
from birdenv.users.understanding import Choice
from birdenv.users.understanding._word_forms import CLAUSE_STEMS, GENERIC_STEMS, content_words, stem, words

_COLUMNS = re.compile(r"\b(\d+|" + "|".join(SPELT) + r") (?:\w+ )?(?:columns|fields)\b")
_REGIONS = {
    "output": re.compile(r"\b(?:sort\w*|order\w*|group\w*|for each|per|where|whose|having|limit\w*)\b.*"),
    "group": re.compile(r"^.*?\b(?:for (?:each|every)|per|by|each|every)\b|\b(?:sort\w*|where|whose)\b.*"),
    "order": re.compile(r"^.*?\b(?:sort\w*|order\w*)\b(?: it| them)?(?: by)?|\b(?:limit\w*|show\w*)\b.*"),
    "tie": re.compile(r"^$"),
}
"""For each clause, the text of a question that is not about the columns named in this clause."""

_GROUPED = re.compile(r"\b(?:per|by|each|every|group\w*|row|line)\b")
_COMPUTED = re.compile(r"\b(?:divid\w+|multipl\w+|minus|plus|percentage|share of|average|total)\b")
_BEGINNINGS = {"ORDER": "order", "GROUP": "group", "LIMIT": "limit"}
_OF_KEYS = frozenset(map(stem, "id ids code key no nr ref".split()))
"""Words that people leave out of the name of a key, as in "one row for each station"."""

_TELLING_NOTHING = GENERIC_STEMS | _OF_KEYS

TIMES = frozenset(map(stem, "date time day week month year hour on at since".split()))


def of_clause(text: str, said: Set[str], choice: Choice, brief: Brief) -> str | None:
    """Return "Yes", "No" or an empty string for a proposal about a clause that lists names or arranges rows.

    The result is None if the answer is about something else, such as a condition. If a question proposes a
    name that is in the schema but not in the clause, the result is "No".

    Args:
        text: the question.
        said: the groups of phrases in the question.
        choice: the point, with one piece of SQL.
        brief: what the user knows.
    """
    (sql,) = choice.granted()
    clause = "".join(part.clause for part in choice.parts[:1])
    clause = clause or _BEGINNINGS.get(sql.partition(" ")[0].upper(), "")
    if (clause != "output" and "use" in said) or (_SETS.match(clause or sql) and not _SETTING.search(text)):
        return ""  # of "should all bikes be retired?", it is open which ones are meant
    if clause in _REGIONS:
        names = Names(brief.identifiers, brief.notes)
        tables = frozenset(stems_of(names.words(name)) for name in _TABLE.findall(" ".join(brief.gold)))
        return _names(text, said, sql, clause, known_names(choice, brief), tables)
    if clause == "distinct":
        return "Yes" if "once" in said else "No" if "repeated" in said else ""
    return "No" if clause == "limit" and "no limit" in said else None


_SETS = re.compile(r"(?i)assign|UPDATE\b")
_SETTING = re.compile(r"\b(?:set|to|becomes?|chang\w+|mark\w*|put|gets?|value)\b")
_TABLE = re.compile(r"(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:\w+\.)?[\"`]?(\w+)")


def known_names(choice: Choice, brief: Brief) -> Set[frozenset[str]]:
    """Return the stems of each telling name in the schema.

    For an annotated point, names that the request or its term has are left out.
    """
    given = stems_of(" ".join([brief.request, *(item.term for item in choice.items)] if choice.items else []))
    names = schema_names(brief.identifiers, brief.notes)
    return {name for name in names if not (name <= _TELLING_NOTHING or name <= given)}


@lru_cache(maxsize=64)
def schema_names(identifiers: frozenset[str], notes: BriefNotes) -> frozenset[frozenset[str]]:
    """Return the stems of the words in each name in the schema."""
    names = Names(identifiers, notes)
    return frozenset(stems_of(names.words(name)) for name in identifiers)


def is_foreign(text: str, own: frozenset[str], known: Set[frozenset[str]]) -> bool:
    """Return True if a text mentions a name from the schema, but none of a snippet's names (`own`)."""
    said, own = {word for word in stems_of(text) if not word.isdigit()}, own - TIMES
    telling = ((name, name - TIMES) for name in known)
    return not said & (own - GENERIC_STEMS) and any(
        (name <= said or (rest <= said and not rest <= GENERIC_STEMS)) and not rest & own
        for name, rest in telling
    )


@lru_cache(maxsize=4096)
def _listed(sql: str, clause: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """Return the stems of each thing that a clause lists, and whether it is sorted in descending order."""
    tree = parse_fragment(sql)
    if tree is None:
        return ()
    part = tree.args.get("order" if clause == "tie" else clause) if clause != "output" else None
    items = (part or tree).expressions or [tree]
    return tuple((names_in(item) or _said(item.sql()), bool(item.args.get("desc"))) for item in items)


def _said(sql: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(words(verbalise(sql)))))


def _names(
    text: str,
    said: Set[str],
    sql: str,
    clause: str,
    known: Set[frozenset[str]],
    tables: Set[frozenset[str]],
) -> str:
    """Judge a proposal about output columns, groups or sorting.

    The result is "Yes" if the clause lists every name that the text mentions, and "No" if the text mentions a
    name from the schema that the clause does not list. Words for tables and other words may say which rows
    are shown ("should open fines be shown?"): such a question about output columns gets neither.

    Args:
        text: the question.
        said: the groups of phrases in the question.
        sql: the clause.
        clause: the kind of clause.
        known: the stems of each name in the schema.
        tables: the stems of the names of the gold's tables.
    """
    items = _listed(sql, clause)
    if clause == "group" and (not _GROUPED.search(text) or _COMPUTED.search(text)):
        return ""
    about = _REGIONS[clause].sub(" ", text)
    mentioned = frozenset(map(stem, words(about)))
    if clause in ("order", "tie") and "sorted by" not in said:
        known = set()
    is_output = clause == "output"
    short = frozenset[str]() if is_output else _OF_KEYS  # "shown households" are rows, and no household id
    here = [name for name in known if name - short <= mentioned]
    full = [name for name in here if not any(name < other for other in here)]
    rows = tables - {item for item, _ in items} if is_output else frozenset()
    if any(name not in rows and not any(name - _OF_KEYS <= item for item, _ in items) for name in full):
        return "No"
    if not rows.isdisjoint(full):
        return ""
    named = [bool(item & mentioned) if is_output else item - _OF_KEYS <= mentioned for item, _ in items]
    if clause in ("order", "tie"):
        if items and len(said & {"ascending", "descending"}) == 1:
            wanted = [down for (_, down), one in zip(items, named, strict=True) if one] or [items[0][1]]
            if "by time" in said and not any(item & TIMES for item, _ in items):
                return ""
            return "Yes" if ("descending" in said) == wanted[0] else "No"
        return "Yes" if any(named) else ""
    if is_output and any(named) and (count := _COLUMNS.search(text)):
        return "Yes" if SPELT.get(count[1], count[1]) == str(len(items)) else "No"
    told = set(map(stem, content_words(words(about)))) - CLAUSE_STEMS - PART_STEMS
    rest = told.difference(*(item for item, _ in items))
    if items and all(named):
        return "" if is_output and rest else "Yes"
    if is_output and not any(named):  # "a half is shown as 0.5" is about no column
        return "No" if told and not re.search(r"\d", about) else ""
    if is_output:
        return "No" if "all columns" in said else "Yes" if full and not rest else ""
    return "No" if any(named) and not rest else ""
