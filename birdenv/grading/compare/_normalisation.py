"""Switches that make a comparison forgive how text and dates are written. All are off unless asked for.

They work on the values, before any comparison: both results are rewritten, and the rules stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from birdenv.databases import QueryResult

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Normalisation:
    """What does not count. `trim`: space around text. `casefold`: upper and lower case. `nfc`: how composed
    characters are encoded. `dates`: how a date is written: a date, its ISO text and midnight of that day are
    the same, and so are a timestamp and its ISO text."""

    trim: bool = False
    casefold: bool = False
    nfc: bool = False
    dates: bool = False

    @property
    def is_exact(self) -> bool:
        return self == EXACT


EXACT: Final = Normalisation()


def normalised(result: QueryResult, normalisation: Normalisation) -> QueryResult:
    """The result as it is compared; the very same if nothing is loose. Arrays and JSON are gone into."""
    if normalisation.is_exact:
        return result
    rows = [tuple(_loosened(cell, normalisation) for cell in row) for row in result.rows]
    return QueryResult(result.columns, rows, truncated=result.truncated)


def _loosened(cell: Any, normalisation: Normalisation) -> Any:
    if isinstance(cell, str):
        return _text(cell, normalisation)
    if isinstance(cell, date) and normalisation.dates:  # a datetime is one
        return _iso(cell)
    if isinstance(cell, (list, tuple)):
        return [_loosened(item, normalisation) for item in cell]
    if isinstance(cell, dict):
        return {key: _loosened(value, normalisation) for key, value in cell.items()}
    return cell


def _text(text: str, normalisation: Normalisation) -> str:
    if normalisation.trim:
        text = text.strip()
    if normalisation.dates and text[:4].isdigit() and (written := _iso_of_text(text)) is not None:
        return written
    if normalisation.casefold:
        text = text.casefold()
    return unicodedata.normalize("NFC", text) if normalisation.nfc else text


def _iso(moment: date) -> str:
    """A date, or a timestamp at midnight: the day. Other timestamps: with their time, in UTC if they have a
    time zone."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    zone = ""
    if moment.utcoffset() is not None:
        moment, zone = moment.astimezone(UTC).replace(tzinfo=None), "+00:00"
    if not zone and (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0):
        return moment.date().isoformat()
    return moment.isoformat(sep=" ") + zone


def _iso_of_text(text: str) -> str | None:
    """What the text says, written as `_iso` does; None if it is no date and no timestamp."""
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        match = _MOMENT.fullmatch(text)
        if match is None:
            return None
        day, minute, second, fraction, zone = match.groups()
        zone = {None: "", "Z": "+00:00"}.get(zone, zone)
        if len(zone) == 3:
            zone += ":00"
        fraction = f".{fraction:0<6}" if fraction else ""
        return _iso(datetime.fromisoformat(f"{day}T{minute}:{second or '00'}{fraction}{zone}"))
    except (ValueError, OverflowError):
        return None
