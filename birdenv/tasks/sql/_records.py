"""Records of task files: checked against a game's model, on another engine, and known to be defective.

A record's `by_dialect` holds fields by dialect: `{"postgres": {"sol_sql": [...], "follow_up": {...}}}`. They
take the place of the record's own, objects field by field. This is birdenv's own addition, for the demo; the
public benchmarks have a file for each engine.

Golds rot: one does not run any more, one reads the clock, one fails its own test cases. A list of such tasks
is JSONL with an `instance_id` and `reasons` on each line, so that people can share it; no gold is in it.
`birdenv data verify` and `birdenv self-check` write such a list, and the setting `leave_out` reads it.
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
    """Return the record as it is on that engine. Raises `InputError` naming `where` if `by_dialect` is no
    object.

    >>> in_dialect({"SQL": "SELECT 1", "by_dialect": {"postgres": {"SQL": "SELECT 2"}}}, "postgres", "here")
    {'SQL': 'SELECT 2'}
    """
    plain = {key: value for key, value in record.items() if key != _FIELD}
    variants = record.get(_FIELD) or {}
    if not isinstance(variants, dict) or not all(isinstance(each, dict) for each in variants.values()):
        raise InputError(f"{where}: the field `{_FIELD}` must be an object that holds one for each dialect")
    return _merged(plain, variants.get(dialect, {}))


def _merged(record: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(record)
    for key, value in changes.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = _merged(before, value) if both and before is not None else value
    return merged


def as_script(statements: Iterable[str]) -> str:
    """Return the statements in one submission. The separator stands on a line of its own, behind any comment.

    >>> as_script(["DELETE FROM a; ", "SELECT 1 -- one"])
    'DELETE FROM a\\n;\\nSELECT 1 -- one'
    """
    return "\n;\n".join(statement.strip().rstrip(";") for statement in statements)


Defects = Mapping[str, Sequence[str]]
"""The reasons by instance id."""


def write_defects(path: Path, defects: Defects) -> None:
    """Write a list of defective tasks."""
    write_records(path, [{"instance_id": name, "reasons": list(why)} for name, why in defects.items()])


def read_defects(path: Path) -> Defects:
    """Return the tasks of a list of known defects, with their reasons if it has any.

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
    """Return the record with types checked.

    Raises:
        InputError: names `where` and the first field at fault.
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
"""What the types of pydantic's errors ask for, in words."""


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
