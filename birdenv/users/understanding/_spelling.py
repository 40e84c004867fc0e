"""Correct the spelling of a question: chat abbreviations, and typing errors in common question words.

Words that belong to the task are not changed here: `_question` compares their letters with the task's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from birdenv.users.understanding._word_forms import CLAUSE_WORDS, FRAME_WORDS, STOP_WORDS

_SHORT_FORMS = dict(
    pair.split("=")
    for pair in """abt=about b4=before bc=because cuz=because dups=duplicates nr=number num=number
    pct=percent perc=percent pls=please plz=please r=are shoud=should shud=should shuld=should sth=something
    tho=though thx=thanks u=you ur=your vs=versus wat=what wether=whether whcih=which wich=which
    wht=what""".split()
)
_WORD = re.compile(r"[^\W_]+")
_LEAST = 6
"""The minimum length of a corrected word. Too many shorter words differ only in one letter."""


def _shortened(word: str) -> Iterator[str]:
    """Yield a word with one letter left out: each letter in turn, except the first and the last."""
    for place in range(1, len(word) - 1):
        yield word[:place] + word[place + 1 :]


_WORDS = STOP_WORDS | FRAME_WORDS | CLAUSE_WORDS
_KNOWN = frozenset(form for word in _WORDS for form in (word, f"{word}s"))
_FRAMES = sorted(
    form
    for word in _WORDS
    if len(word) >= _LEAST and word != "thanks"  # without its h these are vessels
    for form in (word, f"{word}s")
)
_SLIPS = {slip: word for word in _FRAMES for slip in _shortened(word) if slip not in _KNOWN}


def respelt(text: str) -> str:
    """Return a cleaned text with abbreviations written out and typing errors corrected.

    >>> respelt("wich colums, pls?")
    'which columns, please?'
    """
    text = text.replace("w/out", "without").replace("w/o", "without").replace("w/", "with ")
    words = _WORD.findall(text)
    return text if [*map(_respelt, words)] == words else _WORD.sub(lambda match: _respelt(match[0]), text)


@lru_cache(maxsize=4096)
def _respelt(word: str) -> str:
    if word in _SHORT_FORMS:
        return _SHORT_FORMS[word]
    if len(word) < _LEAST - 1 or word in _KNOWN or not word.isalpha():
        return word
    if word in _SLIPS:
        return _SLIPS[word]
    for slip in _shortened(word):
        if slip in _KNOWN and len(slip) >= _LEAST:
            return slip
        other = _SLIPS.get(slip, "")
        if len(other) == len(word) and sorted(other) == sorted(word):
            return other
    return word
