"""Canonical cells: two values count as the same exactly when their canonical forms are equal and hashable.

Numbers of every type (bool, int, float, Decimal) meet by value: integral ones as `int`, so `-0.0` is 0, and
NaN equals NaN. NULL equals only NULL. Text and bytes are exact, and text is never read as a number. Dates
and times are exact by type, those with a time zone in UTC. Arrays and JSON objects become tagged tuples with
sorted keys: the hashable form of canonical JSON, where `true` is not 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeAlias

from birdenv.databases import Row

CanonicalRow: TypeAlias = tuple[Hashable, ...]

NAN: Final = ("number", "nan")
"""What every NaN becomes; no other cell has this canonical form."""

PLAIN_TYPES: Final = frozenset(
    {type(None), bool, int, float, Decimal, str, bytes, date, datetime, time, timedelta}
)
"""Types whose values, when Python calls them equal, are also equal in canonical form."""

_EXACT_TYPES: Final = frozenset({type(None), int, str, bytes})
_LARGEST_EXPONENT: Final = 400  # a Decimal beyond this stays a Decimal: as an int it could fill the memory


def cell_types(rows: Iterable[Row]) -> set[type]:
    """The Python types of all cells."""
    return set(map(type, chain.from_iterable(rows)))


def projected(rows: Iterable[Row], columns: Sequence[int]) -> Iterator[Row]:
    """Each row's cells in these columns, in this order."""
    if len(columns) == 1:
        return zip(map(itemgetter(*columns), rows))
    return map(itemgetter(*columns), rows) if columns else (() for _ in rows)


def canonical_row(row: Sequence[Any]) -> CanonicalRow:
    """The canonical form of each cell."""
    return tuple(map(canonical_cell, row))


def canonical_rows(rows: Sequence[Row]) -> list[CanonicalRow]:
    """The canonical form of each row; rows that are canonical already are not copied."""
    if not rows or cell_types(rows) <= _EXACT_TYPES:
        return list(rows)
    columns = [list(map(itemgetter(i), rows)) for i in range(len(rows[0]))]
    for i, column in enumerate(columns):
        if not set(map(type, column)) <= _EXACT_TYPES:
            columns[i] = list(map(canonical_cell, column))
    return list(zip(*columns, strict=True))


def canonical_cell(cell: Any) -> Hashable:
    """The canonical form of one cell (see the module's first lines)."""
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
    """The same moment in UTC; unchanged without a time zone, or where UTC would leave the calendar."""
    if moment.utcoffset() is None:
        return moment
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment


def _hashable(cell: Any) -> Hashable:
    """The cell itself if it can be hashed, else its type and text."""
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
