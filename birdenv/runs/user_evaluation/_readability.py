"""How an answer reads: its length, and what in it only somebody with the schema would understand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from birdenv.users._identifiers import is_identifier

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_PATH = re.compile(r"\$\.|->|#>|\$\[")
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
        words: the median number of words.
        most_words: the most words.
    """

    answers: int
    identifiers: int
    paths: int
    signs: int
    words: float
    most_words: int


def readability(answers: Sequence[tuple[str, frozenset[str]]]) -> Readability:
    """Measure answers, each with the names of its schema.

    >>> readability([("By anomscore.", frozenset({"anomscore"}))])
    Readability(answers=1, identifiers=1, paths=0, signs=0, words=2.0, most_words=2)
    """
    bare = [(_QUOTED.sub(" ", text), {name.lower() for name in names}) for text, names in answers]
    lengths = [len(text.split()) for text, _ in answers] or [0]
    return Readability(
        len(answers),
        sum(any(map(is_identifier, names.intersection(_WORD.findall(text.lower())))) for text, names in bare),
        sum(_PATH.search(text) is not None for text, _ in bare),
        sum(_SIGNS.search(text) is not None for text, _ in bare),
        float(median(lengths)),
        max(lengths),
    )


def readability_text(found: Readability) -> str:
    """Say the figures in words."""
    if not found.answers:
        return "no answer tells anything"
    lines = [f"readability of {found.answers} answers that tell something"]
    for name, count in (
        ("with a name as the schema spells it", found.identifiers),
        ("with a path into JSON", found.paths),
        ("with signs of SQL", found.signs),
    ):
        lines.append(f"  {name:<38} {count:>5} {100 * count / found.answers:>7.1f} %")
    return "\n".join([*lines, f"  words: {found.words:g} in the median, {found.most_words} at most"])
