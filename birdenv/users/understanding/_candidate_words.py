"""The words by which a candidate may be called: of its term, its SQL, its columns, the knowledge."""

from __future__ import annotations

import re
from collections.abc import Iterable

from birdenv.users._brief import Ambiguity, Brief, BriefNotes
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import read_aloud, respelt, split_words, tokenize
from birdenv.users.understanding.vocabulary._word_forms import NUMBERS, STOP_WORDS, clean, stem, words

_KEYWORDS = frozenset(
    """SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AND OR NOT IN IS NULL AS ON JOIN LEFT CASE
    WHEN THEN ELSE END CAST SUM AVG COUNT MIN MAX ROUND DESC ASC DISTINCT BETWEEN LIKE REAL INTEGER INNER
    TEXT OVER UNION ALL COALESCE NULLIF WITH CREATE VIEW TABLE INSERT VALUES PARTITION NULLS FIRST LAST
    JSON_EXTRACT UPDATE SET DELETE INTO INDEX IF EXISTS FLOAT NUMERIC DECIMAL POWER""".split()
)


_ABBREVIATION = re.compile(r"\(([^()]{1,40})\)\s*$")


_DATA_NOTE = re.compile(r"Data type:[^.]*\.?|Full name:|Explanation:|Possible categories:|Example:")


def beside_terms(request: str, terms: Iterable[str]) -> set[str]:
    """The words that stand before or after a term in the request: in "a high wear index" it is "high"."""
    said = words(clean(request))
    found: set[str] = set()
    for term in terms:
        parts = words(clean(term))
        for i in range(len(said) - len(parts) + 1):
            if said[i : i + len(parts)] == parts:
                near = said[max(0, i - 2) : i] + said[i + len(parts) : i + len(parts) + 1]
                found.update(stem(word) for word in near if word not in STOP_WORDS)
    return found


def subject_stems(brief: Brief) -> frozenset[str]:
    """The stems of what is listed: the tables that the gold SQL reads, and the nouns that terms end with.

    In "active members" it is "active" that tells which point is meant; "members" is in any question.
    """
    tables = " ".join(name for sql in brief.gold for name in _TABLES.findall(sql))
    terms = [words(clean(item.term)) for item in brief.ambiguities]
    heads = " ".join(said[-1] for said in terms if len(said) > 1 and said[-1].endswith("s"))
    return frozenset(stems_in(f"{tables} {heads}"))


_TABLES = re.compile(r"(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")


def tables_joined(joins: Iterable[Segment]) -> set[str]:
    """The stems of the names of joined tables."""
    return stems_in(" ".join(match[1] for part in joins if (match := _JOINED.search(part.sql))))


_JOINED = re.compile(r"(?i)\bJOIN\s+(\w+)")


def names_of(term: str) -> tuple[str, ...]:
    """How a term may be called: as it is, without its abbreviation, and by that alone; as words."""
    forms = [term]
    if match := _ABBREVIATION.search(term):
        forms += [term[: match.start()].strip(), match[1].strip()]
    said = (" ".join(words(form)) for form in forms)
    return tuple(dict.fromkeys(name for name in said if name))


def stems_of(text: str) -> set[str]:
    said = words(text)
    return {stem(word) for word in said if word not in STOP_WORDS} or {stem(word) for word in said}


def spoken_stems(sql: str, identifiers: frozenset[str]) -> set[str]:
    """The stems of a snippet's own words: its columns and literals, without keywords, tables and aliases."""
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
    """The stems of a snippet's names, those of tables included."""
    names = (token.text for token in tokenize(sql) if token.kind in ("word", "quoted"))
    return {
        stem(word)
        for name in names
        if name.upper() not in _KEYWORDS
        for word in split_words(name).split()
        if len(word) > 2 and word not in STOP_WORDS
    }


def literals_of(sql: str, short: bool = False) -> tuple[str, ...]:
    """Return the values in `sql`; numbers of one digit only if `short`, then in words as well."""
    texts = (
        " ".join(words(clean(token.text))) for token in tokenize(sql) if token.kind in ("string", "number")
    )
    found = dict.fromkeys(texts)
    if short:
        numbers = [text for text in found if text.isdigit()]
        return tuple(dict.fromkeys([*numbers, *(NUMBERS[text] for text in numbers if text in NUMBERS)]))
    return tuple(text for text in found if len(text) > 2 or (text.isdigit() and len(text) > 1))


def numbers_in(text: str) -> tuple[str, ...]:
    """The numbers in a text, small ones in digits and in words."""
    said = dict.fromkeys(words(clean(text)))
    small = (pair for pair in NUMBERS.items() if not said.keys().isdisjoint(pair))
    return tuple(dict.fromkeys([*(form for pair in small for form in pair), *filter(str.isdigit, said)]))


def meaning_stems(notes: BriefNotes | None, sql: str) -> set[str]:
    if notes is None:
        return set()
    names = {token.text.lower() for token in tokenize(sql) if token.kind in ("word", "quoted")}
    text = " ".join(notes.columns[name] for name in sorted(names) if name in notes.columns)
    return stems_in(_DATA_NOTE.sub(" ", text[:4000]))


def noted_stems(notes: BriefNotes | None, items: list[Ambiguity]) -> set[str]:
    if notes is None:
        return set()
    ids = sorted({number for item in items for number in item.deleted_knowledge})
    text = " ".join(notes.knowledge[number] for number in ids if number in notes.knowledge)
    return stems_in(text[:4000]) | meaning_stems(notes, " ".join(item.snippet for item in items))


_CLEAR_WINDOW = 5


def clear_stems(clear_query: str, items: list[Ambiguity]) -> set[str]:
    """Words of the clear question that stand near a literal of the snippet."""
    return stems_near(clear_query, literals_of(" ".join(item.snippet for item in items)))


def stems_near(text: str, literals: Iterable[str]) -> set[str]:
    """Words of a text that stand near a literal."""
    said = words(clean(text))
    found: set[str] = set()
    for literal in literals:
        parts = literal.split()
        for i in range(len(said) - len(parts) + 1):
            if said[i : i + len(parts)] == parts:
                near = said[max(0, i - _CLEAR_WINDOW) : i + len(parts) + _CLEAR_WINDOW]
                found.update(stem(word) for word in near if word not in STOP_WORDS)
    return found


def stems_in(text: str) -> set[str]:
    return {stem(word) for word in split_words(text).split() if len(word) > 2 and word not in STOP_WORDS}


def sibling_stems(notes: BriefNotes | None, sql: str) -> set[str]:
    """The stems of the other values that the columns compared in `sql` have, by their meanings.

    A column's meaning lists its values if it names one that the SQL compares the column with.
    """
    if notes is None:
        return set()
    tokens = tokenize(sql)
    values = {" ".join(words(clean(token.text))) for token in tokens if token.kind in ("string", "number")}
    found: set[str] = set()
    for name in sorted({token.text.lower() for token in tokens if token.kind in ("word", "quoted")}):
        meaning = notes.columns.get(name, "")[:1000]
        spaced = f" {' '.join(words(clean(meaning)))} "
        if any(value and f" {value} " in spaced for value in values):
            found |= stems_in(_DATA_NOTE.sub(" ", meaning))
    return found - {stem(word) for value in values for word in value.split()}
