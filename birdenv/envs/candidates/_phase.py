"""A phase of a task as the agent sees it: the spans, the candidates, and how well text fits each candidate.

Spans are phrases in the request that the agent can ask about. Only public text is used. Words in requests,
answers and SQL are normalised before they are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from birdenv.envs.candidates._layout import CandidateColumn, Layout, SpanColumn
from birdenv.sql import is_single_query, may_write, tokens

USELESS: Final = "Is there anything else that I should know?"
"""The text of the useless question (see `Layout`), which is about no span of the request."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9'’]*(?:-[A-Za-z0-9]+)*")
_TOKEN: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d+(?:\.\d+)?|[a-z]+")
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+")
_PIECE: Final = re.compile(r"[,.;:!?()\"“”]|\s[-–—]\s")
_ENDINGS: Final = ("ies", "es", "s", "ing", "ed")
_LONGEST: Final = 4  # maximum number of words of a phrase; of longer runs, the last words are kept

_OPERATORS: Final = {
    "<": ("less",),
    ">": ("more",),
    "<=": ("less", "equal"),
    ">=": ("more", "equal"),
    "<>": ("not", "equal"),
    "!=": ("not", "equal"),
    "+": ("plus",),
    "-": ("minus",),
    "/": ("divid",),
    "*": ("tim",),
}
_ONE_FORM: Final = {
    word: form
    for form, words in (
        ("descending", "desc"),
        ("ascending", "asc"),
        ("average", "avg mean"),
        ("number", "count"),
        ("total", "sum"),
        ("highest", "max most maximum largest latest"),
        ("lowest", "min minimum smallest earliest"),
        ("more", "greater above over after since"),
        ("less", "below under before fewer"),
        ("empty", "null missing"),
        ("distinct", "different"),
    )
    for word in words.split()
}
_BOUNDS: Final = tuple(  # words for >= and <=
    (re.compile(rf"\b(?:{said})\b"), meant)
    for said, meant in (
        ("at least|no fewer than|no less than", "more equal"),
        ("at most|no more than|up to", "less equal"),
        ("(?:on|at) or after", "more equal"),
        ("(?:on|at) or before", "less equal"),
    )
)
_SILENT: Final = frozenset(
    """select from as on join inner where and or by then end when case group exists in a an the of is that it
    with i mean for this""".split()
)
STOP: Final = frozenset(
    """a about above according across after all also among an and any are as at average based be been before
    below between both but by can calculate compute could count determine do does each else every find first
    following for from get give given group grouped has have having highest how i if in into is it its last
    least less let like list lowest make many maximum me mean median minimum more most much must my need next
    no not number of on one only or order ordered our out over per please provide remaining rest result
    results same second set should show sort sorted such sum tell than that the their them then there these
    they this those to top total two under up us use using want was we were what when where which while who
    whose will with within would you your add create delete insert remove update record mark change drop
    called named name names include including along together display report identify rank ranked ascending
    descending other latter since through we're don't""".split()
)
"""The stop words, which no phrase contains."""


class RequestPhrase(NamedTuple):
    """A phrase in a request, with its context.

    Attributes:
        text: the phrase as written in the request.
        sentence: the index of the sentence that contains the phrase.
        after: the preceding word, in lower case; empty if there is none.
        number_after: True if a number or a date follows the phrase in the same clause.
    """

    text: str
    sentence: int
    after: str
    number_after: bool


@lru_cache(maxsize=4096)
def phrases(request: str) -> tuple[RequestPhrase, ...]:
    """Split a request at stop words, and return the distinct phrases in order."""
    found: dict[str, RequestPhrase] = {}
    for place, sentence in enumerate(_SENTENCE.split(request)):
        for clause in _PIECE.split(sentence):
            runs: list[tuple[list[re.Match[str]], str]] = []
            run: list[re.Match[str]] = []
            before = after = ""
            for word in _WORD.finditer(clause):
                text = word.group().lower()
                apart = run and any(c.isdigit() for c in clause[run[-1].end() : word.start()])
                if text in STOP or apart:
                    runs.append((run, after))
                    run = []
                if text not in STOP:
                    if not run:
                        after = before
                    run.append(word)
                before = text
            for words, previous in [*runs, (run, after)]:
                if words:
                    last = words[-_LONGEST:]
                    text = clause[last[0].start() : last[-1].end()]
                    number = any(c.isdigit() for c in clause[last[-1].end() :])
                    found.setdefault(text.lower(), RequestPhrase(text, place, previous, number))
    return tuple(found.values())


def question_about(span: str) -> str:
    """Return the question that asks about a span."""
    return f"What do you mean by '{span}'?"


@lru_cache(maxsize=65536)
def words_of(text: str) -> frozenset[str]:
    """Return the normalised words in a text, excluding stop words."""
    broken = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    for said, meant in _BOUNDS:
        broken = said.sub(meant, broken)
    return frozenset(form for word in _TOKEN.findall(broken) if (form := _form(word)) not in _SILENT)


@lru_cache(maxsize=65536)
def words_of_sql(sql: str) -> frozenset[str]:
    """Return the normalised words in an SQL statement: names, literals and operators."""
    found: set[str] = set()
    for token in tokens(sql):
        if token.kind == "symbol":
            found.update(_OPERATORS.get(token.text, ()))
        else:
            found |= words_of(token.text[1:-1] if token.kind == "string" else token.text)
    return frozenset(found)


def _form(word: str) -> str:
    if word[0].isdigit():
        return word.rstrip("0").rstrip(".") if "." in word else word
    if word in _ONE_FORM:
        return _ONE_FORM[word]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

_ARTICLES: Final = frozenset("the our their its these those all any".split())
_PREPOSITIONS: Final = frozenset("by of per for with in on to each from".split())
_ASKS: Final = frozenset("which what how who whose when where list give show name find".split())
_ROWS: Final = re.compile(r"\((\d+) rows?")
_MOST_ROWS: Final = 1000


class ShownPhase:
    """The spans and candidates in a phase, and arrays that are computed from them.

    Attributes:
        phrases: the spans that the agent can ask about.
        sqls: the SQL of the candidates.
        spans: the values of `SpanColumn` for each span. Shape (spans, columns), float32.
        candidates: the values of `CandidateColumn` for each candidate. Shape (candidates, columns), float32.
        readable: True for read-only candidates, which may be executed. Shape (candidates,).
    """

    def __init__(self, layout: Layout, request: str, notes: str, sqls: Sequence[str], dialect: str) -> None:
        self.phrases = phrases(request)[: layout.spans]
        self.sqls = tuple(sqls)
        self._size = layout.candidates
        bags = [words_of_sql(sql) for sql in sqls]
        spread = Counter(word for bag in bags for word in bag)
        self._weights = [
            {word: log(len(bags) / spread[word]) for word in bag if spread[word] < len(bags)} for bag in bags
        ]
        shared = frozenset(word for word, count in spread.items() if count == len(bags))
        self.spans = np.zeros((layout.spans, len(SpanColumn)), np.float32)
        known = _known(notes.replace(request, " "))
        for place, phrase in enumerate(self.phrases):
            self.spans[place] = _describe(phrase, place, request, layout, known, shared, frozenset(spread))
        self.candidates = np.zeros((layout.candidates, len(CandidateColumn)), np.float32)
        self.candidates[: len(sqls), CandidateColumn.EXISTS] = 1.0
        fit = self.fit(request)
        self.candidates[:, CandidateColumn.REQUEST] = fit
        self.candidates[: len(sqls), CandidateColumn.FITS_REQUEST] = is_best(fit)[: len(sqls)]
        self.readable = np.zeros(layout.candidates, np.bool_)
        self.readable[: len(sqls)] = [is_single_query(sql, dialect) and not may_write(sql) for sql in sqls]

    def fit(self, text: str) -> Floats:
        """Return a score from 0 to 1 for each candidate, which says how well text fits the candidate.

        The score depends on the words that the text shares with the candidate. Rare words count more, and
        the best candidate gets the score 1. If no word in the text distinguishes the candidates, all scores
        are 0.
        """
        said = words_of(text)
        found = np.zeros(self._size, np.float32)
        for place, weights in enumerate(self._weights):
            found[place] = sum(weights[word] for word in sorted(said & weights.keys()))
        best = found.max(initial=0.0)
        return found / best if best > 0 else found


NEAR: Final = 1e-3
"""The difference below which two fits count as equal."""


def is_best(fit: Floats) -> Flags:
    """Return a mask of the candidates with the highest score along the last axis."""
    best: Flags = fit >= fit.max(axis=-1, keepdims=True) - NEAR
    return best


def rows_shown(reply: str, sender: str) -> float:
    """Return the row count in a reply on a logarithmic scale from 0 to 1, or -1 if there is no result."""
    counted = _ROWS.search(reply) if sender == "database" else None
    if counted is None:
        return -1.0
    return min(log(1 + int(counted.group(1))) / log(1 + _MOST_ROWS), 1.0)


@lru_cache(maxsize=256)
def _known(notes: str) -> frozenset[str]:
    return words_of(notes)


def _describe(
    phrase: RequestPhrase,
    place: int,
    request: str,
    layout: Layout,
    known: frozenset[str],
    shared: frozenset[str],
    used: frozenset[str],
) -> Floats:
    words = [min(words_of(word), default=word.lower()) for word in re.split(r"[\s'’-]+", phrase.text) if word]
    unknown = [word not in known for word in words]
    sentences = re.split(r"(?<=[.?!])\s+", request)
    sentence = sentences[phrase.sentence] if phrase.sentence < len(sentences) else ""
    first = sentence.split()[0].lower() if sentence.split() else ""
    row = np.zeros(len(SpanColumn), np.float32)
    values = {
        SpanColumn.EXISTS: 1.0,
        SpanColumn.POSITION: (place + 1) / layout.spans,
        SpanColumn.WORDS: len(words) / 4,
        SpanColumn.UNKNOWN: sum(unknown) / len(words),
        SpanColumn.ALL_UNKNOWN: all(unknown),
        SpanColumn.FIRST_UNKNOWN: unknown[0],
        SpanColumn.IN_ALL: sum(word in shared for word in words) / len(words),
        SpanColumn.IN_SOME: sum(word in used and word not in shared for word in words) / len(words),
        SpanColumn.LAST_IN_ALL: words[-1] in shared,
        SpanColumn.FIRST_SENTENCE: phrase.sentence == 0,
        SpanColumn.LAST_SENTENCE: phrase.sentence == len(sentences) - 1,
        SpanColumn.QUESTION: first in _ASKS or sentence.endswith("?"),
        SpanColumn.BEFORE_NUMBER: phrase.number_after,
        SpanColumn.AFTER_ARTICLE: phrase.after in _ARTICLES,
        SpanColumn.AFTER_PREPOSITION: phrase.after in _PREPOSITIONS,
    }
    for column, value in values.items():
        row[column] = min(float(value), 1.0)
    return row
