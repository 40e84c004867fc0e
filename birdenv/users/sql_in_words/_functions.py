"""Words for SQL functions that people who do not know SQL understand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from birdenv.users.sql_in_words._parse import split_words
from birdenv.users.sql_in_words._phrases import ATOM, CHAIN, LOOSE, PREFIX, Phrase, enumerate_words, phrases

_TEMPLATES = {name: words.split(" | ") for name, words in phrases("functions").items()}
_SLOT = re.compile(r"\{[-#*:]?\}")
_ALL = re.compile(r"\{[*:]\}")
_LATEST = {"MAX": "the latest {-}", "MIN": "the earliest {-}"}
_INFIX = frozenset({"POW", "POWER", "MOD"})
"""Functions whose words go between their arguments, like those of an operator."""

_PARTS_OF_DATES = phrases("parts of dates")
_CUTS = phrases("cuts of dates")
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?")
_TIME = re.compile(r"\d\d:\d\d(?::\d\d)?")
_MOMENT = re.compile(r"\b(?:date|time|timestamp|day)$")


def function_words(name: str, arguments: Sequence[Phrase], order: str = "") -> Phrase:
    """Return the words for a function call, including every argument.

    Args:
        name: the function's name in upper case. The words for an unknown function come from its name.
        arguments: the words for the arguments.
        order: the words for the ORDER BY of an aggregate.
    """
    count = len(arguments)
    if part := _part_of_date(name, arguments):
        return Phrase(part.format(arguments[name == "STRFTIME"].inside(PREFIX)), PREFIX)
    template = _template(name, count)
    texts = [argument.inside(ATOM if name in _INFIX else PREFIX) for argument in arguments]
    is_set_apart = template.startswith("{}, ")
    if is_set_apart and ", " not in arguments[0].text:
        texts[0] = arguments[0].text
    if name in _LATEST and count == 1 and texts[0].endswith((" date", " time", " year")):
        template = _LATEST[name]
    is_tight = count < 2 and not template.startswith("{}") and not order
    counted = arguments[0].counted if name == "SUM" and count == 1 and not order else ""
    return Phrase(
        _filled(template, texts) + order,
        CHAIN if is_set_apart else PREFIX if is_tight else LOOSE,
        counted=f"{counted} in total" if counted else "",
    )


def _template(name: str, count: int) -> str:
    """Return a function's template for a number of arguments."""
    fitting = (
        template
        for template in _TEMPLATES.get(name, ())
        if len(_SLOT.findall(template)) == count or (count and _ALL.search(template))
    )
    return next(fitting, f"the {split_words(name)}{' of {*}' * (count > 0)}")


def _filled(template: str, arguments: Sequence[str]) -> str:
    rest = iter(arguments)

    def words(slot: re.Match[str]) -> str:
        if slot[0] == "{*}":
            return enumerate_words(arguments)
        if slot[0] == "{:}":
            return "; ".join(": ".join(arguments[i : i + 2]) for i in range(0, len(arguments), 2))
        argument = next(rest)
        return {"{-}": argument.removeprefix("the "), "{#}": _decimals(argument)}.get(slot[0], argument)

    return _SLOT.sub(words, template)


def _decimals(places: str) -> str:
    if places == "0":
        return "a whole number (0 decimals)"
    return {"1": "one decimal", "2": "two decimals"}.get(places, f"{places} decimals")


def _part_of_date(name: str, arguments: Sequence[Phrase]) -> str:
    """Return the template for a part of a date; "" if the call does not extract one."""
    texts = [argument.text for argument in arguments]
    if name in ("SUBSTR", "SUBSTRING") and len(texts) == 3 and _MOMENT.search(texts[0]):
        return _PARTS_OF_DATES.get(_CUTS.get(f"{texts[1]} {texts[2]}", ""), "")
    if name == "STRFTIME" and len(texts) == 2:
        return _PARTS_OF_DATES.get(texts[0].strip("'"), "")
    return ""


def kind_of_text(text: str) -> Literal["date", "time", "string"]:
    """Return what a text contains: a date, a time, or any other string.

    >>> [kind_of_text(text) for text in ("2024-01-01", "16:00", "open")]
    ['date', 'time', 'string']
    """
    return "date" if _DATE.fullmatch(text) else "time" if _TIME.fullmatch(text) else "string"
