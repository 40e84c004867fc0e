"""Odd values in CoCoA's files, made regular, and records that keep what they do not know."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from birdenv.errors import InputError
from birdenv.files import write_text

_MOST: Final = sys.float_info.max
M = TypeVar("M", bound=BaseModel)

_OLD_TIME: Final = "%Y-%m-%d %H-%M-%S"
"""How the oldest files write times; read as UTC."""


class Record(BaseModel):
    """An object of a file. Keys that are not known stay; keys that were not there are not written."""

    model_config = ConfigDict(extra="allow")

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object, with the keys that it was read or made with."""
        return self.model_dump(exclude_unset=True)


def read_list(model: type[M], records: Sequence[Mapping[str, Any]], where: str) -> list[M]:
    """Return records with their types checked.

    Raises:
        InputError: names the record and the first field at fault.
    """
    made = []
    for number, record in enumerate(records, 1):
        try:
            made.append(model.model_validate(without_nan(record)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{where}: record {number}: the field `{field}`: {first['msg']}") from None
    return made


def write_list(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records as one JSON list, as CoCoA's readers ask."""
    write_text(path, json.dumps(list(records), ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def without_nan(value: Any) -> Any:
    """Return a JSON value in which numbers that are none (NaN, infinity, beyond floats) are null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int):
        return value if abs(value) <= _MOST else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return value


def as_time(value: Any) -> int | float | None:
    """Return a time as a number: a counter, seconds, or their text; of a date the seconds since 1970 (UTC).

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in ("", "null", "none", "nan"):
            return None
        try:
            value = float(text)
        except ValueError:
            value = datetime.strptime(text, _OLD_TIME).replace(tzinfo=UTC).timestamp()
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a time is a number, or its text")
    try:
        return value if isfinite(value) else None
    except OverflowError:
        raise ValueError("a time is no number of that many digits") from None
