"""Records of task files, checked against the documented model of a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from birdenv.errors import InputError

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
