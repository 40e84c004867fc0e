"""Run-together names spelt out by what is written about them: `anomscore` is "anomaly score"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from birdenv.users.sql_in_words._lexer import Token, split_words

_SHORT = {
    "pct": "percent",
    "id": "id",
    "num": "number",
    "cnt": "count",
    "avg": "average",
    "tot": "total",
    "idx": "index",
    "usd": "usd",
    "qty": "quantity",
    "hrs": "hours",
    "mins": "minutes",
    "days": "days",
    "reg": "registry",
    "ref": "reference",
}
_LEAST = 5  # letters of a name that may be run together
_MOST = 32
_MOST_WORDS = 60
_PIECE = 3  # letters of a word's beginning
_WORD = re.compile(r"[a-z]+")


def spelt_out(tokens: Sequence[Token], meanings: Mapping[str, str]) -> list[Token]:
    """`tokens` with each run-together column name as the words of its meaning."""
    spelt = list(tokens)
    for i, token in enumerate(tokens):
        name = token.text.lower()
        after = tokens[i + 1].key if i + 1 < len(tokens) else ""
        if token.kind not in ("word", "quoted") or after in ("(", ".") or name not in meanings:
            continue
        if len(split_words(token.text).split()) == 1 and (said := unmashed(name, meanings[name])):
            spelt[i] = Token("quoted", said)
    return spelt


@lru_cache(maxsize=4096)
def unmashed(name: str, meaning: str) -> str:
    """A run-together name as words, each the whole of a word of `meaning` that it begins; "" if it is none.

    >>> unmashed("anomscore", "Anomaly score of the signal, from 0 to 10")
    'anomaly score'
    >>> unmashed("seats", "Number of reading seats")
    ''
    """
    if not _LEAST <= len(name) <= _MOST or not name.isalpha():
        return ""
    known = list(dict.fromkeys(_WORD.findall(split_words(meaning))))[:_MOST_WORDS]
    best: dict[int, tuple[str, ...]] = {0: ()}
    for start in range(len(name)):
        if start not in best:
            continue
        for length, word in _pieces(name[start:], known):
            said = (*best[start], word)
            end = start + length
            if end not in best or len(said) < len(best[end]):
                best[end] = said
    said = best.get(len(name), ())
    return " ".join(said) if len(said) > 1 else ""


def _pieces(rest: str, known: Iterable[str]) -> list[tuple[int, str]]:
    """The beginnings of `rest` that are the beginning of a known word, with that word."""
    found = []
    for word in known:
        length = 0
        while length < min(len(rest), len(word)) and rest[length] == word[length]:
            length += 1
        shortest = min(_PIECE, len(word))
        found += [(size, word) for size in range(length, shortest - 1, -1) if size >= 2]
    found += [(len(short), word) for short, word in _SHORT.items() if rest == short]
    return found
