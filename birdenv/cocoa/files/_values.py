"""Normalise irregular values in CoCoA's files, and define records that keep unknown keys."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from birdenv.errors import InputError
from birdenv.files import check_text, write_text

_MOST: Final = sys.float_info.max
M = TypeVar("M", bound=BaseModel)

_OLD_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d)-(\d\d)-(\d\d)")
"""Times in the oldest files have hyphens between hours, minutes and seconds."""
_LATEST: Final = 1e15
"""The largest time. Larger floats cannot represent differences of a thousandth of a second."""
_NOTHING: Final = ("", "null", "none", "nan")


class FileObject(BaseModel):
    """The base class for JSON objects in files. Unknown keys are kept, and missing keys are not written.

    A key with the value null counts as missing. A number is accepted in place of a string.
    """

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        # Null stays where it is the default of a field.
        if not isinstance(value, Mapping):
            return value
        nulls = [name for name, inner in value.items() if inner is None]
        if not nulls:
            return value
        fields = cls.model_fields
        left_out = {name for name in nulls if name in fields and _has_default(fields[name])}
        return {name: inner for name, inner in value.items() if name not in left_out}

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object that contains only the keys that were set."""
        return self.model_dump(exclude_unset=True)


def _has_default(field: FieldInfo) -> bool:
    return not field.is_required() and field.get_default(call_default_factory=True) is not None


def read_list(model: type[M], records: Sequence[Mapping[str, Any]], where: str) -> list[M]:
    """Validate JSON objects, and return them as instances of a model.

    Args:
        model: the model.
        records: the JSON objects.
        where: the origin of the objects, such as a file, for error messages.

    Raises:
        InputError: a record is invalid; the message names the record and its first invalid field.
    """
    made = []
    for number, record in enumerate(records, 1):
        try:
            made.append(model.model_validate(without_nan(record)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            fault = "missing" if first["type"] == "missing" else f"invalid: {first['msg']}"
            raise InputError(f"{where}: record {number}: the field `{field}` is {fault}") from None
    return made


def write_list(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records to a file as a JSON list, as CoCoA's readers require, with one record per line."""
    lines = ",\n".join(json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records)
    write_text(path, f"[\n{lines}\n]\n")


def without_nan(value: Any) -> Any:
    """Return a JSON value in which None replaces NaN, infinity and numbers too large for a float."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int):
        return value if abs(value) <= _MOST else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return value


def from_text(value: Any) -> Any:
    """Parse a string that contains JSON; return any other value unchanged.

    An empty string and strings such as `null` or `nan` become None.
    """
    if not isinstance(value, str):
        return value
    if value.strip().lower() in _NOTHING:
        return None
    try:
        found = json.loads(value)
        check_text(found, "data")
    except (ValueError, RecursionError, InputError):
        return value
    return without_nan(found)


def as_terms(data: Any) -> Any:
    """Convert the data of an offer to an object with its terms. A bare price and JSON text are accepted."""
    data = from_text(data)
    if not isinstance(data, Mapping):
        is_price = isinstance(data, int | float) and not isinstance(data, bool)
        return {"price": data, "sides": ""} if is_price else data
    price = data.get("price")
    return {**data, "price": from_text(price)} if isinstance(price, str) else data


def as_time(value: Any) -> int | float | None:
    """Parse a time, given as a number, a numeric string or a date. Return None for a missing time.

    A date becomes seconds since 1970, and counts as UTC if it has no time zone.

    Raises:
        ValueError: the value is not a time, or is too large.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _NOTHING:
            return None
        try:
            value = float(text)
        except ValueError:
            value = _seconds(text)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a time must be a number, a numeric string or a date")
    if value != value:
        return None
    if abs(value) > _LATEST:
        raise ValueError("the time is too large")
    return value


def _seconds(text: str) -> float:
    try:
        date = datetime.fromisoformat(_OLD_TIME.sub(r"\1:\2:\3", text))
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time") from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
