"""Convert cells into canonical forms. Two cells count as equal if and only if these forms are equal.

Numbers of all types (bool, int, float, Decimal) are compared by value: whole numbers become `int`, so that
`-0.0` is 0, and NaN equals NaN. NULL equals only NULL. Text and bytes are compared exactly, and text never
equals a number. Dates and times equal only values of the same type, after conversion to UTC. Arrays and
JSON objects become tagged tuples with sorted keys, in which `true` is not 1.

A `Normalisation` specifies which differences between strings, and between date formats, do not matter. The
values of both results are rewritten accordingly before they are compared by the usual rules.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeAlias

from birdenv.databases import QueryResult, Row

CanonicalRow: TypeAlias = tuple[Hashable, ...]

NAN: Final = ("number", "nan")
"""The canonical form of every NaN, and of no other value."""

PLAIN_TYPES: Final = frozenset(
    {type(None), bool, int, float, Decimal, str, bytes, date, datetime, time, timedelta}
)
"""Types whose values are equal in canonical form if they are equal in Python."""

_EXACT_TYPES: Final = frozenset({type(None), int, str, bytes})
_LARGEST_EXPONENT: Final = 400  # larger Decimals stay Decimals, because as an int they could fill the memory


def cell_types(rows: Iterable[Row]) -> set[type]:
    """Return the Python types of all cells."""
    return set(map(type, chain.from_iterable(rows)))


def projected(rows: Iterable[Row], columns: Sequence[int]) -> Iterator[Row]:
    """Yield each row with only the given columns, in the given order."""
    if len(columns) == 1:
        return zip(map(itemgetter(*columns), rows))
    return map(itemgetter(*columns), rows) if columns else (() for _ in rows)


def canonical_row(row: Sequence[Any]) -> CanonicalRow:
    """Return a row with all its cells in canonical form."""
    return tuple(map(canonical_cell, row))


def canonical_rows(rows: Sequence[Row]) -> list[CanonicalRow]:
    """Return the rows in canonical form. Rows that are already in canonical form are not copied."""
    if not rows or cell_types(rows) <= _EXACT_TYPES:
        return list(rows)
    columns = [list(map(itemgetter(i), rows)) for i in range(len(rows[0]))]
    for i, column in enumerate(columns):
        if not set(map(type, column)) <= _EXACT_TYPES:
            columns[i] = list(map(canonical_cell, column))
    return list(zip(*columns, strict=True))


def canonical_cell(cell: Any) -> Hashable:
    """Return the canonical form of a cell, as described in the module's docstring."""
    if type(cell) in _EXACT_TYPES:
        return cell  # type: ignore[no-any-return]
    if isinstance(cell, float):
        return _canonical_float(cell)
    if isinstance(cell, int):
        return int(cell)
    if isinstance(cell, Decimal):
        return _canonical_decimal(cell)
    if isinstance(cell, (bytearray, memoryview)):
        return bytes(cell)
    if isinstance(cell, datetime):
        return in_utc(cell)
    if isinstance(cell, (list, tuple)):
        return ("array", tuple(map(_nested, cell)))
    if isinstance(cell, dict):
        return ("object", tuple((str(key), _nested(cell[key])) for key in sorted(cell, key=str)))
    return _hashable(cell)


def in_utc(moment: datetime) -> datetime:
    """Convert a time with a time zone to UTC.

    A time without a time zone is returned unchanged, and so is a time that `datetime` cannot represent in
    UTC.
    """
    if moment.utcoffset() is None:
        return moment
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment


def _hashable(cell: Any) -> Hashable:
    """Return a cell if it can be hashed, or otherwise its type and text."""
    try:
        hash(cell)
    except TypeError:
        return (type(cell).__name__, repr(cell))
    return cell  # type: ignore[no-any-return]


def _nested(cell: Any) -> Hashable:
    return ("boolean", cell) if isinstance(cell, bool) else canonical_cell(cell)


def _canonical_float(number: float) -> Hashable:
    if math.isnan(number):
        return NAN
    return int(number) if number.is_integer() else number


def _canonical_decimal(number: Decimal) -> Hashable:
    if number.is_nan():
        return NAN
    if number.is_infinite():
        return math.copysign(math.inf, number)
    if not number:
        return 0
    if abs(number.adjusted()) <= _LARGEST_EXPONENT and number == number.to_integral_value():
        return int(number)
    return number


_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Normalisation:
    """The differences between strings, and between date formats, that a comparison ignores.

    Attributes:
        trim: True to ignore white space around text.
        casefold: True to ignore the difference between upper and lower case.
        nfc: True to ignore whether Unicode characters are composed or decomposed.
        dates: True to ignore how dates are written: a date equals its ISO text, and also midnight of that
            day; a timestamp equals its ISO text.
    """

    trim: bool = False
    casefold: bool = False
    nfc: bool = False
    dates: bool = False


EXACT: Final = Normalisation()


def normalised(result: QueryResult, normalisation: Normalisation) -> QueryResult:
    """Return the result with its values, including those in arrays and JSON, rewritten as specified.

    If no differences are to be ignored, the same object is returned.
    """
    if normalisation == EXACT:
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
    """Return a date or timestamp as ISO text in UTC. Midnight without a time zone becomes a date."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    zone = ""
    if moment.utcoffset() is not None:
        moment, zone = moment.astimezone(UTC).replace(tzinfo=None), "+00:00"
    if not zone and (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0):
        return moment.date().isoformat()
    return moment.isoformat(sep=" ") + zone


def _iso_of_text(text: str) -> str | None:
    """Rewrite text as `_iso` does, or return None if it is not a date or timestamp."""
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
