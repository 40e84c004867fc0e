"""Words for functions, and for other parts of SQL that a template can express."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from birdenv.users.sql_in_words._parse import split_words
from birdenv.users.sql_in_words._phrases import (
    ATOM,
    CHAIN,
    LOOSE,
    PREFIX,
    Phrase,
    bare,
    enumerate_words,
    phrases,
)

_TEMPLATES = {
    name: words.split(" | ")
    for section in ("functions", "parts of dates", "nodes")
    for name, words in phrases(section).items()
}
"""Templates by the names of functions, with constants among their arguments, and of classes of nodes."""

_SLOT = re.compile(r"\{([-:]?\*|[-#]?)\}")
_LATEST = {"MAX": "the latest {-}", "MIN": "the earliest {-}"}
_INFIX = frozenset({"POW", "POWER", "MOD"})
"""Functions whose words go between their arguments, like those of an operator."""

_DATE = re.compile(r"now|\d{4}-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?")
_TIME = re.compile(r"\d\d:\d\d(?::\d\d)?")
_MOMENT = re.compile(r"\b(?:date|time|timestamp|day)$")
_DECIMALS = {"0": "a whole number (0 decimals)", "1": "one decimal", "2": "two decimals"}


def filled(name: str, arguments: Sequence[Phrase]) -> Phrase:
    """Return the words for a function or another node, including every argument.

    Args:
        name: the function's name in upper case, or the name of the node's class. If it has no template, the
            words come from the name.
        arguments: the words for the arguments.
    """
    constants = [argument for argument in arguments if argument.literal in ("string", "number")]
    with_constants = " ".join([name, *(constant.text for constant in constants)])
    if (
        constants
        and with_constants in _TEMPLATES
        and (name == "STRFTIME" or _MOMENT.search(arguments[0].text))
    ):
        name, arguments = with_constants, [argument for argument in arguments if argument not in constants]
    template = _template(name, len(arguments))
    texts = [argument.inside(ATOM if name in _INFIX else PREFIX) for argument in arguments]
    is_set_apart = template.startswith("{}, ")
    if is_set_apart and ", " not in arguments[0].text:
        texts[0] = arguments[0].text
    if name in _LATEST and len(texts) == 1 and texts[0].endswith((" date", " time", " year")):
        template = _LATEST[name]
    is_loose = len(texts) > 1 or template.startswith("{}")
    counted = arguments[0].counted if name == "SUM" and len(texts) == 1 else ""
    rest = iter(texts)

    def words(slot: re.Match[str]) -> str:
        if slot[1] == ":*":
            return "; ".join(": ".join(texts[i : i + 2]) for i in range(0, len(texts), 2))
        if "*" in slot[1]:
            return enumerate_words(map(bare, texts) if "-" in slot[1] else texts)
        text = next(rest)
        return {"-": bare(text), "#": _DECIMALS.get(text, f"{text} decimals")}.get(slot[1], text)

    return Phrase(
        re.sub(r", moved by '-(\d+ \w+)'", r" minus \1", _SLOT.sub(words, template)),
        CHAIN if is_set_apart else LOOSE if is_loose else PREFIX if texts else ATOM,
        counted=f"{counted} in total" if counted else "",
    )


def _template(name: str, count: int) -> str:
    """Return the template for a number of arguments."""
    for template in _TEMPLATES.get(name, ()):
        if len(_SLOT.findall(template)) == count or (count and "*}" in template):
            return template
    return f"the {split_words(name)}{' of {*}' * (count > 0)}"


def kind_of_text(text: str) -> Literal["date", "time", "string"]:
    """Return what a text contains: a date, a time, or any other string.

    >>> [kind_of_text(text) for text in ("2024-01-01", "16:00", "open")]
    ['date', 'time', 'string']
    """
    return "date" if _DATE.fullmatch(text) else "time" if _TIME.fullmatch(text) else "string"
