"""Additional candidates: what the gold SQL leaves open, which rows joins keep, and what the request says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from birdenv.users._brief import Brief
from birdenv.users.segments import Segment
from birdenv.users.understanding._gold_parts import block_of
from birdenv.users.understanding._phrases import any_of, read_phrases

SAID = "As I said: "
"""The beginning of an answer that repeats the request."""

_NO_PREFERENCE = "I have no preference about that."
ALL_ROWS = "I have no preference about that: show all of them, there is no limit to the number of rows."
NO_RESTRICTION = (
    "I have no preference about that: take all of them, of any kind and from any time."
    " There is no minimum and no restriction."
)
ANSWERS = {
    "order": _NO_PREFERENCE,
    "limit": ALL_ROWS,
    "distinct": _NO_PREFERENCE,
    "round": _NO_PREFERENCE,
    "null": _NO_PREFERENCE,
    "tie": _NO_PREFERENCE,
    "filter": NO_RESTRICTION,
}
"""The answers about kinds of thing that the gold SQL leaves open."""

_IN_AVERAGE = "Leave those without a value out of the average: do not count them as zero."
_UNIQUE = {True: "It has to be unique.", False: "It need not be unique, an ordinary one will do."}

TOGETHER = "I want one result for all of them together, not one for each group."
KEPT = "Keep those that have none as well: they all belong in it."
DROPPED = "Only those that have any: leave out the ones without."

_MENTIONS = {
    kind: any_of(phrases) for kind, phrases in read_phrases(__package__ or "", "kinds_mentioned.txt").items()
}
_SENTENCE = re.compile(r"[^.?!\n]+(?:[.?!](?!\s|$)[^.?!\n]*)*[.?!]?")


def said_in(request: str, kind: str) -> str:
    """Return the sentences in a request that say something about a kind of thing, such as "output"."""
    found = (match.group().strip() for match in _SENTENCE.finditer(request))
    return " ".join(one for one in found if _MENTIONS[kind].search(one.lower()))


def mentioned_in(request: str) -> frozenset[str]:
    """Return the kinds of thing that a request mentions."""
    found = frozenset(kind for kind, said in _MENTIONS.items() if said.search(request.lower()))
    return found | {"name"} if re.search(r"\w_\w|'", request) else found


def kept(parts: Sequence[Segment]) -> tuple[tuple[Segment, ...], str]:
    """Return the parts that decide whether rows without a match are kept, and the answer about this.

    These parts are the outermost joins, because joins in subqueries drop no rows from the outermost query.
    Without a join, they are the source and the grouping of a query that only counts rows: it leaves out
    groups without rows.

    Both results are empty for statements that change data, and where a condition decides instead: one that
    asks for rows without a match, or one on the optional side of an outer join.
    """
    shown = (part for part in parts if part.clause == "output" and not part.is_inner)
    outer = min((block_of(part.id) for part in shown), default=0)
    sources = [part for part in parts if part.clause == "from"]
    joins = [part for part in parts if part.clause == "join"]
    if not sources or any(part.clause in _CHANGES or _LACKS.search(part.sql) for part in parts):
        return (), ""
    if not joins:
        return _counted_groups(parts)
    named = {part.sql.partition(" ")[0].lower() for part in parts if part.clause == "cte"}
    source = next((part for part in sources if block_of(part.id) == outer), sources[0])
    read = re.sub(r"(?i)^FROM\s+", "", source.sql)
    if not any(block_of(part.id) == outer for part in joins):
        if not read.startswith("(") and re.split(r"\W", read)[0].lower() not in named:
            return (source,), KEPT
        outer = min(block_of(part.id) for part in joins)
    of_outer = [part for part in joins if block_of(part.id) == outer]
    keeping = [part for part in of_outer if re.match(r"(?i)\s*(?:LEFT|RIGHT|FULL)\b", part.sql)]
    joined = "|".join(name for part in keeping for pair in _JOINED.findall(part.sql) for name in pair if name)
    conditions = [part.sql for part in parts if part.clause == "where" and block_of(part.id) == outer]
    if joined and re.search(rf"(?i)\b(?:{joined})\.", " ".join(conditions)):
        return (), ""
    told = tuple(Segment(p.id, p.clause, p.sql.partition("(SELECT")[0].strip()) for p in keeping or of_outer)
    return told, KEPT if keeping else DROPPED


def _counted_groups(parts: Sequence[Segment]) -> tuple[tuple[Segment, ...], str]:
    """Return what `kept` returns for a query without a join."""
    told = tuple(part for part in parts if part.clause in ("from", "group"))
    shown = [part.sql for part in parts if part.clause == "select" and "(" in part.sql]
    only_counts = bool(shown) and all(map(_COUNTS_ROWS.match, shown)) and {p.clause for p in parts} <= _SIMPLE
    is_plain = only_counts and len(told) == 2 and not any("IS NULL" in part.sql.upper() for part in parts)
    return (told, DROPPED) if is_plain else ((), "")


def implied(gold: Sequence[str], parts: Sequence[Segment]) -> dict[str, str]:
    """Return the answers about kinds of thing that the gold SQL settles without saying so."""
    found = {}
    shown = [part.sql for part in parts if part.clause == "select" and not part.is_inner]
    if any(map(_AVERAGES.search, shown)) and not any(map(_COUNTS_SOME.search, shown)):
        found["null"] = _IN_AVERAGE
    if len(gold) == 1 and (index := _INDEX.match(gold[0])):
        found["distinct"] = _UNIQUE[index[1] is not None]
    return found


def in_one(parts: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the sources of the only query if it combines all its rows in one result, without groups."""
    outer = [part for part in parts if not part.is_inner]
    shown = [part.sql for part in outer if part.clause == "select"]
    several = len([part for part in outer if part.clause == "statement"]) > 1
    several |= len(list(filter(_COUNTS_SOME.search, shown))) > 1
    if several or not shown or any(part.clause in ("group", "set") for part in outer):
        return ()
    return tuple(part for part in outer if part.clause == "from") if all(map(_COMBINES.match, shown)) else ()


_AVERAGES = re.compile(r"(?i)\bAVG\(")
_INDEX = re.compile(r"(?i)\s*CREATE\s+(UNIQUE\s+)?INDEX\b")
_COMBINES = re.compile(
    r"(?i)(?!.*\bOVER\b)[\s\d.*(]*(?:(?:CAST|ROUND|COALESCE|IFNULL)\([\s\d.*(]*)*"
    r"(?:(?:COUNT|SUM|AVG|TOTAL|GROUP_CONCAT|STRING_AGG|STDDEV\w*)\(|(?:MIN|MAX)\([^,]*$)"
)

_CHANGES = frozenset({"assign", "values", "columns"})
_LACKS = re.compile(r"(?i)\bNOT (?:IN \(\s*(?:SELECT|WITH)|EXISTS)\b")
_COUNTS_SOME = re.compile(r"(?i)\bCASE\b|\bIIF\(|\bFILTER\s*\(|\bOVER\b|\bCOALESCE\(|\bIFNULL\(")
_COUNTS_ROWS = re.compile(r"(?i)COUNT\(\*\)(?:\s+AS\s+\S+)?$")
_SIMPLE = frozenset("statement output select from where group order limit".split())
_JOINED = re.compile(r"(?i)\bJOIN\s+\S+\s+(?:AS\s+)?(\w+)\s+ON\b|\bJOIN\s+(\w+)\s+ON\b")


def unused_columns(brief: Brief) -> str:
    """Return the names and meanings of the columns that the gold SQL does not use."""
    used = set(re.findall(r"\w+", " ".join([*brief.gold, *(i.snippet for i in brief.ambiguities)]).lower()))
    return " ".join(f"{name} {text}" for name, text in brief.notes.columns.items() if name not in used)
