"""Kinds of thing that a piece of SQL settles."""

from __future__ import annotations

import re
from itertools import pairwise

from birdenv.users._brief import Ambiguity
from birdenv.users.sql_in_words import LexicalUnit, tokenize

_BY_TYPE = (
    ("sort", {"order", "extreme"}),
    ("rank", {"order", "tie", "limit", "extreme"}),
    ("decimal", {"round"}),
    ("null", {"null"}),
    ("distinct", {"distinct"}),
    ("join", {"unmatched", "null"}),
    ("divide_zero", {"null"}),
    ("date_format", {"period"}),
)
_DATE = re.compile(r"\d{4}-\d\d|^\d\d?:\d\d|^[-+]\d+ (?:day|month|year)|^%[YmdH]|^(?:19|20)\d\d$")
_TEMPORAL = re.compile(r"(?i)(?:date|_on|_at|year|month|timestamp)$")
_COMPARED = frozenset({">", "<", ">=", "<=", "BETWEEN"})
_CATEGORY = frozenset({"=", "<>", "!=", "IN", "LIKE", "=="})
_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "TOTAL", "MEDIAN"})
_HUNDRED = frozenset({"100", "100.0"})
_MISSING = frozenset({"NULL", "COALESCE", "IFNULL", "NULLIF", "NULLS", "ISNULL", "NOTNULL"})
_TIMES = frozenset({"JULIANDAY", "STRFTIME", "DATE", "DATETIME", "TIMESTAMP", "EXTRACT", "INTERVAL"})


def settled_kinds(item: Ambiguity) -> frozenset[str]:
    """Find the kinds of thing that an annotated point settles."""
    if item.kind == "non_critical":
        for start, kinds in _BY_TYPE:
            if item.type.startswith(start):
                more = {"scale", "count"} if "round" in kinds else {"tie"} if "order" in kinds else set()
                return frozenset(kinds) | kinds_of_sql(item.snippet) & more
    return kinds_of_sql(item.snippet) | {"meaning"}


_SAID = {
    "threshold": r"\b(?:above|below|over|under|exceed\w*|least|most|than|up to|beyond|within)\b[^.]*\d"
    r"|\d+(?:\.\d+)? (?:or|and) (?:more|less|above|below|higher|lower)",
    "period": r"\b(?:19|20)\d\d\b|\b(?:latest|recent|last|past|since|daily|monthly)\b"
    r"|\b(?:date|month|year|week|day)s?\b",
    "category": r"'[^']+'|\b(?:labell?ed|classif\w+|categor\w+|mark\w*|flag\w*)\b",
    "scale": r"\bpercent|%",
    "formula": r"\b(?:divided|times|ratio|minus|plus|calculat\w+|comput\w+)\b",
}


def kinds_said(text: str) -> frozenset[str]:
    """Find the kinds of thing that a sentence of a request settles, beside its own clause."""
    return frozenset(kind for kind, said in _SAID.items() if re.search(said, text, re.IGNORECASE))


def clause_kinds(sql: str) -> frozenset[str]:
    """Find which of ORDER BY, LIMIT and SELECT DISTINCT a snippet has as clauses."""
    text = " ".join(token.key for token in tokenize(sql))
    clauses = (("order", "ORDER BY"), ("limit", "LIMIT"), ("distinct", "SELECT DISTINCT"))
    return frozenset(
        kind for kind, words in clauses if words in text and (kind == "limit" or "OVER" not in text)
    )


def kinds_of_sql(sql: str, clause: str = "") -> frozenset[str]:
    """Find the kinds of thing that a piece of SQL settles; `clause` is where it stands, if that is known."""
    tokens = tokenize(sql)
    keys = [token.key for token in tokens]
    words = frozenset(keys)
    found = _of_values(tokens, words) | _of_clauses(keys, words)
    if any(token.text in _HUNDRED for token in tokens if token.kind == "number"):
        found.add("scale")
    if "period" in found:
        found.add("extent")
    if any(_TEMPORAL.search(token.text) for token in tokens if token.kind in ("word", "quoted")):
        found.add("period")
    found |= {
        "order": {"order", "extreme"},
        "tie": {"tie"},
        "limit": {"limit", "extreme"},
        "group": {"group", "distinct"},
        "distinct": {"distinct"},
        "output": {"output"},
        "join": {"unmatched"},
        "where": {"filter"},
        "having": {"threshold", "filter"},
        "assign": {"change"},
        "values": {"change"},
        "create": {"name"},
        "column": {"output"},
        "columns": {"output"},
    }.get(clause, set())
    return frozenset(found) or frozenset({"output"})


def _of_values(tokens: list[LexicalUnit], words: frozenset[str]) -> set[str]:
    found: set[str] = set()
    strings = [token.text for token in tokens if token.kind == "string"]
    dates = any(_DATE.search(text) for text in strings) or not words.isdisjoint(_TIMES)
    if dates:
        found.add("period")
    if not words.isdisjoint(_COMPARED):
        found.add("threshold")
    numbers = any(
        sign.key in ("=", "==", "<>", "!=") and value.kind == "number" for sign, value in pairwise(tokens)
    )
    if (not words.isdisjoint(_CATEGORY) and strings and not dates) or numbers or "WHEN" in words:
        found.add("category")
    if not words.isdisjoint(_MISSING):
        found.add("null")
    return found


def _of_clauses(keys: list[str], words: frozenset[str]) -> set[str]:
    found: set[str] = set()
    operators = sum(key in ("*", "/", "-", "+") for key in keys)
    stars = sum(one == "(" and other == "*" for one, other in pairwise(keys))
    if operators > stars:
        found.add("formula")
    if not words.isdisjoint(_AGGREGATES):
        found.add("count")
    if "ORDER" in words and "OVER" not in words:
        found |= {"order", "tie"} if "," in keys[keys.index("ORDER") :] else {"order"}
    for word, kind in (("LIMIT", "limit"), ("ROUND", "round"), ("DISTINCT", "distinct"), ("GROUP", "group")):
        if word in words:
            found.add(kind)
    if not words.isdisjoint({"MAX", "MIN", "RANK", "ROW_NUMBER", "DENSE_RANK", "LIMIT", "ORDER"}):
        found.add("extreme")
    if "LEFT" in words:
        found.add("unmatched")
    if not words.isdisjoint({"DELETE", "UPDATE", "INSERT", "SET"}):
        found.add("change")
    return found
