"""Validate values with Pydantic, and report invalid values as an `InputError` with a one-line message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from birdenv.errors import InputError, SettingError

M = TypeVar("M", bound=BaseModel)


class CheckedSettings(BaseModel):
    """Base class for frozen settings that are validated on creation.

    Raises:
        InputError: a setting is unknown or its value is invalid; the message lists the known settings or
            allowed values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    owner: ClassVar[str] = "a game"
    """Whose settings they are, for messages."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            check_names(type(self), self.owner, values)
            raise _setting_error(type(self).model_fields, error) from None


def check_names(settings: type[BaseModel], owner: str, values: Mapping[str, Any]) -> None:
    """Check that every key in `values` is the name of a setting.

    Raises:
        InputError: a key is unknown; the message names the `owner` and lists its settings.
    """
    for name in values:
        if name not in settings.model_fields:
            known = ", ".join(settings.model_fields)
            raise InputError(f"{owner} has no setting {name!r}; its settings are {known}")


def _setting_error(fields: Mapping[str, FieldInfo], error: ValidationError) -> InputError:
    first = error.errors()[0]
    why = str(first.get("ctx", {}).get("error", first["msg"]))
    if not first["loc"]:
        return InputError(why)
    name, *inside = map(str, first["loc"])
    kind = _NUMBERS.get(first["type"].partition("_")[0], "")
    given, what = first["input"], f"{kind} {_what_is_allowed(fields[name])}".strip()
    if first["type"] == "literal_error" and not inside:
        return SettingError(name, f" {given!r} is unknown; choose from {what}")
    if what and not inside:
        return SettingError(name, f" must be {what}, got {given!r}")
    return SettingError(name, f"{''.join(f'.{part}' for part in inside)}: {why}, got {given!r}")


_NUMBERS: Final = {"int": "a whole number", "float": "a number"}
"""What Pydantic expected, by the beginning of the error's type."""


def _what_is_allowed(field: FieldInfo) -> str:
    """Return the choices or bounds of a setting in words, or an empty string if it has neither."""
    if get_origin(field.annotation) is Literal:
        return ", ".join(map(str, get_args(field.annotation)))
    return bounds_in_words(field)


def bounds_in_words(field: FieldInfo) -> str:
    """Describe the bounds of a numeric field, such as "from 0 to 100"; return "" if there are none."""
    bounds = {
        name: value
        for each in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if (value := getattr(each, name, None)) is not None
    }
    most = bounds.get("le", bounds["lt"] - 1 if "lt" in bounds else None)
    if "ge" in bounds:
        return f"at least {bounds['ge']}" if most is None else f"from {bounds['ge']} to {most}"
    return f"more than {bounds['gt']}" if "gt" in bounds else ""


def read_as(model: type[M], record: Any, where: object) -> M:
    """Validate a record from a file and return it as an instance of `model`.

    Raises:
        InputError: a field is missing or invalid; the message begins with `where` and names the first such
            field.
    """
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "[key]")
    if first["type"] == "extra_forbidden":
        names = f"; the fields are {', '.join(model.model_fields)}" if len(first["loc"]) == 1 else ""
        raise InputError(f"{where}: {place}: there is no such field{names}")
    why = str(first.get("ctx", {}).get("error", first["msg"]))
    if first["type"].endswith("_parsing"):
        why += f", got {first['input']!r:.60}"
    raise InputError(f"{where}: {place}: {why}" if place else f"{where}: {why}")
