"""Normalise the words of questions and terms: Unicode forms, case, stop words, light stemming."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources

from birdenv.users.identifiers import read_sections

_QUOTES = dict.fromkeys(map(ord, "\"`´‘’‚‛“”„‟‹›«»′″ʼ'"), "'")
_WORD = re.compile(r"[^\W_]+")

_LISTS = read_sections(__package__ or "", "words.txt")


def word_list(title: str) -> frozenset[str]:
    """Return a list of words from `words.txt`."""
    return frozenset(_LISTS[title].split())


STOP_WORDS = word_list("stop words")

NUMBERS = dict(
    zip(
        map(str, range(2, 13)),
        "two three four five six seven eight nine ten eleven twelve".split(),
        strict=True,
    )
)
"""Small numbers in words, by their digits. "One" is left out because it is also a pronoun."""


def clean(text: str) -> str:
    """Return a text in NFKC, case-folded, with `'` as the only quotation mark and with single spaces.

    Invisible characters are removed.
    """
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    if text.isascii():
        return " ".join(text.split())
    return " ".join("".join(c for c in text if unicodedata.category(c) != "Cf").split())


_SHORT_FORMS = dict(pair.split("=") for pair in _LISTS["short forms"].split())
_SHORT_FORM = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, _SHORT_FORMS))})(?![^\W_])")


def written_out(text: str) -> str:
    """Return a cleaned text with short forms written out.

    >>> written_out("u mean rows w/o pages, pls?")
    'you mean rows without pages, please?'
    """
    text = text.replace("w/out", "without").replace("w/o", "without").replace("w/", "with ")
    return _SHORT_FORM.sub(lambda match: _SHORT_FORMS[match[0]], text)


def words(text: str) -> list[str]:
    """Return the words of cleaned text, in order; underscores and punctuation separate them."""
    return _WORD.findall(text)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without common English endings: "sort" for "sorting", "late" for "lateness"."""
    if len(word) > 6 and word.endswith("ness"):
        word = word[:-5] + "y" if word.endswith("iness") else word[:-4]
    if len(word) > 4 and word.endswith(("ies", "ied")):
        word = word[:-3] + "y"
    if len(word) > 6 and word.endswith(("ency", "ancy")):
        word = word[:-2] + "t"
    if len(word) > 7 and word.endswith("uses") and word[-5] not in "aeo":
        word = word[:-2]  # "statuses", but not "warehouses"
    for ending in ("ings", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            word = word[: -len(ending)]
            if ending != "s" and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    if len(word) > 5 and word.endswith("ly"):
        word = word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def content_words(said: Iterable[str]) -> list[str]:
    """Return the words that are neither stop words nor single letters."""
    return [word for word in said if word not in STOP_WORDS and (len(word) > 1 or not word.isalpha())]


def content_stems(text: str) -> set[str]:
    """Return the stems of the words in a cleaned text that are neither stop words nor single letters."""
    return set(map(stem, content_words(words(text))))


def stem_list(title: str) -> frozenset[str]:
    """Return the stems of the words in a list from `words.txt`."""
    return frozenset(map(stem, word_list(title)))


FRAME_STEMS, ASIDE_STEMS = stem_list("framing"), stem_list("aside")
GENERIC_STEMS = FRAME_STEMS | ASIDE_STEMS | stem_list("generic")
CLAUSE_STEMS = GENERIC_STEMS | stem_list("clauses")


def _synonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    text = resources.files(__package__ or "").joinpath("synonyms.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        stems = dict.fromkeys(map(stem, line.split())) if not line.startswith("#") else {}
        for one in stems:
            found.setdefault(one, {}).update(stems)
    return {one: tuple(other for other in others if other != one) for one, others in found.items()}


SYNONYMS: Mapping[str, tuple[str, ...]] = _synonyms()
"""The synonyms of each stem, as stems."""
