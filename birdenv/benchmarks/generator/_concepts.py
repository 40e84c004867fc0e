"""The description of a database's concepts, from which families of tasks are made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from birdenv.errors import InputError
from birdenv.files import parse_json, read_text

_CONTENT: Final = Path(__file__).parent / "concepts"


class _Concept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Quantity(_Concept):
    """A number, date or text of an entity that can be shown and compared.

    Attributes:
        sql: an expression over the entity's alias.
        name: its name in words.
    """

    sql: str
    name: str


class ThresholdMeaning(_Concept):
    """One meaning of a trait: a quantity is above (`>`) or below (`<`) a value."""

    quantity: str
    operator: str = Field(pattern="^[<>]$")


def _pair(value: Any) -> Any:
    """`[sql, name]` as a quantity."""
    return {"sql": value[0], "name": value[1]} if isinstance(value, list) and len(value) == 2 else value


def _compared(value: Any) -> Any:
    """`"price >"` as a comparison."""
    if not isinstance(value, str):
        return value
    quantity, _, operator = value.rpartition(" ")
    return {"quantity": quantity, "operator": operator}


class Entity(_Concept):
    """A table, and the vague words that people use of its rows.

    Attributes:
        plural: what its rows are called.
        table: the table.
        alias: its alias in all expressions.
        show: columns that identify a row, with their names in words.
        quantities: what can be shown and compared, by key.
        traits: vague adjectives, each with two or three meanings.
        measures: vague nouns, each with two or three quantities that it may mean.
        fixed: adjectives with one meaning, a condition; or null for words that restrict nothing.
        groups: columns to group by in follow-ups, by their names in words.
        changes: what can be done to rows ("mark the ... as worn"), with the SET clause.
    """

    plural: str
    table: str
    alias: str
    show: Mapping[str, str]
    quantities: Mapping[str, Annotated[Quantity, BeforeValidator(_pair)]]
    traits: Mapping[str, tuple[Annotated[ThresholdMeaning, BeforeValidator(_compared)], ...]]
    measures: Mapping[str, tuple[str, ...]]
    fixed: Mapping[str, str | None] = Field(default_factory=dict)
    groups: Mapping[str, str]
    changes: Mapping[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _all_quantities_are_known(self) -> Entity:
        for word, meanings in self.traits.items():
            self._check(word, [meaning.quantity for meaning in meanings])
        for word, names in self.measures.items():
            self._check(word, names)
        if not self.show or not self.traits or not self.measures or len(self.groups) < 2:
            raise ValueError(f"{self.plural} needs show, traits, measures, and two groups or more")
        return self

    def _check(self, word: str, names: Any) -> None:
        for name in names:
            if name not in self.quantities:
                raise ValueError(f"{word}: there is no quantity {name!r}")
        if not 2 <= len(names) <= 3:
            raise ValueError(f"{word} needs two or three meanings")


class Concepts(_Concept):
    """The concepts of one database."""

    database: str
    entities: tuple[Entity, ...] = Field(min_length=1)


def demo_concepts() -> tuple[Concepts, ...]:
    """Return the concepts of the demo's databases."""
    return tuple(read_concepts(path) for path in sorted(_CONTENT.glob("*.json")))


def read_concepts(path: Path) -> Concepts:
    """Return the concepts in a file.

    Raises:
        InputError: the file cannot be read, or a field of it cannot be used.
    """
    try:
        return Concepts.model_validate(parse_json(read_text(path), str(path)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {place}: {first['msg']}") from None
