"""How an answer reads: its length, and what in it only somebody with the schema would understand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Final

from birdenv.users.identifiers import is_identifier
from birdenv.users.sql_in_words import split_words

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_PATH = re.compile(r"\$\.|->|#>|\$\[")
_CAST = re.compile(r"\bas (?:a (?:decimal|whole) number|text|a date)\b")
_MOST_WORDS: Final = 60
_SIGNS = re.compile(r"[<>=]=?|\|\||::|!=| [*/+] ")


@dataclass(frozen=True, slots=True)
class Readability:
    """Counts over answers; what stands in quotation marks is not looked at.

    Attributes:
        answers: the answers that tell something.
        identifiers: those with a name of the schema as it is spelt there: run together, with an underscore, a
            digit or a capital inside.
        paths: those with a path into JSON, as SQL writes it.
        signs: those with signs of SQL, such as `>=`.
        non_words: those with a part of a schema's name that is no word, such as "powratew".
        casts: those that say a type, such as "as a decimal number".
        long: those with more than 60 words.
        words: the median number of words.
        most_words: the most words.
    """

    answers: int
    identifiers: int
    paths: int
    signs: int
    non_words: int
    casts: int
    long: int
    words: float
    most_words: int


def readability(answers: Sequence[tuple[str, frozenset[str]]]) -> Readability:
    """Measure answers, each with the names of its schema.

    >>> readability([("By anomscore.", frozenset({"anomscore"}))]).identifiers
    1
    """
    bare = [(_QUOTED.sub(" ", text), names) for text, names in answers]
    lengths = [len(text.split()) for text, _ in answers] or [0]
    return Readability(
        len(answers),
        sum(_names_one(text.lower(), frozenset(map(str.lower, names))) for text, names in bare),
        sum(_PATH.search(text) is not None for text, _ in bare),
        sum(_SIGNS.search(text) is not None for text, _ in bare),
        sum(_names_one(text, _pieces_of(names)) for text, names in bare),
        sum(_CAST.search(text) is not None for text, _ in bare),
        sum(length > _MOST_WORDS for length in lengths),
        float(median(lengths)),
        max(lengths),
    )


def _names_one(text: str, names: frozenset[str]) -> bool:
    return any(map(is_identifier, names.intersection(_WORD.findall(text))))


@lru_cache(maxsize=64)
def _pieces_of(names: frozenset[str]) -> frozenset[str]:
    """Return the pieces of names as they are split, and the names that are not."""
    return frozenset(part for name in names for part in split_words(name).split() if len(part) > 2)


def readability_text(found: Readability) -> str:
    """Return the figures in words."""
    if not found.answers:
        return "no answer tells anything"
    lines = [f"readability of {found.answers} answers that tell something"]
    for name, count in (
        ("with a name as the schema spells it", found.identifiers),
        ("with a path into JSON", found.paths),
        ("with signs of SQL", found.signs),
        ("with a piece of a name that is no word", found.non_words),
        ("with a type (as a decimal number)", found.casts),
        (f"with more than {_MOST_WORDS} words", found.long),
    ):
        lines.append(f"  {name:<38} {count:>5} {100 * count / found.answers:>7.1f} %")
    return "\n".join([*lines, f"  words: {found.words:g} in the median, {found.most_words} at most"])
