"""Decide what a question is about (BIRD-Interact §3.1, stage 1): a labelled term, a part of the gold SQL, or
nothing that a user answers.

Rules, the first that fits wins:

1. an annotated term that stands in quotation marks in the question (the longest such term);
2. a term that occurs by name, as whole words (the longest; the earliest of equally long ones). A term's
   name is also its abbreviation in brackets, "(CQI)", and what is left without it;
3. a term at least `OVERLAP` of whose content words occur in the question, up to light stemming;
4. a non-critical point whose type the question speaks of: sorting, rounding, missing values, duplicates ..;
5. the part of the gold SQL whose kind of clause, names or literals the question speaks of;
6. the one term that has a content word of the question which no other term has ("roomy?" for "roomy
   branches"), if most of the question's content words are the term's (half, in a question that quotes).

Where the gold SQL is known and has no sorting, limit or removal of duplicates, a question for one of these is
answered by having no preference (between 4 and 5: unlabelled, without a segment).

Whatever was matched, a question that besides the term's own words asks for SQL, for the answer, for
instructions or for everything at once is unanswerable; so is one for table or column names that names no
term. A term that was annotated several times grants all of its snippets.

Questions about a kind of clause that the gold SQL does not have: the user has no preference there.

Which questions a user does not answer: for SQL, database names, the answer, instructions, everything.

A question may name an annotated term and still ask for one of these ("give me the SQL for <term>"), so the
encoder leaves the term's words out before it asks here; a question *about* a term called "sql" is then
not taken for a request for SQL.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from birdenv.users._brief import Ambiguity, Brief, Call
from birdenv.users._matching import ASIDE_STEMS, SMALL_TALK, clean, content_stems, stem, words
from birdenv.users._segments import Segment, segments
from birdenv.users.sql_in_words import read_aloud
from birdenv.users.sql_in_words._lexer import split_words, tokenize

_ASKED: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "order",
        re.compile(
            r"\b(?:sort(?:ed|ing|s)?|ordering|order (?:by|of (?:the )?(?:rows|results|output))"
            r"|(?:rows|results|records|output|they|it|them) (?:be )?(?:ordered|ranked)"
            r"|in (?:what|which|any|a (?:certain|particular|specific)) order|(?:ascending|descending))\b"
        ),
    ),
    (
        "limit",
        re.compile(
            r"\b(?:limit(?:ed)?|how many (?:rows|results|records|entries)"
            r"|(?:maximum )?number of (?:rows|results)|row cap|cap (?:on )?the (?:rows|results|number))\b"
        ),
    ),
    (
        "distinct",
        re.compile(r"\b(?:duplicates?|duplicated|deduplicat\w+|distinct rows|repeated rows|unique rows)\b"),
    ),
)


def is_left_open(text: str, parts: tuple[Segment, ...]) -> bool:
    """Whether a question asks for a sorting, a limit or no duplicates, none of which is in `parts`.

    `text` are the question's words, `parts` those of the gold SQL.
    """
    asked = {clause for clause, pattern in _ASKED if pattern.search(text)}
    return bool(asked) and not asked.intersection(part.clause for part in parts)


_OWN_WORK = re.compile(
    r"\b(?:to|i|we|before|when|while|for|so) (?:(?!you\b)\w+ ){0,2}?"
    r"(?:writ(?:e|ing)|build(?:ing)?|generat(?:e|ing)|construct(?:ing)?|compos(?:e|ing)|produc(?:e|ing)"
    r"|creat(?:e|ing)|formulat(?:e|ing)|prepar(?:e|ing)|get(?:ting)?) (?:\w+ ){0,4}?"
    r"(?:sql|quer(?:y|ies)|statement|code|answer|solution|result)s?(?: (?:query|statement|code))?\b"
    r"|\b(?:in|for|of) my (?:sql|query)(?: query)?\b"
)
_SECRET = re.compile(
    r"\b(?:sql|ground truth|gold(?:en)? (?:answer|query|standard|solution)"
    r"|(?:reference|sample|model) (?:answer|query|solution)|annotat\w*|snippets?"
    r"|system prompt"
    r"|(?:ignore|disregard|forget|override) (?:\w+ ){0,3}?(?:instructions?|rules?|prompts?)"
    r"|(?:your|hidden|secret) (?:\w+ )?(?:instructions?|prompts?)"
    r"|(?:correct|final|expected|right|full|complete) (?:answer|solution|query|code|statement)s?"
    r"|(?:full|clear|entire|whole|complete|original|unambiguous|exact) (?:\w+ )?(?:questions?|requests?|task)"
    r"|(?:give|tell|show|provide|reveal|what is|what s|send|write) (?:\w+ ){0,3}?"
    r"(?:answer|solution|code|query|queries|statement|clear question|original question))\b"
)
_NAMES = re.compile(
    r"\b(?:schema|ddl|primary key|foreign key|database (?:structure|name|layout)"
    r"|(?:correct|expected) (?:result|output)s?"
    r"|(?:which|what|names? of the|name the|list (?:the|all)|all the) (?:\w+ ){0,2}?"
    r"(?:tables?|columns?|fields?|relations?|attributes?|databases?)"
    r"|(?:table|column|field|attribute|database)s? (?:names?|(?:is|are) (?:called|named)))\b"
)
_OUTPUT_COLUMNS = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:columns?|fields?|attributes?)"
    r" (?:should|do you want|would you like|are to|must|to)\b"
)


_EVERYTHING = re.compile(
    r"\b(?:(?:full|complete|entire|exact|whole|all|every|all of|all the|each of) (?:\w+ ){0,2}?"
    r"(?:requirements?|specifications?|specs?|filters?|conditions?|clauses?|constraints?|criteria|details|steps?"
    r"|ambiguit(?:y|ies)|clarifications?|logic)"
    r"|(?:tell|give|show|list|explain|reveal|dump|print|share|send) (?:me |us )?"
    r"(?:everything|it all|all of it)"
    r"|everything (?:you|that you|about (?:your|the) (?:question|request|task)))\b"
)
_KINDS = tuple(
    re.compile(rf"\b(?:{kind})\b")
    for kind in (
        r"filter(?:s|ed|ing)?|conditions?|where|restrictions?",
        r"sort(?:s|ed|ing)?|order(?:s|ed|ing)?|order by",
        r"group(?:s|ed|ing)?|group by|aggregations?|aggregates?",
        r"limits?|limited|row counts?",
        r"joins?|joined",
        r"columns?|fields?|outputs?",
        r"round(?:ed|ing)?|decimals?|precision",
        r"distinct|duplicates?",
        r"having|thresholds?",
    )
)


def out_of_scope(text: str, about_a_term: bool = False) -> bool:
    """Whether `text` (words of a question, lower case, one space between) asks for what a user never tells.

    An asker's remark about its own work ("to write the query, ..") is no request; which columns the output
    should have is a fair question. In a question `about_a_term` a mention of columns or tables does no harm:
    the answer is the term's meaning in plain words.
    """
    text = _OWN_WORK.sub(" ", text)
    if _SECRET.search(text):
        return True
    return not about_a_term and _NAMES.search(_OUTPUT_COLUMNS.sub(" ", text)) is not None


def asks_for_everything(text: str) -> bool:
    """Whether `text` asks for all there is to know, or for several kinds of clause at once."""
    if _EVERYTHING.search(text):
        return True
    return sum(kind.search(text) is not None for kind in _KINDS) > 2


OVERLAP = 0.6
"""Share of a term's content words that a question must contain to be about it."""

_TYPE_STEMS: tuple[tuple[str, frozenset[str]], ...] = (
    ("sort", frozenset({"sort", "order", "rank", "ascend", "descend", "arrang", "alphabet", "alphabetical"})),
    ("rank", frozenset({"rank", "ty", "tie", "order"})),
    ("decimal", frozenset({"round", "decimal", "precision", "digit", "precis"})),
    ("null", frozenset({"null", "miss", "empty", "blank", "absent", "unknown"})),
    ("distinct", frozenset({"distinct", "duplicat", "unique", "uniqu", "different"})),
    ("join", frozenset({"join", "unmatch", "inner", "outer", "match"})),
    ("divide_zero", frozenset({"zero", "division", "divid"})),
    ("date_format", frozenset({"date", "format"})),
)
_CLAUSE_STEMS: tuple[tuple[str, frozenset[str]], ...] = (
    ("order", frozenset({"sort", "order", "rank", "ascend", "descend", "arrang"})),
    ("limit", frozenset({"limit", "top", "cap", "maximum", "row"})),
    ("group", frozenset({"group", "aggregat", "breakdown", "per"})),
    ("distinct", frozenset({"distinct", "duplicat", "unique", "uniqu"})),
    ("output", frozenset({"column", "field", "output", "display", "return", "includ", "present"})),
    ("where", frozenset({"filter", "condition", "restrict", "exclud", "criteria", "criterion"})),
    ("having", frozenset({"filter", "condition", "threshold", "least", "minimum"})),
    ("join", frozenset({"join", "match", "unmatch", "combin"})),
    ("set", frozenset({"union", "combin", "merg"})),
    ("assign", frozenset({"updat", "chang", "set"})),
    ("values", frozenset({"insert", "add"})),
    ("create", frozenset({"view", "creat", "nam", "call"})),
)
_ANSWERABLE = frozenset(clause for clause, _ in _CLAUSE_STEMS) | {"select", "columns", "column"}
_NEEDED = 2.0
_FRAMES = re.compile(r"\b(?:what )?(?:do|did|does|would|exactly) you mean(?: by| with)?\b|\byou mean by\b")
_GENERIC = frozenset(
    """columns column data database details different display duplicates fields filter filters group
    groups join joins limit list name names number order output query rank results round rounded
    rounding row rows show sort sorted sorting table tables top type values value""".split()
)
"""Terms of these words alone are not named by a question that merely has the word, unless it is in quotes."""
_ABBREVIATION = re.compile(r"\(([^()]{1,40})\)\s*$")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a question is about: the call, its target, and the items or the segment that may be used."""

    call: Call
    target: str = ""
    items: tuple[Ambiguity, ...] = ()
    segment: Segment | None = None


def encode(brief: Brief, question: str) -> Choice:
    """The choice for one question; no history is taken into account."""
    text = clean(question)
    spaced = f" {' '.join(words(text))} "
    term, said, in_quotes = _named(brief, text, spaced)
    remainder = spaced.replace(f" {said} ", " ").strip() if said else spaced.strip()
    plainly = in_quotes or not _GENERIC.issuperset(said.split())
    if out_of_scope(remainder, about_a_term=bool(term) and plainly):
        return Choice("unanswerable")
    if not in_quotes and asks_for_everything(remainder if plainly else spaced.strip()):
        return Choice("unanswerable")
    stems = frozenset(stem(word) for word in words(text))
    content = content_stems(text)
    term = term or _overlapping(brief, content) or _by_type(brief, stems)
    if not term and any(brief.gold) and is_left_open(spaced, _parts(brief.gold, brief.dialect)):
        return Choice("unlabelled")
    segment = None if term else _part_of_gold(brief, stems, spaced)
    if segment is not None:
        return Choice("unlabelled", segment.id, (), segment)
    term = term or _sharing_a_word(brief, content, text.count("'") > 1)
    if not term:
        return Choice("unanswerable")
    key = clean(term)
    return Choice("labelled", term, tuple(item for item in brief.ambiguities if clean(item.term) == key))


def _named(brief: Brief, text: str, spaced: str) -> tuple[str, str, bool]:
    """(the term named, the words that name it, whether in quotes); ("", "", False) if there is none."""
    found: list[tuple[int, int, int, str, str]] = []
    unframed = _FRAMES.sub(" ", spaced)
    for index, item in enumerate(brief.ambiguities):
        whole = clean(item.term)
        if not whole:
            continue
        for name in _names(whole):
            said = " ".join(words(name))
            if f"'{name}'" in text:
                found.append((0, -len(name), index, item.term, said))
            for rank, place in ((1, unframed), (2, spaced)):
                at = place.find(f" {said} ") if said else place.find(name)
                if at >= 0:
                    found.append((rank, -len(name), at, item.term, said))
                    break
    if not found:
        return "", "", False
    rank, _, _, term, said = min(found)
    return term, said, rank == 0


def _names(term: str) -> list[str]:
    """How a term may be called: as it is, without its abbreviation, and by that alone."""
    match = _ABBREVIATION.search(term)
    if match is None:
        return [term]
    rest = term[: match.start()].strip()
    return [name for name in (term, rest, match[1].strip()) if name]


def _overlapping(brief: Brief, question: frozenset[str]) -> str:
    best, chosen = 0.0, ""
    for item in brief.ambiguities:
        wanted = content_stems(clean(item.term))
        shared = len(wanted & question)
        if wanted and shared / len(wanted) >= OVERLAP and shared + shared / len(wanted) > best:
            best, chosen = shared + shared / len(wanted), item.term
    return chosen


def _by_type(brief: Brief, question: frozenset[str]) -> str:
    for kind, triggers in _TYPE_STEMS:
        if not triggers & question:
            continue
        for item in brief.ambiguities:
            if item.kind == "non_critical" and item.type.startswith(kind):
                return item.term
    return ""


def _sharing_a_word(brief: Brief, question: frozenset[str], has_quotes: bool) -> str:
    terms = {clean(item.term): item.term for item in brief.ambiguities}
    evidence = question if has_quotes else question - ASIDE_STEMS or question - SMALL_TALK
    stems = {name: content_stems(name) for name in terms}
    times = Counter(word for found in stems.values() for word in found)
    sharing = [name for name, found in stems.items() if any(times[word] == 1 for word in found & evidence)]
    if len(sharing) != 1 or 2 * len(stems[sharing[0]] & evidence) + has_quotes <= len(evidence):
        return ""
    return terms[sharing[0]]


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a segment speaks of: its string literals, and its names other than tables, as sets of stems."""

    segment: Segment
    literals: frozenset[str]
    names: frozenset[frozenset[str]]


@lru_cache(maxsize=64)
def _parts(gold: tuple[str, ...], dialect: str) -> tuple[Segment, ...]:
    return segments(gold, dialect)


@lru_cache(maxsize=64)
def _topics(gold: tuple[str, ...], dialect: str) -> tuple[_Topic, ...]:
    topics = []
    for part in _parts(gold, dialect):
        if part.clause in _ANSWERABLE:
            hidden = read_aloud(part.sql).hidden
            tokens = tokenize(part.sql)
            literals = {" ".join(words(clean(token.text))) for token in tokens if token.kind == "string"}
            spelt = {token.text for token in tokens if token.kind in ("word", "quoted")}
            spelt = {name for name in spelt if name.lower() not in hidden and name.upper() not in _KEYWORDS}
            names = {frozenset(stem(w) for w in split_words(name).split() if len(w) > 1) for name in spelt}
            topics.append(
                _Topic(
                    part,
                    frozenset(text for text in literals if len(text) > 2),
                    frozenset(names - {frozenset()}),
                )
            )
    return tuple(topics)


def _part_of_gold(brief: Brief, question: frozenset[str], spaced: str) -> Segment | None:
    best, chosen = 0.0, None
    for topic in _topics(brief.gold, brief.dialect) if any(brief.gold) else ():
        score = _score(topic, question, spaced)
        if score >= _NEEDED and score > best:
            best, chosen = score, topic.segment
    return chosen


def _score(topic: _Topic, question: frozenset[str], spaced: str) -> float:
    """2.5 for the kind of clause, 2 for a literal, 1 for each word of its names and 1 for a whole name."""
    clause = topic.segment.clause
    score = 2.5 * any(kind == clause and bool(triggers & question) for kind, triggers in _CLAUSE_STEMS)
    score += 2.0 * sum(f" {literal} " in spaced for literal in topic.literals)
    score += len(frozenset[str]().union(*topic.names) & question)
    return score + any(name <= question for name in topic.names)


_KEYWORDS = frozenset(
    """SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AND OR NOT IN IS NULL AS ON JOIN LEFT CASE
    WHEN THEN ELSE END CAST SUM AVG COUNT MIN MAX ROUND DESC ASC DISTINCT BETWEEN LIKE REAL INTEGER
    TEXT OVER UNION ALL COALESCE NULLIF WITH CREATE VIEW TABLE INSERT VALUES""".split()
)
