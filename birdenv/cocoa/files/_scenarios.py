"""Read and write schemas (the attributes of a game's items) and scenarios (the knowledge of two seats)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from birdenv.cocoa.files._values import FileObject, read_list, write_list
from birdenv.errors import InputError
from birdenv.files import read_json, read_records


class Attribute(FileObject):
    """A column in an item table.

    Attributes:
        name: the name that people see.
        value_type: the type of the values, which is a key of `Schema.values`.
        unique: True if the file declares that values do not repeat; this is not checked.
        multivalued: True if the file declares that an item may have several values; this is not checked.
        entity: True if the values can be recognised in messages.
    """

    name: str
    value_type: str
    unique: bool = False
    multivalued: bool = False
    entity: bool = True


class Schema(FileObject):
    """The attributes of a game's items, and their possible values.

    Attributes:
        values: the possible values of each type; a file may repeat values.
        attributes: the attributes, in the order of the columns.
    """

    values: dict[str, list[str]] = Field(default_factory=dict)
    attributes: list[Attribute]

    def distinct(self, value_type: str) -> list[str]:
        """Return the distinct values of a type, in order. Values that differ only in case count as equal.

        Raises:
            InputError: the schema has no values of the type.
        """
        values = self.values.get(value_type)
        if not values:
            raise InputError(f"the schema has no values for the type {value_type!r}")
        return list({value.casefold(): value for value in reversed(values)}.values())[::-1]


class Scenario(FileObject):
    """The scenario of a dialogue, which includes the private knowledge of both seats.

    Attributes:
        uuid: the scenario's id.
        attributes: the columns of this scenario: all or some columns of the schema, in any order.
        kbs: the knowledge of each seat: a list of items, or an object with a personal and a shared half.
    """

    uuid: str
    attributes: list[Attribute] = Field(default_factory=list)
    kbs: list[Any] = Field(min_length=2, max_length=2)

    def public(self) -> dict[str, Any]:
        """Return all fields that both seats may know, that is, all except `kbs` and `alphas`."""
        return {name: value for name, value in self.to_json().items() if name not in ("kbs", "alphas")}


def game_of_knowledge(kbs: Sequence[Any]) -> str:
    """Infer the name of a CoCoA game from the knowledge of the two seats; empty if unknown."""
    first = kbs[0] if kbs else None
    if isinstance(first, Mapping) and "personal" in first:
        return "bargain"
    if isinstance(first, list) and first and all(isinstance(item, Mapping) for item in first):
        return "deal-or-no-deal" if {"Count", "Value"} <= first[0].keys() else "mutual-friends"
    return ""


def as_scenario(description: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the public description of any game's task to a scenario that CoCoA can read.

    If a description has no `kbs`, the whole description becomes the knowledge of the first seat, and the
    second seat knows nothing.
    """
    if "kbs" in description:
        return dict(description)
    known = {name: value for name, value in description.items() if name != "uuid"}
    columns = [Attribute(name=name, value_type="text", entity=False) for name in known]
    return {
        **description,
        "attributes": [column.model_dump() for column in columns],
        "kbs": [known, {}],
    }


def read_schema(path: Path) -> Schema:
    """Read a schema from a JSON file.

    Raises:
        InputError: the file cannot be read or is not a schema.
    """
    found = read_json(path)
    if not isinstance(found, Mapping):
        raise InputError(f"{path}: a schema must be a JSON object with `values` and `attributes`")
    return read_list(Schema, [found], str(path))[0]


def read_scenarios(path: Path, schema: Schema | None = None) -> list[Scenario]:
    """Read the scenarios in a file. A scenario without attributes gets the attributes of the schema.

    Raises:
        InputError: the file cannot be read, a scenario is invalid, or two scenarios have the same id.
    """
    scenarios = read_list(Scenario, read_records(path, "scenarios"), str(path))
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.uuid in seen:
            raise InputError(f"{path}: two scenarios have the id {scenario.uuid!r}")
        seen.add(scenario.uuid)
        if not scenario.attributes and schema is not None:
            scenario.attributes = list(schema.attributes)
    return scenarios


def write_scenarios(path: Path, scenarios: Iterable[Scenario | Mapping[str, Any]]) -> None:
    """Write scenarios to a file that CoCoA reads. Keys that CoCoA does not know are kept."""
    write_list(path, [each.to_json() if isinstance(each, Scenario) else dict(each) for each in scenarios])
