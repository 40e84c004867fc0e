"""What a question may be about: annotated points, parts of the gold SQL, what the gold leaves open."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from birdenv.users._brief import Ambiguity, Brief, Notes
from birdenv.users._segments import Segment, segments
from birdenv.users.sql_in_words import read_aloud, respelt
from birdenv.users.sql_in_words._lexer import split_words, tokenize
from birdenv.users.understanding._asked import KINDS, PLAIN_KINDS
from birdenv.users.understanding._kinds import clause_kinds, kinds_of_sql, settled_kinds
from birdenv.users.understanding._open import kept, left_open, said_in, unused_columns
from birdenv.users.understanding._parts import telling_parts
from birdenv.users.understanding._words import ASIDE_STEMS, STOP_WORDS, clean, stem, trigrams, words

GROUPS = ("critical", "knowledge", "non_critical", "part", "open", "said")

Field: TypeAlias = Literal["term", "sql", "notes"]
FIELDS: tuple[Field, ...] = ("term", "sql", "notes")

_KEYWORDS = frozenset(
    """SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AND OR NOT IN IS NULL AS ON JOIN LEFT CASE
    WHEN THEN ELSE END CAST SUM AVG COUNT MIN MAX ROUND DESC ASC DISTINCT BETWEEN LIKE REAL INTEGER INNER
    TEXT OVER UNION ALL COALESCE NULLIF WITH CREATE VIEW TABLE INSERT VALUES PARTITION NULLS FIRST LAST
    JSON_EXTRACT UPDATE SET DELETE INTO INDEX IF EXISTS FLOAT NUMERIC DECIMAL POWER""".split()
)
_ABBREVIATION = re.compile(r"\(([^()]{1,40})\)\s*$")
_MISSING = re.compile(r"\b(?:null|coalesce|ifnull|nulls|nullif)\b")
_DATA_NOTE = re.compile(r"Data type:[^.]*\.?|Full name:|Explanation:|Possible categories:|Example:")


FACETS: tuple[str, ...] = (
    *GROUPS,
    *KINDS,
    *(f"{group} {kind}" for group in ("main", "open", "said") for kind in sorted(PLAIN_KINDS)),
    "refuse",
    "ask back",
)
"""What the word runs speak for: groups and kinds of candidates, a refusal, asking back."""

_PLACE = {name: place for place, name in enumerate(FACETS)}


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Something that a question may be about.

    `group` is "critical", "knowledge", "non_critical", "part", "open" (a kind of thing that the gold SQL
    leaves open) or "said" (what the request says, where the gold SQL is withheld). `names` are the ways to
    call an annotated term; `same` numbers the candidates that say the same. `main_kinds` are what a
    candidate is all about, where it can be asked for without a name. `answer` is the whole answer, where it
    is not read from SQL.
    """

    group: str
    target: str
    kinds: frozenset[str]
    clause: str = ""
    items: tuple[Ambiguity, ...] = ()
    segments: tuple[Segment, ...] = ()
    names: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    same: int = 0
    main_kinds: frozenset[str] = frozenset()
    answer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A brief's candidates, and where each word (stemmed) occurs in them.

    `postings` has for a stem the number of the candidate and the field; `weight` how telling a stem is;
    `term_weight` the weight of all words of a candidate's term; `spoken` are the stems of terms and SQL;
    `unused` those of columns that the gold SQL does not use;
    `spellings` finds these by three letters; `plain_kinds` can be asked for in this task without naming
    anything; `linked` are parts with the points whose terms they have in them.
    """

    candidates: tuple[Candidate, ...]
    postings: Mapping[str, tuple[tuple[int, int], ...]]
    weight: Mapping[str, float]
    term_weight: tuple[float, ...]
    spoken: frozenset[str]
    unused: frozenset[str]
    spellings: Mapping[str, tuple[str, ...]]
    plain_kinds: frozenset[str]
    linked: tuple[tuple[int, int], ...]
    facets: tuple[tuple[int, ...], ...]


def _facets_of(candidate: Candidate) -> tuple[int, ...]:
    """Return the places of a candidate's facets."""
    names = [
        candidate.group,
        *sorted(candidate.kinds),
        *(f"main {kind}" for kind in sorted(candidate.main_kinds)),
    ]
    if candidate.group in ("open", "said"):
        names += [f"{candidate.group} {kind}" for kind in sorted(candidate.main_kinds)]
    return tuple(_PLACE[name] for name in names)


@lru_cache(maxsize=256)
def index_of(brief: Brief) -> Index:
    """Return the index of `brief`, compiled when it is first asked for."""
    found: list[tuple[Candidate, dict[Field, set[str]]]] = []
    found += _points(brief)
    found += _parts(brief)
    found += _left_open(brief)
    return _indexed(found)


def _points(brief: Brief) -> Iterable[tuple[Candidate, dict[Field, set[str]]]]:
    by_term: dict[str, list[Ambiguity]] = {}
    for item in brief.ambiguities:
        if clean(item.term):
            by_term.setdefault(clean(item.term), []).append(item)
    contents: dict[frozenset[str], int] = {}
    for term, items in by_term.items():
        spoken = _spoken(" ".join(item.snippet for item in items), brief.identifiers)
        content = frozenset(
            t.text.lower() for item in items for t in tokenize(item.snippet) if t.kind != "symbol"
        )
        twin = next((n for other, n in contents.items() if _alike(content, other)), len(contents))
        contents.setdefault(content, twin)
        notes = set[str]()
        if items[0].kind != "non_critical":
            notes = _noted(brief.notes, items) | _clear_words(brief.clear_query, items)
        kinds = frozenset[str]().union(*map(settled_kinds, items))
        candidate = Candidate(
            group=items[0].kind,
            target=items[0].term,
            kinds=kinds,
            items=tuple(items),
            names=_names(term),
            literals=_literals(" ".join(item.snippet for item in items)),
            same=twin,
            main_kinds=_main_kinds(items),
        )
        sql = spoken if items[0].kind != "non_critical" else set()
        if items[0].kind == "non_critical":
            notes |= _all_words(" ".join(item.snippet for item in items))
        yield candidate, {"term": _stems(term), "sql": sql, "notes": notes}


def _main_kinds(items: list[Ambiguity]) -> frozenset[str]:
    if items[0].kind == "non_critical":
        settled = settled_kinds(items[0])
        order = ("order", "round", "distinct", "unmatched", "null")
        return frozenset([kind for kind in order if kind in settled][:1])
    return frozenset().union(*(clause_kinds(item.snippet) for item in items)) & {"limit", "order", "distinct"}


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) > 0.8 * len(one | other)


def _parts(brief: Brief) -> Iterable[tuple[Candidate, dict[Field, set[str]]]]:
    if not any(brief.gold):
        return
    parts = gold_parts(brief.gold, brief.dialect)
    for number, (part, terms) in enumerate(telling_parts(parts, brief.ambiguities), 1000):
        if part.clause == "join":
            continue
        candidate = Candidate(
            group="part",
            target=part.id,
            kinds=kinds_of_sql(part.sql, part.clause),
            clause=part.clause,
            segments=(part,),
            names=tuple(name for term in terms for name in _names(clean(term))),
            literals=_literals(part.sql),
            same=number,
            main_kinds=PLAIN_KINDS
            & {part.clause, _MAIN_KINDS.get(part.clause, ""), _missing(part), _rounded(part)},
        )
        notes = _meanings(brief.notes, part.sql) | _beside_terms(brief.request, terms)
        if part.clause not in ("output", "group", "order"):
            notes |= _near(brief.clear_query, _literals(part.sql))
        spoken = _spoken(part.sql, brief.identifiers)
        if part.clause == "create":
            spoken |= {stem(word) for word in words(clean(part.sql)) if word in ("view", "table", "index")}
        yield candidate, {"sql": spoken, "notes": notes}


def _missing(part: Segment) -> str:
    """The kind "null", if a condition is only about missing values."""
    return "null" if part.clause == "where" and re.search(r"(?i)\bIS (?:NOT )?NULL$", part.sql) else ""


def _rounded(part: Segment) -> str:
    return "round" if part.clause == "select" and re.search(r"(?i)\bROUND\b", part.sql) else ""


_MAIN_KINDS = {"create": "name", "assign": "change", "values": "change"}


def _beside_terms(request: str, terms: Iterable[str]) -> set[str]:
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


def _left_open(brief: Brief) -> Iterable[tuple[Candidate, dict[Field, set[str]]]]:
    """Who is kept without a match, and the kinds of thing that neither the gold SQL nor a point settles.

    Where the gold SQL is withheld, what the request says of such a kind is all that is known.
    """
    gold = " ".join(brief.gold).lower()
    parts = gold_parts(brief.gold, brief.dialect)
    kinds_of_points = [settled_kinds(item) for item in brief.ambiguities if item.kind == "non_critical"]
    settled = set[str]().union(*kinds_of_points, *(clause_kinds(item.snippet) for item in brief.ambiguities))
    settled |= {part.clause for part in parts}
    settled |= {"round"} if "round" in gold else set()
    settled |= {"null"} if _MISSING.search(gold) else set()
    settled |= {"tie"} if any(part.clause == "order" and "," in part.sql for part in parts) else set()
    joins, answer = kept(parts)
    if joins and "unmatched" not in settled:
        kinds = frozenset({"unmatched"})
        yield (
            Candidate(
                "part", joins[0].id, kinds, "join", segments=joins, same=1900, main_kinds=kinds, answer=answer
            ),
            {"sql": _tables(joins)},
        )
    if gold:
        found = [(kind, answer, "") for kind, answer in left_open(settled)]
    else:
        found = list(said_in(brief.request, settled))
        said = {kind for kind, _, _ in found}
        found += [(k, a, "") for k, a in left_open(settled | said) if k in ("order", "limit", "round")]
    for number, (kind, answer, said_words) in enumerate(found, 2001):
        fields: dict[Field, set[str]] = {"notes": _stems_in(said_words)}
        if kind == "filter":
            fields = {"sql": _stems_in(unused_columns(brief))}
        candidate = Candidate(
            group="said" if said_words else "open",
            target="",
            kinds=frozenset({kind}),
            clause=kind,
            same=number if said_words else 2000,
            main_kinds=PLAIN_KINDS & {kind},
            answer=answer,
        )
        yield candidate, fields


def _tables(joins: Iterable[Segment]) -> set[str]:
    """The stems of the names of joined tables."""
    return _stems_in(" ".join(match[1] for part in joins if (match := _JOINED.search(part.sql))))


_JOINED = re.compile(r"(?i)\bJOIN\s+(\w+)")


@lru_cache(maxsize=64)
def gold_parts(gold: tuple[str, ...], dialect: str) -> tuple[Segment, ...]:
    """Return the parts of gold SQL."""
    return segments(gold, dialect)


def _indexed(found: list[tuple[Candidate, dict[Field, set[str]]]]) -> Index:
    holders: dict[str, set[tuple[int, int]]] = defaultdict(set)
    spread: Counter[str] = Counter()
    for number, (_, fields) in enumerate(found):
        for place, field in enumerate(FIELDS):
            for word in fields.get(field, ()):
                holders[word].add((number, place))
        spread.update(set[str]().union(*fields.values()))
    many = max(len(found), 2)
    weight = {
        word: round(math.log(1 + many / times) * (0.35 if word in ASIDE_STEMS else 1.0), 6)
        for word, times in spread.items()
    }
    is_open = [candidate.group == "open" for candidate, _ in found]
    spoken = frozenset(
        word
        for word, places in holders.items()
        if any(place < 2 and not is_open[number] for number, place in places)
    )
    unused = frozenset(
        word for word, places in holders.items() if all(is_open[number] for number, _ in places)
    )
    spellings: dict[str, set[str]] = defaultdict(set)
    for word in spoken:
        if len(word) > 3:
            for letters in trigrams(word):
                spellings[letters].add(word)
    terms = tuple(
        round(sum(weight[word] for word in sorted(fields.get("term", ()))), 6) for _, fields in found
    )
    return Index(
        candidates=tuple(candidate for candidate, _ in found),
        postings={word: tuple(sorted(places)) for word, places in holders.items()},
        weight=weight,
        term_weight=terms,
        spoken=spoken,
        unused=unused,
        spellings={letters: tuple(sorted(spelt)) for letters, spelt in spellings.items()},
        facets=tuple(_facets_of(candidate) for candidate, _ in found),
        plain_kinds=frozenset().union(*(candidate.main_kinds for candidate, _ in found)),
        linked=tuple(
            (number, other)
            for number, (part, _) in enumerate(found)
            for other, (point, _) in enumerate(found)
            if part.segments and point.items and not set(part.names).isdisjoint(point.names)
        ),
    )


def _names(term: str) -> tuple[str, ...]:
    """How a term may be called: as it is, without its abbreviation, and by that alone; as words."""
    forms = [term]
    if match := _ABBREVIATION.search(term):
        forms += [term[: match.start()].strip(), match[1].strip()]
    said = (" ".join(words(form)) for form in forms)
    return tuple(dict.fromkeys(name for name in said if name))


def _stems(text: str) -> set[str]:
    said = words(text)
    return {stem(word) for word in said if word not in STOP_WORDS} or {stem(word) for word in said}


def _spoken(sql: str, identifiers: frozenset[str]) -> set[str]:
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


def _all_words(sql: str) -> set[str]:
    """The stems of a snippet's names, those of tables included."""
    names = (token.text for token in tokenize(sql) if token.kind in ("word", "quoted"))
    return {
        stem(word)
        for name in names
        if name.upper() not in _KEYWORDS
        for word in split_words(name).split()
        if len(word) > 2 and word not in STOP_WORDS
    }


def _literals(sql: str) -> tuple[str, ...]:
    texts = (
        " ".join(words(clean(token.text))) for token in tokenize(sql) if token.kind in ("string", "number")
    )
    return tuple(dict.fromkeys(text for text in texts if len(text) > 2 or (text.isdigit() and len(text) > 1)))


def _meanings(notes: Notes | None, sql: str) -> set[str]:
    if notes is None:
        return set()
    names = {token.text.lower() for token in tokenize(sql) if token.kind in ("word", "quoted")}
    text = " ".join(notes.columns[name] for name in sorted(names) if name in notes.columns)
    return _stems_in(_DATA_NOTE.sub(" ", text[:4000]))


def _noted(notes: Notes | None, items: list[Ambiguity]) -> set[str]:
    if notes is None:
        return set()
    ids = sorted({number for item in items for number in item.deleted_knowledge})
    text = " ".join(notes.knowledge[number] for number in ids if number in notes.knowledge)
    return _stems_in(text[:4000]) | _meanings(notes, " ".join(item.snippet for item in items))


_CLEAR_WINDOW = 5


def _clear_words(clear_query: str, items: list[Ambiguity]) -> set[str]:
    """Words of the clear question that stand near a literal of the snippet."""
    return _near(clear_query, _literals(" ".join(item.snippet for item in items)))


def _near(text: str, literals: Iterable[str]) -> set[str]:
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


def _stems_in(text: str) -> set[str]:
    return {stem(word) for word in split_words(text).split() if len(word) > 2 and word not in STOP_WORDS}
