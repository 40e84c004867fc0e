"""What one answer must not say, worked out once from the task's brief and what the answer was granted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from birdenv.users._brief import Brief
from birdenv.users._disguises import letters, plain
from birdenv.users._identifiers import is_identifier
from birdenv.users._lexer import split_words, tokenize
from birdenv.users._spelling import respelt
from birdenv.users._verbalise import read_aloud

__all__ = [
    "GOLD_LETTERS",
    "GOLD_RUN",
    "PART",
    "Secrets",
    "runs",
    "secrets_of",
    "signs",
    "stretches",
    "vocabulary",
]

GOLD_RUN = 6
"""Words in a row of hidden SQL that are a leak."""

GOLD_LETTERS = 30
"""Letters in a row of hidden SQL, whatever stands between them, that are a leak."""

_CLEAR_RUN = 8
_CLEAR_LETTERS = 40

PART = re.compile(r"[^\W_]+")
_SIGN = re.compile(r"\d+\.\d+|\w+|<=|>=|<>|!=|\|\||::|->|[^\w\s]")
_QUOTES = re.compile(r"['\"`‘’“”]")
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "||", "::", "->", "*", "/"})


@dataclass(frozen=True, slots=True)
class Secrets:
    """What one answer must not say: words of the schema, and pieces of SQL and of the clear question."""

    names: frozenset[str]
    names_as_letters: frozenset[str]
    spelt: frozenset[str]
    free_pairs: frozenset[str]
    sql: frozenset[tuple[str, ...]]
    signs: frozenset[tuple[str, ...]]
    clear: frozenset[tuple[str, ...]]
    clear_run: int
    sql_letters: frozenset[str]
    clear_letters: frozenset[str]
    clear_length: int


@lru_cache(maxsize=256)
def vocabulary(parts: tuple[str, ...], identifiers: frozenset[str] = frozenset()) -> frozenset[str]:
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
def secrets_of(brief: Brief, granted: tuple[str, ...]) -> Secrets:
    terms = tuple(item.term for item in brief.ambiguities)
    hidden = (*brief.gold, *(item.snippet for item in brief.ambiguities if item.snippet not in granted))
    said = tuple(read_aloud(part, brief.identifiers).text for part in granted)
    known = tuple(map(plain, (*granted, *said, *terms)))
    clear = plain(brief.clear_query)
    words = PART.findall(clear)
    clear_run = min(_CLEAR_RUN, max(len(words), 5))
    run = letters(clear)
    clear_length = min(_CLEAR_LETTERS, max(len(run), 20))
    tokens = [t for part in (*hidden, *granted) for t in tokenize(part)]
    spelt = {plain(t.text) for t in tokens if t.kind in ("word", "quoted")}
    names = {t.text for part in hidden for t in tokenize(part) if t.kind in ("word", "quoted")}
    own = vocabulary((brief.clear_query,))
    made_up = frozenset(plain(n) for n in names | brief.identifiers if is_identifier(n, own))
    made_up -= vocabulary((*granted, *terms), brief.identifiers)
    sql = list(map(plain, hidden))
    return Secrets(
        names=made_up,
        names_as_letters=frozenset(letters(name) for name in made_up if len(name) > 5),
        spelt=frozenset(spelt | {plain(name) for name in brief.identifiers}),
        free_pairs=frozenset(plain(t.text) for t in tokens if t.kind == "quoted" and "." in t.text),
        sql=_all_runs(sql, GOLD_RUN) - _all_runs(known, GOLD_RUN),
        signs=frozenset(sign for part in sql for sign in signs(part))
        - frozenset(sign for part in granted for sign in signs(plain(part))),
        clear=frozenset(runs(words, clear_run)) - _all_runs(known, clear_run),
        clear_run=clear_run,
        sql_letters=_all_stretches(sql, GOLD_LETTERS) - _all_stretches(known, GOLD_LETTERS),
        clear_letters=_all_stretches([clear], clear_length) - _all_stretches(known, clear_length),
        clear_length=clear_length,
    )


def signs(text: str) -> Iterable[tuple[str, ...]]:
    """The comparisons and divisions that are written in signs."""
    said = _SIGN.findall(_QUOTES.sub(" ", text))
    for run in runs(said, 3):
        if run[1] in _COMPARISONS and run[0][0].isalnum() and run[2][0].isalnum():
            yield run


def _all_runs(parts: Iterable[str], length: int) -> frozenset[tuple[str, ...]]:
    return frozenset(run for part in parts for run in runs(PART.findall(part), length))


def runs(said: list[str], length: int) -> Iterable[tuple[str, ...]]:
    return (tuple(said[i : i + length]) for i in range(len(said) - length + 1))


def _all_stretches(parts: Iterable[str], length: int) -> frozenset[str]:
    return frozenset(run for part in parts for run in stretches(letters(part), length))


def stretches(run: str, length: int) -> Iterable[str]:
    return (run[i : i + length] for i in range(len(run) - length + 1))
