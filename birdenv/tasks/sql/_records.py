"""Records in task files, and lists of defective tasks.

A record can have a field `by_dialect` with values for one SQL dialect, such as `{"postgres": {"sol_sql":
[...], "follow_up": {...}}}`. These values replace the general values in the record; objects are merged field
by field. birdenv's demo uses this field, whereas the public benchmarks have a separate file for each database
engine.

The gold SQL of some tasks is broken: it no longer runs, reads the clock, or fails the task's own test cases.
A list of defective tasks is a JSONL file with the fields `instance_id` and `reasons` on each line. Lists can
be shared, because they contain no gold SQL. `birdenv data verify` and `birdenv self-check` write them, and
the setting `leave_out` reads them.
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
    """Return a record with its general values replaced by the values for one SQL dialect.

    Args:
        record: the record as read from the file.
        dialect: the dialect, such as `postgres`.
        where: the position of the record, for error messages.

    Raises:
        InputError: `by_dialect` is not an object with an object for each dialect.

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
    """Join SQL statements into one script. Each semicolon has a separate line, so no comment hides it.

    >>> as_script(["DELETE FROM a; ", "SELECT 1 -- one"])
    'DELETE FROM a\\n;\\nSELECT 1 -- one'
    """
    return "\n;\n".join(statement.strip().rstrip(";") for statement in statements)


Defects = Mapping[str, Sequence[str]]
"""Defective tasks: for each instance id, the reasons why the task is defective."""


def write_defects(path: Path, defects: Defects) -> None:
    """Write a list of defective tasks as JSONL."""
    write_records(path, [{"instance_id": name, "reasons": list(why)} for name, why in defects.items()])


def read_defects(path: Path) -> Defects:
    """Read a list of defective tasks, and return the reasons (possibly none) for each instance id.

    Raises:
        InputError: the file cannot be read, or a record has no instance id or its reasons are not strings.
    """
    found: dict[str, Sequence[str]] = {}
    if not read_text(path).strip():
        return found  # a list without defects is an empty file
    for number, record in enumerate(read_records(path, "defects"), 1):
        name, reasons = record.get("instance_id"), record.get("reasons", [])
        if not isinstance(name, str):
            raise InputError(f"{path}: record {number}: the field `instance_id` must be text")
        if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
            raise InputError(
                f"{path}: record {number} ({name}): the field `reasons` must be a list of strings"
            )
        found[name] = reasons
    return found


Filled = Annotated[str, StringConstraints(pattern=r"\S")]
"""The type of a text field that must not be blank."""

M = TypeVar("M", bound=BaseModel)


def parsed(model: type[M], record: Mapping[str, Any], where: str) -> M:
    """Validate a record, and return it as an instance of the class `model`.

    Args:
        model: the class, with the fields of the record.
        record: the record as read from the file.
        where: the position of the record, for error messages.

    Raises:
        InputError: a field is missing or invalid; the message names the position and the first such field.
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
"""The expected kinds of values in words, by the type of the pydantic error."""


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
