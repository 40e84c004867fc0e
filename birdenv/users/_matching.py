"""Words of questions and terms made comparable: Unicode forms, case, stop words, light stems."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["STOP_WORDS", "clean", "content_stems", "stem", "words"]

_QUOTES = dict.fromkeys(map(ord, "\"`´‘’‚‛“”„‟‹›«»′″ʼ'"), "'")
_WORD = re.compile(r"[^\W_]+")

STOP_WORDS = frozenset(
    """a about all also am an and any are as asked at be been by can cases clarify could define
    definition did do does each every exactly explain for from get give had has have here how i if
    in into interpret is it its kind know let like may me mean meaning means might more my need of
    on one or our please question refer result results see shall should show so some specify tell
    term than that the their them then there these they this those to understand use used using want
    was we were what when where whether which who will with would word you your""".split()
)


def clean(text: str) -> str:
    """Compatibility form, case folded, every quotation mark ', no invisible signs, single spaces."""
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return " ".join("".join(c for c in text if unicodedata.category(c) != "Cf").split())


def words(text: str) -> list[str]:
    """The words of cleaned text, in order; underscores and punctuation separate them."""
    return _WORD.findall(text)


def stem(word: str) -> str:
    """A word without its commonest English endings: "sorting", "sorted" and "sorts" are "sort"."""
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    for ending in ("ings", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            word = word[: -len(ending)]
            if ending != "s" and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that are not stop words."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)
