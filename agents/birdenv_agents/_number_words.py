"""Normalise informal text, and read numbers written in words, such as `ninety-five` or `one fifty`."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "grand": 1000, "k": 1000}
_SMALL: Final = "|".join([*_UNITS, *_TENS])
_TOKEN: Final = rf"(?:{_SMALL}|hundred|thousand|grand)"
_NUMBER: Final = re.compile(
    rf"\b(?:a |half a )?{_TOKEN}(?:[ -](?:and[ -](?=(?:{_SMALL})|a half\b))?(?:{_TOKEN}|a half))*\b"
)


def plain(text: str) -> str:
    """Return the text in lower case, with straight quotes and single spaces."""
    return re.sub(r"\s+", " ", text.lower().replace("’", "'").replace("`", "'")).strip()


def with_digits(text: str) -> str:
    """Return the text in lower case, with digits for numbers that are written in words.

    >>> with_digits("how about one hundred and twenty-five, or two grand?")
    'how about 125, or 2000?'
    """
    return _NUMBER.sub(_digits, text)


def _digits(match: re.Match[str]) -> str:
    words = re.split(r"[ -]", match.group())
    if words == ["one"] or words == ["a"]:
        return match.group()  # `this one`
    value = _value([word for word in words if word not in ("and", "a", "half")], "half" in words[1:])
    return f"{value:g}" if words[0] != "half" else f"{value / 2:g}"


def _value(words: list[str], is_half_more: bool) -> float:
    """Return the number that words mean. A unit before tens counts hundreds (`one fifty` is 150)."""
    total, current = 0.0, 0.0
    scale = 1
    for place, word in enumerate(words):
        if word in _SCALES:
            scale = _SCALES[word]
            if scale == 100:
                current = (current or 1) * 100
            else:
                total += (current or 1) * scale
                current = 0.0
        elif word in _TENS:
            before = words[place - 1] if place else ""
            current = (current * 100 if before in _UNITS and 0 < current < 20 else current) + _TENS[word]
        else:
            current += _UNITS[word]
    return total + current + (scale / 2 if is_half_more else 0)


def in_words(number: int) -> str:
    """Return a whole number below a million in words."""
    if number < 20:
        return list(_UNITS)[number]
    if number < 100:
        tens = list(_TENS)[number // 10 - 2]
        return f"{tens}-{list(_UNITS)[number % 10]}" if number % 10 else tens
    name, size = ("hundred", 100) if number < 1000 else ("thousand", 1000)
    rest = number % size
    return f"{in_words(number // size)} {name}" + (
        f" {'and ' if rest < 100 else ''}{in_words(rest)}" if rest else ""
    )
