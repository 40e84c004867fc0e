"""Words of questions and terms made comparable: Unicode forms, case, stop words, light stems."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["STOP_WORDS", "clean", "content_stems", "stem", "words"]

_QUOTES = dict.fromkeys(map(ord, "\"`´‘’‚‛“”„‟‹›«»′″ʼ'"), "'")
_WORD = re.compile(r"[^\W_]+")

STOP_WORDS = frozenset(
    """a about according actually all also am an and answer any anything are as ask asked asking at based be been
    before being but by call called can cases clarification clarify come consider considered context correct
    could current dataset define defined definition describe details determine did do does done during each
    else every exactly example explain express for from get give given go had hand has have hello help here hey
    hi how i if in into interpret is it its just kind know let like look looking made make makes may me mean
    meaning means meant might more my need now of ok okay on one or our out please possible precise precisely
    print provide qualifies qualify question questions really refer refers regard regarding request respond
    result results reveal right say see shall should show so some somebody someone something sort specific
    specifically specify state still such sure take talk tell term terms than thank thanks that the their them
    then there these they thing things think this those to today together understand up us use used user users
    using very wait want was way we were what when where whether which while who whom why will with within word
    words work would write wrote yes you your yourself""".split()
)
"""Words that say nothing about which term a question is about."""

_FRAMES = re.compile(r"\b(?:what |who )?(?:count|counts|counted|qualify|qualifies|serve|serves) as\b")


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
