"""Choose the PostgreSQL type of an SQLite column: the declared type if all values fit, or a wider type.

There are two kinds of SQLite databases. Databases that were written for SQLite declare `INTEGER`, `REAL`,
`TEXT` and `DATE`. Databases that were exported from PostgreSQL declare a family of types and a precision, as
in PostgreSQL's `information_schema`: `integer(16|32|64)` is an integer with that many bits, `integer(24|53)`
a float with a mantissa of that many bits, `real(p,s)` is `numeric(p,s)`, `text(n)` is `varchar(n)`, `text(6)`
may also be a time or timestamp, and dates, JSON and free text are all `TEXT`. In an exported database, a
`TEXT` column whose values are all dates, timestamps, times or JSON objects gets that type, because queries
for the original database need it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

import numpy as np

from birdenv.databases.postgres._answers import MOST_LEVELS, levels_of_json

_DECLARED: Final = re.compile(r"([A-Za-z][A-Za-z0-9_\s]*+)(?:\(\s*+(\d{1,9})\s*+(?:,\s*+(\d{1,9})\s*+)?\))?")
_OF_THE_CATALOGUE: Final = re.compile(r"integer\((16|24|32|53|64)\)", re.IGNORECASE)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d\d:\d\d:\d\d(\.\d{1,6})?")
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?")
_ZONED: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-](0\d|1[0-5])(:?\d\d)?)")
_LOST_BY_EXPORT: Final = re.compile(r"text(\(6\))?", re.IGNORECASE)
_BY_NAME: Final = (
    ("numeric", ["numeric"]),
    ("decimal", ["numeric"]),
    ("real", ["double precision"]),  # a REAL of SQLite has 8 bytes
    ("float", ["double precision"]),
    ("double", ["double precision"]),
    ("bool", ["boolean"]),
    ("datetime", ["timestamp", "timestamptz"]),
    ("timestamp", ["timestamp", "timestamptz"]),
    ("date", ["date"]),
    ("time", ["time"]),
    ("json", ["jsonb"]),
    ("blob", ["bytea"]),
)
_ANY: Final = ("bigint", "double precision", "text", "bytea")
_BITS: Final = {"smallint": 15, "integer": 31, "bigint": 63}
_MOST_NUMERIC: Final = 1000  # maximum precision of a numeric
_MOST_DIGITS: Final = 4300  # of a number in JSON: PostgreSQL writes exponents out, and Python reads no more


@dataclass(frozen=True, slots=True)
class Column:
    """The type chosen for a column.

    Attributes:
        type: the PostgreSQL type.
        note: an explanation for the user if the type differs from the declared type; otherwise empty.
    """

    type: str
    note: str = ""


def came_from_postgres(declared: Sequence[str]) -> bool:
    """Return whether a database was exported from PostgreSQL, judging by its declared column types."""
    return any(_OF_THE_CATALOGUE.fullmatch(each.strip()) for each in declared)


def column_type(declared: str, values: Sequence[Any], from_postgres: bool) -> Column:
    """Return the PostgreSQL type for a column.

    Args:
        declared: the column's declared type in SQLite.
        values: all values of the column except NULLs, each an int, float, str or bytes.
        from_postgres: whether the database was exported from PostgreSQL.
    """
    shown = declared or "(no type)"
    if from_postgres and values and _LOST_BY_EXPORT.fullmatch(declared.strip()):
        for kind in _READERS:
            if _fits(kind, values):
                return Column(
                    kind, f"declared as {shown}, loaded as {kind} because all values are of that type"
                )
    wanted = list(_wanted(declared))
    kind = next(each for each in (*wanted, *_ANY) if _fits(each, values))
    if kind in wanted[:1]:
        return Column(kind)
    if not wanted:
        return Column(kind, f"declared as {shown}, loaded as {kind} because of its values")
    misfit = next(value for value in values if not _fits(wanted[0], [value]))
    return Column(kind, f"declared as {shown}, loaded as {kind}: {misfit!r:.60} does not fit {wanted[0]}")


def _wanted(declared: str) -> Iterator[str]:
    """Yield PostgreSQL types that suit a declared type, the narrowest first."""
    match = _DECLARED.fullmatch(declared.strip())
    name = " ".join(match[1].lower().split()) if match else declared.lower()
    size, scale = (match[2], match[3]) if match else (None, None)
    if name == "integer" and size in ("24", "53"):
        yield from ("real", "double precision") if size == "24" else ("double precision",)
    elif "int" in name:
        narrow = {"16": "smallint", "32": "integer"}.get(size or "")
        named = {"smallint": "smallint", "int2": "smallint"}.get(name)
        yield from filter(None, (narrow or named, "bigint"))
    elif name in ("real", "numeric", "decimal", "float", "double") and size:
        if 0 < int(size) <= _MOST_NUMERIC and int(scale or 0) <= int(size):
            yield f"numeric({size},{scale or 0})"
        yield "numeric"
    else:
        yield from next((types for start, types in _BY_NAME if name.startswith(start)), ())
        if any(part in name for part in ("char", "clob", "text", "string")):
            yield "text"


def _fits(kind: str, values: Sequence[Any]) -> bool:
    """Return whether the type can hold every value without loss."""
    base = kind.partition("(")[0]
    if base == "numeric":
        return _fits_numeric(kind, values)
    if base in _BITS:
        most = 2 ** _BITS[base]
        return all(type(value) is int and -most <= value < most for value in values)
    if base == "real":
        return all(type(value) in (int, float) and _is_single(value) for value in values)
    if base == "double precision":
        return all(
            type(value) is float or (type(value) is int and int(float(value)) == value) for value in values
        )
    if base in ("text", "bytea"):
        return base == "bytea" or not any(type(value) is bytes for value in values)
    if base == "boolean":
        return all(type(value) is int and value in (0, 1) for value in values)
    return all(type(value) is str and _READERS[base](value) for value in values)


def _fits_numeric(kind: str, values: Sequence[Any]) -> bool:
    if not all(type(value) in (int, float) and math.isfinite(value) for value in values):
        return False
    if kind == "numeric":
        return True
    precision, scale = map(int, re.findall(r"\d+", kind))
    most = Decimal(10) ** (precision - scale)
    for value in values:
        number = Decimal(repr(value))
        exponent = number.normalize().as_tuple().exponent
        if abs(number) >= most or (isinstance(exponent, int) and -exponent > scale):
            return False
    return True


def _is_single(value: float) -> bool:
    """Return whether a number survives being stored in a 4-byte float and printed."""
    with np.errstate(over="ignore"):
        return float(str(np.float32(value))) == value


def _is_json_object(text: str) -> bool:
    """Return whether the text is an object that `jsonb` keeps without loss and birdenv can read again."""
    return text.lstrip()[:1] == "{" and "\\u0000" not in text and _parses(_read_json, text)


def _read_json(text: str) -> None:
    if levels_of_json(text.encode()) > MOST_LEVELS:
        raise ValueError("the JSON is nested too deeply")
    value = json.loads(
        text, parse_constant=_refuse, parse_float=_read_number, object_pairs_hook=_without_duplicates
    )
    json.dumps(value, ensure_ascii=False).encode()  # raises for a lone surrogate


def _read_number(text: str) -> float:
    if abs(Decimal(text).adjusted()) + len(text) > _MOST_DIGITS:
        raise ValueError("the number has too many digits")
    return float(text)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice")  # jsonb would keep only the last value
    return members


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _parses(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except (ValueError, ArithmeticError):
        return False
    return True


_READERS: Final[dict[str, Callable[[str], bool]]] = {
    "date": lambda text: bool(_DATE.fullmatch(text)) and _parses(date.fromisoformat, text),
    "time": lambda text: bool(_TIME.fullmatch(text)) and _parses(time.fromisoformat, text),
    "timestamp": lambda text: bool(_TIMESTAMP.fullmatch(text)) and _parses(datetime.fromisoformat, text),
    "timestamptz": lambda text: bool(_ZONED.fullmatch(text)) and _parses(datetime.fromisoformat, text),
    "jsonb": _is_json_object,
}
PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
