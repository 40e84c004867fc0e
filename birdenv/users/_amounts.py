"""Compare the numbers, dates and times that a question proposes with those in a snippet."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from decimal import Decimal
from typing import Literal, TypeAlias

from birdenv.users.sql_in_words import LexicalUnit
from birdenv.users.understanding._word_forms import NUMBERS

Verdict: TypeAlias = Literal["Yes", "No", ""]

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?=\s*(%|percent\b)?)")
_PLAIN_NUMBER = re.compile(r"\d+(\.\d+)?")
SPELT = {"one": "1", **{word: number for number, word in NUMBERS.items()}}
_SPELT_OUT = re.compile(r"\b(" + "|".join(SPELT) + r")\b(?! (?:of|row|line|more|another)\b)")
MOMENT = r"(?:\d{4}-\d\d-\d\d|\d\d:\d\d)"
"""A pattern for a date or a time of day."""

_AT = rf"(?: and including)? (?:the )?\W?{MOMENT}"
_BOUNDS = (
    (
        ">=",
        re.compile(
            r"\bat least\b|\bor (?:more|above|higher|later|over)\b|\bminimum\b|\bno less than\b"
            rf"|\b(?:(?:on|at) or after|not before|no earlier than|since|from|starting (?:on|at|from)){_AT}"
            rf"|{MOMENT}\W? (?:or after|onwards?|on\b)"
        ),
    ),
    (
        "<=",
        re.compile(
            r"\bat most\b|\bor (?:less|fewer|below|lower|earlier)\b|\bmaximum\b|\bup to\b"
            rf"|\b(?:(?:on|at) or before|not after|no later than|until|through){_AT}|{MOMENT}\W? or before\b"
        ),
    ),
    (
        ">",
        re.compile(
            r"\b(?:more|greater|higher|larger|longer) than\b|\babove\b|\bover\b|\bexceed\w*\b"
            rf"|\b(?:after|later than|past){_AT}"
        ),
    ),
    (
        "<",
        re.compile(
            r"\b(?:less|fewer|lower|smaller|shorter) than\b|\bbelow\b|\bunder\b"
            rf"|\b(?:before|earlier than|prior to){_AT}"
        ),
    ),
)
_LEAVES_OUT = r"(?:out|exclu\w+|ignored|dropped|skipped|omitted|removed|fails?)\b"
TURNS = re.compile(
    r"\b(?:except|other than|(?:all|any\w+|every\w+|nothing|month) but|without|outside|lack\w*|never|neither"
    r"|hardly|rarely|false|wrong|with no|unqualified|non)\b"
    rf"|(?:\bnot\b|n't\b).{{0,80}}\b(?:not\b|{_LEAVES_OUT})"
    r"|\b(?:only|just|nothing)\b.{0,80}\d|\d.{0,80}\b(?:alone|only|nothing)\b|[\u2013\u2212] ?\d"
)
"""Words that reverse or narrow what a question proposes. Such questions get neither yes nor no."""

OUT = re.compile(rf"\b{_LEAVES_OUT}|\bnot (?!\d)|n't\b(?! (?:it|that|so)\b)")
"""Words that propose to leave something out."""
_MOMENT = re.compile(rf"(?<![\d:-]){MOMENT}(?![\d:-])")
_COMPARES = frozenset({">", "<", ">=", "<="})


def numbers_in(text: str) -> list[tuple[Decimal, bool]]:
    """Return the numbers in a text, each with True if it is a percentage."""
    spelt = _SPELT_OUT.sub(lambda match: SPELT[match[1]], text)
    return [(Decimal(match.group()), bool(match[1])) for match in _NUMBER.finditer(spelt)]


_BOUND = re.compile(r"\b(?:before|after|since|until|from|through|past|prior to|earlier|later)\b")


def proposes_bound(text: str) -> bool:
    """Return whether a text proposes one side of a value, such as "before" it."""
    return any(pattern.search(text) for _, pattern in _BOUNDS) or bool(_BOUND.search(text))


def _other_bound(text: str, tokens: Sequence[LexicalUnit]) -> bool:
    signs = [token.key for token in tokens if token.key in _COMPARES]
    said = next((sign for sign, pattern in _BOUNDS if pattern.search(text)), "")
    return bool(said) and len(signs) == 1 and signs[0] != said


def moments_in(text: str) -> set[str]:
    """Return the dates and times of day in a text."""
    return set(_MOMENT.findall(text))


def of_amounts(
    text: str,
    tokens: Sequence[LexicalUnit],
    proposed: Sequence[tuple[Decimal, bool]],
    moments: Set[str],
) -> Verdict:
    """Judge a proposal with dates or times (`moments`), or with numbers (`proposed`)."""
    if moments:
        real = {token.text for token in tokens if token.kind == "string" and _MOMENT.fullmatch(token.text)}
        if not real:
            return ""
        return "No" if not moments <= real or _other_bound(text, tokens) else "Yes"
    numbers = {Decimal(t.text) for t in tokens if t.kind == "number" and _PLAIN_NUMBER.fullmatch(t.text)}
    if not all(number in numbers or (percent and number / 100 in numbers) for number, percent in proposed):
        near = {number + step for number, _ in proposed for step in (-1, 1)}
        same = not near.isdisjoint(numbers) and _other_bound(text, tokens)  # "more than 39" for >= 40
        return "No" if numbers and not same else ""
    return "No" if _other_bound(text, tokens) else "Yes"
