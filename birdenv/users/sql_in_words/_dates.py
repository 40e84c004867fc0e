"""Parts of dates and times, and the days between two of them, in words."""

from __future__ import annotations

import re
from typing import Literal

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?")
_TIME = re.compile(r"\d\d:\d\d(?::\d\d)?")
_MOMENT = re.compile(r"\b(?:date|time|timestamp|day)$")
_JULIAN = "the julian day of "

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


def kind_of_text(text: str) -> Literal["date", "time", "string"]:
    """Return "date", "time" or "string".

    >>> [kind_of_text(text) for text in ("2024-01-01", "16:00", "open")]
    ['date', 'time', 'string']
    """
    return "date" if _DATE.fullmatch(text) else "time" if _TIME.fullmatch(text) else "string"


def cut_of_date(name: str, arguments: list[str]) -> str:
    """The template for a part of a date; "" if the call takes none."""
    if name in ("SUBSTR", "SUBSTRING") and len(arguments) == 3 and _MOMENT.search(arguments[0]):
        return _CUT.get((arguments[1], arguments[2]), "")
    if name == "STRFTIME" and len(arguments) == 2:
        return _FORMATS.get(arguments[0], "")
    return ""


def days_between(later: str, earlier: str) -> str:
    """The difference of two Julian days in words, "" if these are none.

    >>> days_between("the julian day of the end date", "the julian day of the start date")
    'the number of days from the start date to the end date'
    """
    if not (later.startswith(_JULIAN) and earlier.startswith(_JULIAN)):
        return ""
    start, end = (text.removeprefix(_JULIAN) for text in (earlier, later))
    return f"the number of days from {_now(start)} to {_now(end)}"


def _now(moment: str) -> str:
    return "now" if moment == "'now'" else moment
