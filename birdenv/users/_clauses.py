"""Judge proposals about output columns, groups, sorting, the number of rows and duplicates."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from birdenv.users._bounds import yes_or_no
from birdenv.users._brief import Brief, BriefNotes
from birdenv.users._claims import PART_STEMS, SPELT
from birdenv.users._facts import names_in, stems_of
from birdenv.users.sql_in_words import Names, kind_of, parse_fragment, read_aloud
from birdenv.users.understanding import Choice
from birdenv.users.understanding._candidate_words import tables_in
from birdenv.users.understanding._word_forms import (
    CLAUSE_STEMS,
    GENERIC_STEMS,
    content_stems,
    stem,
    stem_list,
    words,
)

_COLUMNS = re.compile(r"\b(\d+|" + "|".join(SPELT) + r") (?:\w+ )?(?:columns?|cols?|fields?|things)\b")
_REGIONS = {
    "output": re.compile(
        r"\bi plan to\b|\b(?:sort\w*|order\w*|group\w*|for each|per|where|whose|having|limit\w*)\b.*"
    ),
    "group": re.compile(r"^.*?\b(?:for (?:each|every)|per|by|each|every)\b|\b(?:sort\w*|where|whose)\b.*"),
    "order": re.compile(r"^.*?\b(?:sort\w*|order\w*)\b(?: it| them)?(?: by)?|\b(?:limit\w*|show\w*)\b.*"),
    "tie": re.compile(r"^$"),
}
"""For each clause, the text of a question that is not about the columns named in this clause."""

_GROUPED = re.compile(
    r"\b(?:per|by|each|every|group\w*|rows?|lines?|separate\w*|apart|split|broken?|breakdown)\b"
)
_COMPUTED = re.compile(r"\b(?:divid\w+|multipl\w+|minus|plus|share of)\b")
_BEGINNINGS = {"ORDER": "order", "GROUP": "group", "LIMIT": "limit"}
_OF_KEYS, TIMES, _NAMES, _MEASURES = map(stem_list, ("parts of keys", "times", "labels", "measures"))
_SHOWING = _OF_KEYS | stem_list("showing")
_FRAMING = CLAUSE_STEMS | PART_STEMS | _OF_KEYS | stem_list("arranging")


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
        return _of_names(text, said, sql, clause, choice, brief)
    return "No" if clause == "limit" and "no limit" in said else None


def _of_names(text: str, said: Set[str], sql: str, clause: str, choice: Choice, brief: Brief) -> str:
    """Judge a proposal about output columns, groups or sorting."""
    names = Names(brief.identifiers, brief.notes)
    tables = frozenset(stems_of(names.words(name)) for name in tables_in(*brief.gold))
    items = _listed(sql, clause)
    about_it = _REGIONS[clause].sub(" ", text)
    about = frozenset(map(stem, words(about_it)))
    # "shown households" are rows, no household id
    short = frozenset[str]() if clause == "output" else _OF_KEYS
    here = [name for name in known_names(choice, brief) if name - short <= about]
    full = [name for name in here if not any(name < other for other in here)]
    foreign = [name for name in full if not any(name - _OF_KEYS <= item.stems for item in items)]
    rows = tables - {item.stems for item in items}
    listing = _Listing(text, said, items, about_it, about, foreign, rows)
    if clause == "output":
        return listing.of_output()
    return listing.of_group() if clause == "group" else listing.of_order()


_SETS = re.compile(r"(?i)assign|UPDATE\b")
_SETTING = re.compile(r"\b(?:set|to|becomes?|chang\w+|mark\w*|put|gets?|value)\b")


def known_names(choice: Choice, brief: Brief) -> Set[frozenset[str]]:
    """Return the stems of each telling name in the schema.

    For an annotated point, names that the request or its term has are left out.
    """
    given = stems_of(" ".join([brief.request, *(item.term for item in choice.items)] if choice.items else []))
    names = schema_names(brief.identifiers, brief.notes)
    return {name for name in names if not (name <= GENERIC_STEMS | _OF_KEYS or name <= given)}


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


class _Listed(NamedTuple):
    """Something that a clause lists.

    Attributes:
        stems: the stems of its name, without those that people leave out of the names of keys.
        table: the table that it belongs to; empty if the clause names none.
        is_key: True for a key, such as an id.
        falls: True if it is sorted in descending order.
    """

    stems: frozenset[str]
    table: str
    is_key: bool
    falls: bool

    def follows_from(self, keyed: Set[str]) -> bool:
        """Return whether a key decides it: its table's key is listed, too, or it is only a name."""
        return bool(keyed) and (self.stems <= _NAMES or (self.table != "" and self.table in keyed))


@lru_cache(maxsize=4096)
def _listed(sql: str, clause: str) -> tuple[_Listed, ...]:
    """Return what a clause lists. What only puts missing values first or last is left out."""
    tree = parse_fragment(sql)
    if tree is None:
        return ()
    part = tree.args.get("order" if clause == "tie" else clause) if clause != "output" else None
    found = []
    for item in (part or tree).expressions or [tree]:
        node = item.this if kind_of(item) == "Ordered" else item
        if clause == "order" and (kind_of(node) in ("Is", "Not") or " IS NULL THEN" in node.sql().upper()):
            continue
        is_column = kind_of(node) == "Column"
        stems = names_in(node.this if is_column else item) or _said(item.sql())
        table = node.table if is_column else ""
        is_key = not stems.isdisjoint(_OF_KEYS)
        found.append(_Listed(stems - _OF_KEYS or stems, table, is_key, bool(item.args.get("desc"))))
    return tuple(found)


def _said(sql: str) -> frozenset[str]:
    return frozenset(content_stems(read_aloud(sql).text))


@dataclass(frozen=True, slots=True)
class _Listing:
    """A proposal about a clause that lists names.

    Attributes:
        text: the question.
        said: the groups of phrases in the question.
        items: what the clause lists.
        part: the part of the question that is about this clause.
        about: the stems in this part.
        foreign: the names from the schema in this part that the clause does not list.
        rows: the names of tables, which may say which rows are meant.
    """

    text: str
    said: Set[str]
    items: Sequence[_Listed]
    part: str
    about: frozenset[str]
    foreign: Sequence[frozenset[str]]
    rows: Set[frozenset[str]]

    @property
    def rest(self) -> frozenset[str]:
        """Return the telling stems that the clause does not have."""
        told = content_stems(self.part) - _FRAMING
        return frozenset(one for one in told if not one.isdigit()).difference(
            *(item.stems for item in self.items), *self.rows
        )

    @property
    def _is_about_gaps(self) -> bool:
        """Return whether the question is about rows that lack something."""
        return bool(self.said & {"missing", "unmatched"})

    def of_output(self) -> str:
        """Judge whether columns are shown, and whether they are all."""
        if count := _COLUMNS.search(self.text):
            return yes_or_no(SPELT.get(count[1], count[1]) == str(len(self.items)))
        keys = not _OF_KEYS.isdisjoint(self.about)
        named = [not item.stems.isdisjoint(self.about) or (keys and item.is_key) for item in self.items]
        if _MORE.search(self.text) and "all columns" not in self.said:
            return "No"
        if any(name not in self.rows for name in self.foreign):
            return "No"
        if not any(named) or self.foreign or ("all columns" not in self.said and self._is_about_gaps):
            return ""
        own = frozenset[str]().union(*(item.stems for item in self.items))
        figures = len([one for one in _FIGURES.findall(self.text) if stem(one) not in own]) + len(self.rest)
        if "all columns" in self.said or sum(named) > 1:
            if all(named) or named.count(False) == figures:
                return "" if all(named) and figures else "Yes"
            return "No" if "all columns" in self.said and not figures else ""
        whole = any(item.stems <= self.about for item in self.items)
        told = content_stems(self.part).difference(own, *self.rows)
        return "Yes" if whole and told <= _SHOWING else ""

    def of_group(self) -> str:
        """Judge what there is a row for. Names that follow from a key of the same table need not be named."""
        if not _GROUPED.search(self.text) or _COMPUTED.search(self.text) or self._is_about_gaps:
            return ""
        keyed = {item.table for item in self.items if item.is_key}
        telling = [one for one in self.items if one.is_key or not one.follows_from(keyed)]
        named = [item.stems <= self.about for item in telling]
        others = [name for name in self.foreign if not (any(named) and name - _OF_KEYS in self.rows)]
        if others or _FURTHER.search(self.text):
            return "No"
        if telling and all(named):
            return "Yes"
        return "No" if any(named) and not self.rest and len(telling) == len(self.items) else ""

    def of_order(self) -> str:
        """Judge by what the rows are sorted, and in which direction."""
        if not self.items:
            return ""
        named = [item.stems <= self.about for item in self.items]
        sides = self.said & {"ascending", "descending"}
        if "sorted by" in self.said and self.foreign:
            return "No"
        if _BY_NAME.search(self.text) and not any(item.stems & _NAMES for item in self.items):
            return ""  # "name" is too common a word to be `foreign`
        if len(sides) == 1:
            down = "descending" in sides
            if "alphabetical" in self.text:
                return "Yes" if any(not item.falls and item.stems & _NAMES for item in self.items) else ""
            if _TIED.search(self.text):
                return "Yes" if any(item.falls == down for item in self.items[1:]) else ""
            extreme = _EXTREME.search(self.text)
            measured = content_stems(extreme[1]) if extreme else set[str]()
            if measured and measured.isdisjoint(self.items[0].stems | _MEASURES):
                return ""  # "most punctual first" may mean the lowest share
            falls = [item.falls for item, one in zip(self.items, named, strict=True) if one]
            if _IN_TURN.search(self.text):
                return "Yes" if any(item.falls == down for item in self.items) else "No"
            if "by time" in self.said and not any(item.stems & TIMES for item in self.items):
                return ""
            return yes_or_no(down == (falls or [self.items[0].falls])[0])
        return "Yes" if any(named) and "sorted by" in self.said else ""


_BY_NAME = re.compile(r"\bby (?:the |their |its )?(?:names?|titles?)\b")
_TIED = re.compile(r"\b(?:ties?|tied|equal\w*|same|identical)\b")
_EXTREME = re.compile(
    r"\b(?:most|least|highest|lowest|largest|smallest|biggest|greatest|fewest|longest|shortest|top)\b"
    r"((?: (?!first|on|at|in|to|come|comes|lead|leads|open|opens|head|heads|should|is|be)\w+){0,4})"
)
_IN_TURN = re.compile(r"\b(?:then|within (?:each|every|an?|the))\b")
_MORE = re.compile(
    r"(?<!\bnothing )(?<!\bto )(?<!\bby )"
    r"\b(?:anything|something|else|any other|any further|other columns?|further columns?)\b"
    r"(?! (?:else )?th(?:at|an))"
)
_FURTHER = re.compile(r"\b(?:any further|further split|even finer|additional split)\b")
_FIGURES = re.compile(
    r"\b(?:figures?|numbers?|counts?|shares?|rates?|percentages?|tally|values?|sums?|totals?|scores?"
    r"|averages?|means?|index|amounts?|names?|ratios?|nothing)\b(?! of\b)"
)
