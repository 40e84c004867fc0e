"""Find what a candidate's SQL settles, and the words that a question may use to refer to the candidate.

The words come from the candidate's term and SQL, from the meanings of the columns in this SQL, and from the
knowledge entries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import resources
from itertools import pairwise

from birdenv.users._brief import Ambiguity, Brief, BriefNotes
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import read_aloud, respelt, split_words, tokenize
from birdenv.users.understanding._word_forms import (
    NUMBERS,
    STOP_WORDS,
    clean,
    stem,
    word_list,
    words,
    written_out,
)

_SETTLED = json.loads(resources.files(__package__ or "").joinpath("kinds_settled.json").read_text("utf-8"))
_BY_TYPE, _BY_WORD, _BY_CLAUSE = (
    {name: frozenset(listed.split()) for name, listed in _SETTLED[f"by {source}"].items()}
    for source in ("type", "word", "clause")
)
"""The kinds that annotations of a type settle, the words of SQL that settles a kind, and the kinds that a
clause settles."""

_DATE = re.compile(r"\d{4}-\d\d|^\d\d?:\d\d|^[-+]\d+ (?:day|month|year)|^%[YmdH]|^(?:19|20)\d\d$")
_TEMPORAL = re.compile(r"(?i)(?:date|_on|_at|year|month|timestamp)$")
_EQUAL = frozenset({"=", "==", "<>", "!="})
_CATEGORY = _EQUAL | {"IN", "LIKE"}
_HUNDRED = frozenset({"100", "100.0"})


def settled_kinds(item: Ambiguity) -> frozenset[str]:
    """Return the kinds of thing that an annotated point settles, such as `order` or `threshold`."""
    if item.kind == "non_critical":
        for start, kinds in _BY_TYPE.items():
            if item.type.startswith(start):
                more = {"scale", "count"} if "round" in kinds else {"tie"} if "order" in kinds else set()
                return kinds | kinds_of_sql(item.snippet) & more
    return kinds_of_sql(item.snippet) | {"meaning"}


def kinds_of_sql(sql: str, clause: str = "") -> frozenset[str]:
    """Return the kinds of thing that a piece of SQL settles.

    `clause` is the kind of clause that contains the SQL; empty if this is not known.
    """
    tokens = tokenize(sql)
    keys = [token.key for token in tokens]
    words = frozenset(keys)
    found = {kind for kind, said in _BY_WORD.items() if not words.isdisjoint(said)}
    found |= _BY_CLAUSE.get(clause, frozenset())
    strings = [token.text for token in tokens if token.kind == "string"]
    if any(_DATE.search(text) for text in strings):
        found.add("period")
    if strings and "period" not in found and not words.isdisjoint(_CATEGORY):
        found.add("category")
    if any(sign.key in _EQUAL and value.kind == "number" for sign, value in pairwise(tokens)):
        found.add("category")
    if "period" in found:
        found.add("extent")
    if any(_TEMPORAL.search(token.text) for token in tokens if token.kind in ("word", "quoted")):
        found.add("period")
    if any(token.text in _HUNDRED for token in tokens if token.kind == "number"):
        found.add("scale")
    operators = sum(key in ("*", "/", "-", "+") for key in keys)
    if operators > sum(one == "(" and other == "*" for one, other in pairwise(keys)):
        found.add("formula")
    if "ORDER" in words and "OVER" not in words:
        found |= {"order", "tie"} if "," in keys[keys.index("ORDER") :] else {"order"}
    return frozenset(found) or frozenset({"output"})


_KEYWORDS = word_list("SQL keywords")


_DATA_NOTE = re.compile(r"Data type:[^.]*\.?|Full name:|Explanation:|Possible categories:|Example:")

_ABBREVIATION = re.compile(r"\(([^()]{1,40})\)\s*$")


def subject_stems(brief: Brief) -> frozenset[str]:
    """Return the stems of the words for what a request lists, such as "members".

    They are the names of the gold SQL's tables and the final plural nouns of annotated terms. They do not
    distinguish annotated points: in "active members", only "active" shows which point is meant.
    """
    tables = " ".join(tables_in(*brief.gold, *brief.earlier_gold))
    terms = [words(clean(item.term)) for item in (*brief.ambiguities, *brief.inherited)]
    heads = " ".join(said[-1] for said in terms if len(said) > 1 and said[-1].endswith("s"))
    return frozenset(stems_in(f"{tables} {heads}"))


def tables_in(*statements: str) -> list[str]:
    """Return the names after FROM, JOIN, INTO and UPDATE."""
    return _TABLE.findall(" ".join(statements))


_TABLE = re.compile(r"(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:\w+\.)?[\"`]?(\w+)")


def tables_joined(joins: Iterable[Segment]) -> set[str]:
    """Return the stems in the names of joined tables."""
    return stems_in(" ".join(tables_in(*(part.sql for part in joins))))


def names_of(term: str) -> tuple[str, ...]:
    """Return the forms in which a question may mention a term.

    They are the whole term, the term without a leading preposition or article, the term without its
    abbreviation in brackets, and the abbreviation alone.
    """
    term = written_out(term)
    forms = [term, _PREPOSITION.sub("", term)]
    if match := _ABBREVIATION.search(term):
        forms += [term[: match.start()].strip(), match[1].strip()]
    said = (" ".join(words(form)) for form in forms)
    return tuple(dict.fromkeys(name for name in said if name))


_PREPOSITION = re.compile(r"^(?:in|on|at|by|for|of|with|the) ")


def stems_of(text: str) -> set[str]:
    """Return the stems of the words in a text, without stop words unless it contains nothing else."""
    said = words(text)
    return {stem(word) for word in said if word not in STOP_WORDS} or {stem(word) for word in said}


def spoken_stems(sql: str, identifiers: frozenset[str]) -> set[str]:
    """Return the stems in a snippet's column names and literals, excluding keywords, tables and aliases."""
    hidden = read_aloud(sql, identifiers).hidden
    found: set[str] = set()
    for token in respelt(tokenize(sql), identifiers):
        if token.kind == "number":
            found.add(token.text)
        elif token.kind == "string" or (
            token.kind in ("word", "quoted")
            and token.key not in _KEYWORDS
            and token.text.lower() not in hidden
        ):
            found.update(
                stem(w) for w in split_words(token.text).split() if len(w) > 1 and w not in STOP_WORDS
            )
    return found


def all_stems(sql: str) -> set[str]:
    """Return the stems in all names in a snippet, including table names."""
    names = (token.text for token in tokenize(sql) if token.kind in ("word", "quoted"))
    return stems_in(" ".join(name for name in names if name.upper() not in _KEYWORDS))


def values_of(sql: str, *, small: bool) -> tuple[str, ...]:
    """Return the numbers and texts in a snippet as normalised text, small numbers only if `small` is True."""
    literals = (token.text for token in tokenize(sql) if token.kind in ("string", "number"))
    texts = dict.fromkeys(" ".join(words(clean(text))) for text in literals)
    found = [text for text in texts if len(text) > 2 or (text.isdigit() and (small or len(text) > 1))]
    return (*found, *(NUMBERS[text] for text in texts if small and text in NUMBERS))


def meaning_stems(notes: BriefNotes, sql: str) -> set[str]:
    """Return the stems of the words in the meanings of the columns that a snippet uses."""
    names = {token.text.lower() for token in tokenize(sql) if token.kind in ("word", "quoted")}
    text = " ".join(notes.columns[name] for name in sorted(names) if name in notes.columns)
    return stems_in(_DATA_NOTE.sub(" ", text[:4000]))


def noted_stems(notes: BriefNotes, items: list[Ambiguity]) -> set[str]:
    """Return the stems of the words in the knowledge and the column meanings that belong to some points."""
    ids = sorted({number for item in items for number in item.deleted_knowledge})
    text = " ".join(notes.knowledge[number] for number in ids if number in notes.knowledge)
    return stems_in(text[:4000]) | meaning_stems(notes, " ".join(item.snippet for item in items))


def stems_in(text: str) -> set[str]:
    """Return the stems of the longer words in a text, with names split into words, without stop words."""
    return {stem(word) for word in split_words(text).split() if len(word) > 2 and word not in STOP_WORDS}
