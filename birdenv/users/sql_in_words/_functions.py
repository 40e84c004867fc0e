"""SQL functions, dates among them, in the words of somebody who has never seen SQL.

A function has a template for each number of arguments; the key 0 of a template table means "any other
number". A function that is not listed is called by the words of its own name.
"""

from __future__ import annotations

import re
from typing import Literal

from birdenv.users.sql_in_words._parse import split_words
from birdenv.users.sql_in_words._phrases import Wording, enumerate_words

_PREFIX: dict[str, str] = {
    "ABS": "the absolute value of {}",
    "AVG": "the average of {}",
    "CEIL": "the whole number at or above {}",
    "CEILING": "the whole number at or above {}",
    "EXP": "the exponential of {}",
    "FLOOR": "the whole number at or below {}",
    "GROUP_CONCAT": "the list of {}",
    "JSON_ARRAY_LENGTH": "the number of entries in {}",
    "JSON_GROUP_ARRAY": "the list of {}",
    "JULIANDAY": "the julian day of {}",
    "LENGTH": "the length of {}",
    "LN": "the natural logarithm of {}",
    "LOG": "the logarithm of {}",
    "LOG10": "the decimal logarithm of {}",
    "MEDIAN": "the median of {}",
    "MEAN": "the average of {}",
    "MIN": "the lowest {}",
    "MAX": "the highest {}",
    "SQRT": "the square root of {}",
    "STDDEV": "the standard deviation of {}",
    "STRING_AGG": "the list of {}",
    "SUM": "the total of {}",
    "TOTAL": "the total of {}",
    "VARIANCE": "the variance of {}",
    "FIRST_VALUE": "the first {}",
    "LAST_VALUE": "the last {}",
    "LAG": "the previous {}",
    "LEAD": "the next {}",
}

_PHRASES: dict[str, dict[int, str]] = {
    "COUNT": {0: "the number of {}"},
    "LAG": {2: "the previous {} ({} back)", 3: "the previous {} ({} back, or else {})"},
    "LEAD": {2: "the next {} ({} ahead)", 3: "the next {} ({} ahead, or else {})"},
    "LOG": {2: "the logarithm to base {} of {}"},
    "GROUP_CONCAT": {2: "the list of {}, joined with {}"},
    "STRING_AGG": {2: "the list of {}, joined with {}"},
    "ROUND": {1: "{}, rounded to a whole number", 2: "{}, rounded to {}"},
    "TRUNC": {1: "{}, cut to a whole number", 2: "{}, cut to {}"},
    "COALESCE": {2: "{}, or {} if it has no value"},
    "IFNULL": {2: "{}, or {} if it has no value"},
    "NULLIF": {2: "{}, or null if it is {}"},
    "POWER": {2: "{} to the power of {}"},
    "POW": {2: "{} to the power of {}"},
    "MOD": {2: "{} modulo {}"},
    "LOWER": {1: "{} in lower case"},
    "UPPER": {1: "{} in upper case"},
    "TRIM": {1: "{} without surrounding spaces", 2: "{} without surrounding {}"},
    "LTRIM": {1: "{} without leading spaces", 2: "{} without leading {}"},
    "RTRIM": {1: "{} without trailing spaces", 2: "{} without trailing {}"},
    "REPLACE": {3: "{} with {} replaced by {}"},
    "SUBSTR": {
        2: "the part of {} from position {}",
        3: "the part of {} from position {}, {} characters long",
    },
    "SUBSTRING": {
        2: "the part of {} from position {}",
        3: "the part of {} from position {}, {} characters long",
    },
    "INSTR": {2: "the position in {} of {}"},
    "STRFTIME": {1: "today in the date format {}", 2: "the date format {} of {}"},
    "RANK": {0: "the rank"},
    "DENSE_RANK": {0: "the rank without gaps"},
    "PERCENT_RANK": {0: "the rank as a percentage"},
    "CUME_DIST": {0: "the cumulative share"},
    "ROW_NUMBER": {0: "the running number"},
    "NTILE": {1: "the one of {} equal groups"},
    "AGE": {1: "the age since {}", 2: "the age at {}, counted from {}"},
    "CONCAT": {},
}

_LISTS: dict[str, str] = {
    "COALESCE": "the first available of {}",
    "IFNULL": "the first available of {}",
    "GREATEST": "the highest of {}",
    "LEAST": "the lowest of {}",
    "MAX": "the highest of {}",
    "MIN": "the lowest of {}",
    "JSON_ARRAY": "the list of {}",
    "CONCAT": "{} joined together",
}

_PAIRS = {"JSON_OBJECT": "an object with {}", "JSON_GROUP_OBJECT": "an object of {}"}

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?")
_TIME = re.compile(r"\d\d:\d\d(?::\d\d)?")
_MOMENT = re.compile(r"\b(?:date|time|timestamp|day)$")

_CUT = {
    ("1", "4"): "the year of {}",
    ("1", "7"): "the year and month (YYYY-MM) of {}",
    ("1", "10"): "the date (YYYY-MM-DD) of {}",
    ("6", "2"): "the month (MM) of {}",
    ("9", "2"): "the day of the month (DD) of {}",
    ("12", "2"): "the hour (HH) of {}",
    ("12", "5"): "the time of day (HH:MM) of {}",
}
_FORMATS = {
    "'%Y'": "the year of {}",
    "'%m'": "the month (MM) of {}",
    "'%d'": "the day of the month (DD) of {}",
    "'%Y-%m'": "the year and month (YYYY-MM) of {}",
    "'%Y-%m-%d'": "the date (YYYY-MM-DD) of {}",
    "'%H'": "the hour (HH) of {}",
    "'%H:%M'": "the time of day (HH:MM) of {}",
    "'%w'": "the day of the week (0 for Sunday) of {}",
}
_TIGHT = frozenset({"RANK", "DENSE_RANK", "ROW_NUMBER", "COUNT", "NTILE", *_PREFIX})
_INFIX = frozenset({"POW", "POWER", "MOD"})
_LATEST = {"MAX": "the latest {}", "MIN": "the earliest {}"}
_ARTICLE_OF_ITS_OWN = frozenset({"MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD"})


def needs_brackets(name: str, arguments: int) -> bool:
    """Return whether the phrase of this call is so loose that it needs brackets next to plus or times."""
    return not (name in _TIGHT and arguments < 2)


def joins_with_comma(name: str, arguments: int) -> bool:
    """Return whether a comma sets the first argument of this call apart, so that it needs no brackets."""
    return name in ("ROUND", "TRUNC") or (name in ("COALESCE", "IFNULL", "NULLIF") and arguments == 2)


def takes_atoms(name: str) -> bool:
    """Return whether this function's words go between its arguments, like those of an operator."""
    return name in _INFIX


def function_words(wording: Wording, name: str, arguments: list[str]) -> str:
    """Return what `name(arguments)` is in words; every argument, itself in words, occurs in it."""
    count = len(arguments)
    if name in _ARTICLE_OF_ITS_OWN and (count == 1 or name in ("LAG", "LEAD")):
        arguments = [arguments[0].removeprefix("the "), *arguments[1:]] if arguments else []
    if name in ("ROUND", "TRUNC") and count == 2:
        arguments = [arguments[0], _decimals(arguments[1])]
    if name in _LATEST and count == 1 and arguments[0].endswith((" date", " time", " year")):
        return wording.say(_LATEST[name], arguments[0])
    template = _PHRASES.get(name, {}).get(count)
    if template is None and count == 1:
        template = _PREFIX.get(name)
    if template is None and name in _PHRASES:
        template = _PHRASES[name].get(0)
        if template is not None and template.count("{}") != count:
            template = None if count else template.replace(" of {}", "")
    if template is not None:
        return wording.say(template, *arguments)
    if name in _PAIRS and count:
        pairs = [": ".join(arguments[i : i + 2]) for i in range(0, count, 2)]
        return wording.say(_PAIRS[name], "; ".join(pairs))
    if name in _LISTS and count:
        return wording.say(_LISTS[name], enumerate_words(arguments))
    words = split_words(name)
    return wording.say("the {} of {}", words, enumerate_words(arguments)) if count else f"the {words}"


def _decimals(places: str) -> str:
    if places == "0":
        return "a whole number (0 decimals)"
    return {"1": "one decimal", "2": "two decimals"}.get(places, f"{places} decimals")


def kind_of_text(text: str) -> Literal["date", "time", "string"]:
    """Return "date", "time" or "string".

    >>> [kind_of_text(text) for text in ("2024-01-01", "16:00", "open")]
    ['date', 'time', 'string']
    """
    return "date" if _DATE.fullmatch(text) else "time" if _TIME.fullmatch(text) else "string"


def cut_of_date(name: str, arguments: list[str]) -> str:
    """Return the template for a part of a date; "" if the call takes none."""
    if name in ("SUBSTR", "SUBSTRING") and len(arguments) == 3 and _MOMENT.search(arguments[0]):
        return _CUT.get((arguments[1], arguments[2]), "")
    if name == "STRFTIME" and len(arguments) == 2:
        return _FORMATS.get(arguments[0], "")
    return ""


def days_between(later: str, earlier: str) -> str:
    """Return the difference of two days in words.

    >>> days_between("'now'", "the start date")
    'the number of days from the start date to now'
    """
    return f"the number of days from {_now(earlier)} to {_now(later)}"


def _now(moment: str) -> str:
    return "now" if moment == "'now'" else moment
