"""What one answer must not say, worked out once from the task's brief and what the answer was granted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from birdenv.users._brief import Brief
from birdenv.users.identifiers import is_identifier
from birdenv.users.leak_guard._sql_shapes import (
    DISGUISED_KEYWORDS,
    letters,
    mirrored_and_turned,
    plain,
    rot13,
)
from birdenv.users.sql_in_words import in_words, quoted, read_aloud, respelt, split_words, tokenize

_GOLD_RUN = 6
"""Words in a row of hidden SQL that are a leak."""

_GOLD_LETTERS = 30
"""Letters in a row of hidden SQL, whatever stands between them, that are a leak."""

_CLEAR_RUN = 8
_CLEAR_LETTERS = 40
_MOST_GRANTS = 256

_SQL = "repeats the reference beyond what was granted"
_CLEAR = "repeats the clear question"

_PART = re.compile(r"[^\W_]+")
_SIGN = re.compile(r"\d+\.\d+|\w+|<=|>=|<>|!=|\|\||::|->|[^\w\s]")
_COMPARED = re.compile(r"[=<>*/]|\|\||::|!=")
_QUOTES = re.compile(r"['\"`‘’“”]")
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "||", "::", "->", "*", "/"})

_Run = TypeVar("_Run", str, tuple[str, ...])


class Runs(Generic[_Run]):
    """Stretches of letters or of words of which a text must have none: of the SQL, and of the clear question.

    Any stretch of a text holds a whole block of half its length that begins at a multiple of the step. Only
    where such a block is known is the text looked at stretch by stretch.
    """

    def __init__(self, sql: Set[_Run], clear: Set[_Run], sql_length: int, clear_length: int) -> None:
        self._found_in: tuple[tuple[str, Set[_Run], int], ...] = (
            (_SQL, sql, sql_length),
            (_CLEAR, clear, clear_length),
        )
        least = min(sql_length, clear_length)
        self._block = (least + 1) // 2
        self._step = least - self._block + 1
        blocks = {run[i : i + self._block] for run in sql | clear for i in range(len(run) - self._block + 1)}
        self._blocks: Set[_Run] = frozenset(blocks)
        self._disguised: Set[_Run] = frozenset(blocks.union(*map(_disguises, blocks)))

    def may_hold(self, said: _Run) -> bool:
        """Return whether `said` has a part of one of the stretches, plain, mirrored or in rot13."""
        block = self._block
        starts = range(0, len(said) - block + 1, self._step)
        return not self._disguised.isdisjoint([said[i : i + block] for i in starts])

    def reason(self, said: _Run) -> str:
        """Return a reason if `said` has one of the stretches."""
        block = self._block
        starts = range(0, len(said) - block + 1, self._step)
        if self._blocks.isdisjoint([said[i : i + block] for i in starts]):
            return ""
        for reason, stretches, length in self._found_in:
            if not stretches.isdisjoint([said[i : i + length] for i in range(len(said) - length + 1)]):
                return reason
        return ""


def _disguises(run: _Run) -> tuple[_Run, ...]:
    """Return a stretch mirrored, and words in rot13 too: letters are read before they are turned."""
    if isinstance(run, str):
        return (run[::-1],)
    return tuple(word[::-1] for word in reversed(run)), tuple(map(rot13, run))


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of an answer: words of the schema, and pieces of SQL and of the clear question.

    `own_world` are words that mean no reference here.
    """

    names: frozenset[str]
    long_names: frozenset[str]
    disguised_words: frozenset[str]
    names_as_letters: frozenset[str]
    spelt: frozenset[str]
    free_pairs: frozenset[str]
    own_world: frozenset[str]
    signs: frozenset[tuple[str, ...]]
    words: Runs[tuple[str, ...]]
    letters: Runs[str]


class Protected:
    """The secrets of a brief, from which each answer may say what it was granted."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._terms = tuple(dict.fromkeys(item.term for item in brief.ambiguities))
        self._own = _vocabulary((brief.clear_query,))
        names = {
            token.text
            for sql in (*brief.gold, *(item.snippet for item in brief.ambiguities))
            for token in tokenize(sql)
            if token.kind in ("word", "quoted")
        }
        self._made_up = frozenset(
            plain(name) for name in names | brief.identifiers if is_identifier(name, self._own)
        )
        self._identifiers = frozenset(map(plain, brief.identifiers))
        self._free = _vocabulary(self._terms, brief.identifiers)
        self._by_grant: dict[tuple[str, ...], Secrets] = {}

    def secrets(self, granted: tuple[str, ...]) -> Secrets:
        """Return the words that would leak in an answer that was granted these snippets."""
        found = self._by_grant.get(granted)
        if found is None:
            if len(self._by_grant) >= _MOST_GRANTS:
                self._by_grant.clear()
            found = self._by_grant[granted] = self._less(granted)
        return found

    def quotations(self, granted: tuple[str, ...]) -> tuple[str, ...]:
        """Return what an answer may quote, in every form; the longest first."""
        return _quotations(granted, self._terms)

    def _less(self, granted: tuple[str, ...]) -> Secrets:
        brief = self._brief
        hidden = (*brief.gold, *(a.snippet for a in brief.ambiguities if a.snippet not in granted))
        said = tuple(
            text
            for part in granted
            for text in (read_aloud(part, brief.identifiers).text, in_words(part, brief).text)
        )
        known = tuple(map(plain, (*granted, *said, *self._terms)))
        clear, sql = plain(brief.clear_query), list(map(plain, hidden))
        clear_run = min(_CLEAR_RUN, max(len(_PART.findall(clear)), 5))
        clear_length = min(_CLEAR_LETTERS, max(len(letters(clear)), 20))
        tokens = [t for part in (*hidden, *granted) for t in tokenize(part)]
        named = {t.text for part in hidden for t in tokenize(part) if t.kind in ("word", "quoted")}
        made_up = self._made_up & frozenset(map(plain, named | brief.identifiers))
        allowed = _vocabulary(granted, brief.identifiers) | self._free
        names = made_up - allowed
        long_names = frozenset(name for name in names if len(name) > 5)
        spelt = frozenset(plain(t.text) for t in tokens if t.kind in ("word", "quoted"))
        return Secrets(
            names=names,
            long_names=long_names,
            disguised_words=DISGUISED_KEYWORDS.union(*map(mirrored_and_turned, long_names)),
            names_as_letters=frozenset(map(letters, long_names)),
            spelt=spelt | self._identifiers,
            free_pairs=frozenset(plain(t.text) for t in tokens if t.kind == "quoted" and "." in t.text),
            own_world=allowed | self._own | _vocabulary(tuple(sorted(brief.identifiers))),
            signs=frozenset(sign for part in sql for sign in signs(part))
            - frozenset(sign for part in granted for sign in signs(plain(part))),
            words=Runs(
                _word_runs(sql, _GOLD_RUN) - _word_runs(known, _GOLD_RUN),
                _word_runs([clear], clear_run) - _word_runs(known, clear_run),
                _GOLD_RUN,
                clear_run,
            ),
            letters=Runs(
                _letter_runs(sql, _GOLD_LETTERS) - _letter_runs(known, _GOLD_LETTERS),
                _letter_runs([clear], clear_length) - _letter_runs(known, clear_length),
                _GOLD_LETTERS,
                clear_length,
            ),
        )


@lru_cache(maxsize=256)
def _vocabulary(parts: tuple[str, ...], identifiers: frozenset[str] = frozenset()) -> frozenset[str]:
    """Words, spelt as they are and split (as the schema splits them too), that are not secret."""
    found: set[str] = set()
    for part in parts:
        found.update(re.findall(r"\w+", plain(part)))
        found.update(split_words(part).split())
        found.update(
            w for token in respelt(tokenize(part), identifiers) for w in split_words(token.text).split()
        )
    return frozenset(found)


@lru_cache(maxsize=256)
def _quotations(granted: tuple[str, ...], terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the granted snippets and the terms put in quotation marks, in every form; the longest
    first.
    """
    strings = {
        t.text
        for part in granted
        for t in tokenize(part)
        if t.kind in ("string", "quoted") and t.text.strip()
    }
    strings.update(" ".join(term.split()) for term in terms)
    ordered = sorted(strings, key=lambda s: (-len(s), s))
    return tuple(dict.fromkeys(form for s in ordered for form in (quoted(s), f"'{s}'", f'"{s}"')))


def signs(text: str) -> Iterable[tuple[str, ...]]:
    """Return the comparisons and divisions that are written in signs."""
    if _COMPARED.search(text) is None:
        return
    said = _SIGN.findall(_QUOTES.sub(" ", text))
    for i in range(len(said) - 2):
        if said[i + 1] in _COMPARISONS and said[i][0].isalnum() and said[i + 2][0].isalnum():
            yield tuple(said[i : i + 3])


def _word_runs(parts: Iterable[str], length: int) -> frozenset[tuple[str, ...]]:
    said = (tuple(_PART.findall(part)) for part in parts)
    return frozenset(words[i : i + length] for words in said for i in range(len(words) - length + 1))


def _letter_runs(parts: Iterable[str], length: int) -> frozenset[str]:
    runs = map(letters, parts)
    return frozenset(run[i : i + length] for run in runs for i in range(len(run) - length + 1))
