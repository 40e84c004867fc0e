"""Records of task files: their validation, their variants for other engines, and lists of defective ones.

A record may have a field `by_dialect` with other values for a dialect, such as `{"postgres": {"sol_sql":
[...], "follow_up": {...}}}`. These values replace those of the record; objects are merged field by field.
This is an addition of birdenv for the demo; the public benchmarks have a file for each engine.

Golds break with time: some do not run any more, some read the clock, some fail their own test cases. A list
of such tasks is JSONL with an `instance_id` and `reasons` on each line. It contains no gold, so people can
share it. `birdenv data verify` and `birdenv self-check` write such a list; the setting `leave_out` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from birdenv.errors import InputError
from birdenv.files import read_records, read_text, write_records

_FIELD: Final = "by_dialect"


def in_dialect(record: Mapping[str, Any], dialect: str, where: str) -> dict[str, Any]:
    """Return a record in which the values for a dialect replace the general ones.

    Args:
        record: the record.
        dialect: the dialect, such as `postgres`.
        where: the place of the record, for messages.

    Raises:
        InputError: `by_dialect` is not an object of objects.

    >>> in_dialect({"SQL": "SELECT 1", "by_dialect": {"postgres": {"SQL": "SELECT 2"}}}, "postgres", "here")
    {'SQL': 'SELECT 2'}
    """
    plain = {key: value for key, value in record.items() if key != _FIELD}
    variants = record.get(_FIELD) or {}
    if not isinstance(variants, dict) or not all(isinstance(each, dict) for each in variants.values()):
        raise InputError(f"{where}: the field `{_FIELD}` must be an object with an object for each dialect")
    return _merged(plain, variants.get(dialect, {}))


def _merged(record: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(record)
    for key, value in changes.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = _merged(before, value) if both and before is not None else value
    return merged


def as_script(statements: Iterable[str]) -> str:
    """Join statements into one submission. Separators are on lines of their own, after any comment.

    >>> as_script(["DELETE FROM a; ", "SELECT 1 -- one"])
    'DELETE FROM a\\n;\\nSELECT 1 -- one'
    """
    return "\n;\n".join(statement.strip().rstrip(";") for statement in statements)


Defects = Mapping[str, Sequence[str]]
"""The reasons why tasks are defective, by instance id."""


def write_defects(path: Path, defects: Defects) -> None:
    """Write a list of defective tasks."""
    write_records(path, [{"instance_id": name, "reasons": list(why)} for name, why in defects.items()])


def read_defects(path: Path) -> Defects:
    """Read a list of defective tasks, and return the reasons (if the list has any) by task.

    Raises:
        InputError: the file cannot be read, or a record names no task.
    """
    found: dict[str, Sequence[str]] = {}
    if not read_text(path).strip():
        return found  # nothing was found wrong
    for number, record in enumerate(read_records(path, "defects"), 1):
        name, reasons = record.get("instance_id"), record.get("reasons", [])
        if not isinstance(name, str):
            raise InputError(f"{path}: record {number}: the field `instance_id` must be text")
        if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
            raise InputError(f"{path}: record {number} ({name}): the field `reasons` must be a list of texts")
        found[name] = reasons
    return found


Filled = Annotated[str, StringConstraints(pattern=r"\S")]
"""Text that is not blank."""

M = TypeVar("M", bound=BaseModel)


def parsed(model: type[M], record: Mapping[str, Any], where: str) -> M:
    """Validate a record, and return it as an object of the class `model`.

    Raises:
        InputError: a field is missing or wrong; the message names `where` and the first such field.
    """
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: the field `{field}` {_fault(first)}") from None


_EXPECTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a JSON object",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_type": "a whole number",
    "finite_number": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "a JSON object",
    "model_type": "a JSON object",
    "string_type": "text",
    "tuple_type": "a list",
}
"""The expected values in words, by the type of a pydantic error."""


def _fault(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        return "is empty"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    expected = error["ctx"]["expected"] if kind == "literal_error" else _EXPECTED.get(kind)
    return f"must be {expected}" if expected else f"cannot be used: {error['msg']}"
