"""Describe the concepts in a database, and draw random families of tasks about them.

A family consists of a request, its candidate SQL statements, and its tasks. The tasks of a family differ only
in what the user means by the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from birdenv.checks import read_as
from birdenv.files import parse_json, read_text

_CONTENT: Final = Path(__file__).parent / "concepts"


class _Concept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Quantity(_Concept):
    """A numeric, date or text property of an entity, which queries can show and compare.

    Attributes:
        sql: an SQL expression for the property, which uses the alias of the entity.
        name: the property in words.
    """

    sql: str
    name: str


class ThresholdMeaning(_Concept):
    """One meaning of a vague adjective: a quantity above (`>`) or below (`<`) a threshold."""

    quantity: str
    operator: str = Field(pattern="^[<>]$")


def _pair(value: Any) -> Any:
    """Return the fields of a quantity that is written as `[sql, name]` in JSON."""
    return {"sql": value[0], "name": value[1]} if isinstance(value, list) and len(value) == 2 else value


def _compared(value: Any) -> Any:
    """Return the fields of a threshold meaning that is written as `"price >"` in JSON."""
    if not isinstance(value, str):
        return value
    quantity, _, operator = value.rpartition(" ")
    return {"quantity": quantity, "operator": operator}


class Entity(_Concept):
    """A table, with the words that people use for its rows and properties. Some of these words are vague.

    Attributes:
        plural: the plural noun for the rows, such as "books".
        table: the name of the table.
        alias: the alias of the table in all SQL expressions.
        show: the columns that identify a row, each with a description in words.
        quantities: the quantities that queries can show and compare, keyed by a short name.
        traits: vague adjectives, each with two or three meanings.
        measures: vague nouns, each with the keys of the two or three quantities that the noun can mean.
        fixed: adjectives with a single meaning, each with its SQL condition; None if the adjective does not
            restrict the rows.
        groups: columns by which follow-ups can group rows, keyed by the description of the column.
        changes: requests to change rows, such as "mark the ... as worn", each with its SET clause.
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
            raise ValueError(
                f"{self.plural} needs the fields show, traits and measures, and at least two groups"
            )
        return self

    def _check(self, word: str, names: Any) -> None:
        for name in names:
            if name not in self.quantities:
                raise ValueError(f"{word}: there is no quantity {name!r}")
        if not 2 <= len(names) <= 3:
            raise ValueError(f"{word} needs two or three meanings")


class Concepts(_Concept):
    """The entities in one database, used to generate tasks."""

    database: str
    entities: tuple[Entity, ...] = Field(min_length=1)


def demo_concepts() -> tuple[Concepts, ...]:
    """Return the concepts in the demo benchmark's databases."""
    return tuple(read_concepts(path) for path in sorted(_CONTENT.glob("*.json")))


def read_concepts(path: Path) -> Concepts:
    """Read one database's concepts from a JSON file.

    Raises:
        InputError: the file cannot be read, or a field is not valid.
    """
    return read_as(Concepts, parse_json(read_text(path), str(path)), path)


Values = Mapping[str, Sequence[Any]]
"""The sorted values of an entity's quantities in the database, by key, without NULLs."""

MOST_CANDIDATES: Final = 12
"""The maximum number of candidates of a family."""
_MIDDLE: Final = (0.3, 0.7)  # thresholds lie between these quantiles of a quantity's values


@dataclass(frozen=True, slots=True)
class Meaning:
    """A meaning of a vague word, as SQL and in unambiguous words."""

    sql: str
    words: str


@dataclass(frozen=True, slots=True)
class VaguePart:
    """A vague word in a request, with its possible meanings.

    Attributes:
        word: the vague word.
        is_trait: True for an adjective that restricts the rows, False for a noun that names a value to show.
        meanings: the possible meanings.
        said: the index of the meaning that the request states explicitly; None if the request leaves the
            meaning open.
    """

    word: str
    is_trait: bool
    meanings: tuple[Meaning, ...]
    said: int | None

    @property
    def is_open(self) -> bool:
        """Return True if the request does not say which meaning the word has."""
        return self.said is None


@dataclass(frozen=True, slots=True)
class Family:
    """A request about an entity, and its possible meanings.

    A combination is a choice of a meaning for each vague part, represented by the indexes of the meanings.

    Attributes:
        database: the id of the database.
        entity: the entity that the request is about.
        points: the vague parts of the request: first the traits, then the measure if the request has one.
        fixed: an adjective with a single meaning, and its SQL condition; None if the request has none.
        change: for a Management family, the wording of the change and its SET clause; None for a Query
            family.
    """

    database: str
    entity: Entity
    points: tuple[VaguePart, ...]
    fixed: tuple[str, str | None] | None
    change: tuple[str, str] | None

    @property
    def combinations(self) -> list[tuple[int, ...]]:
        """Return all combinations of meanings, one for each candidate."""
        return list(product(*(range(len(point.meanings)) for point in self.points)))

    @property
    def meant(self) -> list[tuple[int, ...]]:
        """Return the combinations that the user can mean, one for each task."""
        return list(product(*(range(len(p.meanings)) if p.said is None else (p.said,) for p in self.points)))

    def conditions(self, combination: Sequence[int]) -> str:
        """Return the SQL condition that selects the rows for a combination, excluding the keyword WHERE."""
        found = [self.fixed[1]] if self.fixed and self.fixed[1] else []
        found += [p.meanings[k].sql for p, k in zip(self.points, combination, strict=True) if p.is_trait]
        return " AND ".join(found)

    def sql(self, combination: Sequence[int]) -> str:
        """Return the SQL statement that is correct if the user means this combination."""
        entity = self.entity
        if self.change is not None:
            return (
                f"UPDATE {entity.table} AS {entity.alias} SET {self.change[1]} "
                f"WHERE {self.conditions(combination)}"
            )
        return f"SELECT {self.columns(combination)} FROM {self.rows(combination)}"

    def columns(self, combination: Sequence[int]) -> str:
        """Return the columns in the query for a combination, separated by commas."""
        shown = [f"{self.entity.alias}.{column}" for column in self.entity.show]
        shown += [p.meanings[k].sql for p, k in zip(self.points, combination, strict=True) if not p.is_trait]
        return ", ".join(shown)

    def rows(self, combination: Sequence[int]) -> str:
        """Return the FROM and WHERE clauses for a combination, excluding the keyword FROM."""
        return f"{self.entity.table} {self.entity.alias} WHERE {self.conditions(combination)}"


def draw_family(
    database: str, entity: Entity, values: Values, opened: int, management: bool, rng: Random
) -> Family | None:
    """Draw a random family. Return None if the randomly chosen parts do not fit together.

    Args:
        database: the id of the database.
        entity: the entity that the request is about.
        values: the values of the entity's quantities.
        opened: the number of vague parts that the request leaves ambiguous, from 0 to 3.
        management: True for a request that changes rows (a Management task).
        rng: the random generator.
    """
    with_measure = not management and (opened == 3 or rng.random() < 0.75)
    traits = 2 if management or opened == 3 or not with_measure else rng.choice((1, 2, 2))
    if opened > traits + with_measure:
        return None
    words = rng.sample(sorted(entity.traits), traits)
    about = [meaning.quantity for word in words for meaning in entity.traits[word]]
    points = [_trait(entity, word, values, rng) for word in words]
    if with_measure:
        measure = rng.choice(sorted(entity.measures))
        about += entity.measures[measure]
        points.append(_measure(entity, measure))
    if len(set(about)) < len(about):  # an answer about one point would also seem to be about another
        return None
    drawn = [point for point in points if point is not None]
    if len(drawn) < len(points) or not drawn:
        return None
    drawn = _cut(drawn, rng)
    left_open = set(rng.sample(range(len(drawn)), opened))
    said = tuple(
        VaguePart(
            point.word,
            point.is_trait,
            point.meanings,
            None if place in left_open else rng.randrange(len(point.meanings)),
        )
        for place, point in enumerate(drawn)
    )
    fixed = None
    if entity.fixed and rng.random() < 0.5:
        word = rng.choice(sorted(entity.fixed))
        fixed = (word, entity.fixed[word])
    change = None
    if management:
        if not entity.changes:
            return None
        word = rng.choice(sorted(entity.changes))
        change = (word, entity.changes[word])
    return Family(database, entity, said, fixed, change)


def literal(value: Any) -> str:
    """Return the SQL literal for a value."""
    return f"'{value}'" if isinstance(value, str) else str(value)


def _trait(entity: Entity, word: str, values: Values, rng: Random) -> VaguePart | None:
    meanings = []
    for comparison in entity.traits[word]:
        known = values[comparison.quantity]
        threshold = middle_value(known, rng)
        if threshold is None:
            return None
        quantity = entity.quantities[comparison.quantity]
        direction = "above" if comparison.operator == ">" else "below"
        meanings.append(
            Meaning(
                f"{quantity.sql} {comparison.operator} {literal(threshold)}",
                f"a {quantity.name} {direction} {threshold}",
            )
        )
    return VaguePart(word, True, tuple(meanings), None)


def _measure(entity: Entity, word: str) -> VaguePart:
    meant = [entity.quantities[name] for name in entity.measures[word]]
    return VaguePart(word, False, tuple(Meaning(q.sql, q.name) for q in meant), None)


def middle_value(known: Sequence[Any], rng: Random) -> Any:
    """Draw a known value that is neither the minimum nor the maximum; return None if there is none."""
    low, high = (known[int(share * (len(known) - 1))] for share in _MIDDLE) if known else (0, 0)
    middle = (
        sorted({value for value in known if low <= value <= high} - {known[0], known[-1]}) if known else []
    )
    return rng.choice(middle) if middle else None


def _cut(points: list[VaguePart], rng: Random) -> list[VaguePart]:
    """Drop meanings until there are at most `MOST_CANDIDATES` candidates."""
    while True:
        size = 1
        for point in points:
            size *= len(point.meanings)
        if size <= MOST_CANDIDATES:
            return points
        place = rng.choice([i for i, point in enumerate(points) if len(point.meanings) > 2])
        kept = sorted(rng.sample(range(len(points[place].meanings)), 2))
        point = points[place]
        points[place] = VaguePart(point.word, point.is_trait, tuple(point.meanings[k] for k in kept), None)
