"""Normalise the words of questions and terms: Unicode forms, case, stop words, light stemming."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources

_QUOTES = dict.fromkeys(map(ord, "\"`´‘’‚‛“”„‟‹›«»′″ʼ'"), "'")
_WORD = re.compile(r"[^\W_]+")

STOP_WORDS = frozenset(
    """to than too both upon via
    a about according actually all also am an and answer any anything are as ask asked asking at
    be been being but by can cases clarify consider considered could define defined definition did
    do does done during each every exactly exclude explain express for from get give given go had
    has have hello help here hey hi how i if in include into interpret is it its just kind know let
    like may me mean meaning means might more my need of off ok okay on one or our please precisely
    print question really refer refers regard regarding respond result results reveal say see shall
    should show so some specify still sure talk tell term terms than thank thanks that the their
    them then there these they thing things think this those today together tomorrow understand up
    us use used using want was we were what when where whether which while who whom whose why will
    with word words would write wrote yes you your yourself""".split()
)
"""Words that say nothing about which term a question is about."""

_ASIDE = frozenset(
    """above apply area basis below calculate case certain column compute count criteria criterion
    cutoff data day decide describe determine entry exact example field figure formula hour identify
    include item judge least level limit list look match maximum measure minimum month name number
    order percent percentage point quantify range rate record row rule score state table threshold
    time treat type unit value week year""".split()
)
"""Words that occur in questions about any term. Next to other content words, they tell nothing."""

_FRAMING = frozenset(
    """clear clearer count counts counted detail details elaborate example exact exactly explanation
    interpretation precise precisely qualify qualifies regards serve serves question request requests
    refer referring requirement requirements specific specifically first second third last one two
    value values want wanted user query provide provided describe sorry""".split()
)
"""Words that occur in the framing of any question."""


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


_GENERIC = frozenset(
    """status state kind condition conditions cut off threshold date range period category categories class
    formula rate metric score type row weight value count number unit filter level name class group column
    label definition criteria criterion calculation method scale share percentage ratio total sum average
    price cost allowed required needed start begin end current active valid keep kept drop part item thing
    before after since until only merely mind
    many much result record data information field entity feature index measure measured check show
    display work worked weight out per without""".split()
)
"""Words that occur in questions about any task. By themselves, they name nothing in a request."""

MEASURE_WORDS = frozenset(
    """average averages cost costs hour hours month months percent percentage percentages price prices
    ratio rates score scores share shares total totals week weeks year years""".split()
)
"""Words for measures, which name something if the request contains them."""

NAMING_STEMS = frozenset(
    map(
        stem,
        """active allowed average class cost current day display group hour kind level month needed part
        price required score task total type valid work year""".split(),
    )
)
"""Stems of everyday words that name something if the request contains them."""

FRAME_WORDS = _ASIDE | _FRAMING | _GENERIC
ASIDE_STEMS = frozenset(map(stem, _ASIDE))
FRAME_STEMS = frozenset(map(stem, _FRAMING))
GENERIC_STEMS = frozenset(map(stem, FRAME_WORDS))

CLAUSE_WORDS = frozenset(
    """aggregate alphabetical any appear arrange ascending blank break breakdown cap called
    decimal descending details digits distinct duplicate dupes else empty first grouped grouping included
    information last limited lines listed matches missing named none null one only ordered ordering
    output repeated return returned rounded rounding rows sequence several shown sorted sorting stand stay
    those top twice unique whole without""".split()
)
"""Words that occur in questions about SQL clauses in any task."""

CLAUSE_STEMS = GENERIC_STEMS | frozenset(map(stem, CLAUSE_WORDS))


def trigrams(word: str) -> frozenset[str]:
    """Return all three-letter sequences in a word, including marks for its beginning and its end."""
    marked = f"^{word}$"
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))


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
