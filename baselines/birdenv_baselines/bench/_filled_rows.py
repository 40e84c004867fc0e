"""Rows for the tables of a schema, drawn from a seed, among which gold queries find what they ask for.

Every gold has some row numbers of its own. In the rows with these numbers every column that it compares holds
the value that it is compared with, and every key holds the key of its row number; so what a gold joins meets
in its own rows, with all its literals. The other rows hold values drawn from the same ones and made-up ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import cycle, islice
from random import Random
from typing import Final, TypeAlias

from birdenv_baselines.bench._gold_literals import Demands, Value
from birdenv_baselines.bench._schemas import Field, Schema, Table

__all__ = ["LEAST_ROWS", "FilledRows"]

_Cell: TypeAlias = Value | None

LEAST_ROWS: Final = 200
"""A table has at least so many rows, and at least one for each row number of the golds."""

_MOST_VALUES: Final = 6  # of one field and gold
_EMPTY: Final = 0.03  # of the cells that are neither keys nor asked for are NULL
_DAYS: Final = 9_000  # from 1992 to 2016
_WORDS: Final = (
    "amber birch cedar delta ember fjord grove heron inlet jade knoll lagoon maple north ochre pine quartz "
    "ridge slate thorn umber vale willow yarrow zephyr"
).split()


class FilledRows:
    """The rows of each table. `rows` gives the tables' sizes, `lengths` the length of long texts by field."""

    def __init__(
        self,
        schema: Schema,
        golds: Sequence[Demands],
        rows: Mapping[str, int],
        lengths: Mapping[Field, int],
    ) -> None:
        self._schema = schema
        self._lengths = lengths
        self._planted = _planted(golds)
        numbers = max((numbers.stop for _, numbers in self._planted), default=0)
        self._rows = {
            table.name: max(rows.get(table.name, 0), LEAST_ROWS, numbers) for table in schema.tables
        }
        self._keys = _Keys(schema, [join for gold in golds for join in gold.joins], self._rows, self._planted)

    def of(self, table: Table) -> Iterator[tuple[_Cell, ...]]:
        """The rows, each with a cell for each column. Rows of a composite key may repeat it."""
        return zip(*(self._column((table.name, column)) for column in table.columns), strict=True)

    def _column(self, field: Field) -> list[_Cell]:
        random = Random(f"{self._schema.db_id}.{field[0]}.{field[1]}")
        count = self._rows[field[0]]
        keys = self._keys.of(field)
        if keys is not None and self._keys.is_unique(field):
            return list(keys[:count])
        cells: list[_Cell]
        if keys is not None:
            of_golds = self._planted[-1][1].stop if self._planted else 0
            cells = [*keys[:of_golds], *random.choices(keys, k=count - of_golds)]
        else:
            asked = [value for values, _ in self._planted for value in values.get(field, ())]
            cells = random.choices(self._pool(field, list(dict.fromkeys(asked)), random), k=count)
        for values, numbers in self._planted:
            if field in values:
                cells[numbers.start : numbers.stop] = islice(cycle(values[field]), len(numbers))
        return cells

    def _pool(self, field: Field, asked: list[Value], random: Random) -> list[_Cell]:
        """What the column's cells are drawn from, about half of it asked for by golds."""
        size = max(20, len(asked))
        length = self._lengths.get(field, 0)
        if length:
            size = 500
        made = [self._made_up(field, asked, length, random) for _ in range(size)]
        pool: list[_Cell] = [*asked, *made]
        return [*pool, *[None] * max(1, round(_EMPTY * len(pool)))]

    def _made_up(self, field: Field, asked: Sequence[Value], length: int, random: Random) -> Value:
        table, column = field
        is_number = next(each for each in self._schema.tables if each.name == table).columns[column]
        if length:
            return " ".join(random.choices(_WORDS, k=length // 6))
        if is_number:
            return _number(asked, random)
        if "date" in column.lower() or "birth" in column.lower() or any(map(_is_day, asked)):
            return (date(1992, 1, 1) + timedelta(random.randrange(_DAYS))).isoformat()
        return " ".join(random.choices(_WORDS, k=random.randrange(1, 4)))


def _planted(golds: Iterable[Demands]) -> list[tuple[dict[Field, list[Value]], range]]:
    """What each gold asks for, and the numbers of its rows: as many as it has values for one field."""
    found = []
    first = 0
    for gold in golds:
        values = {field: few[:_MOST_VALUES] for field, few in gold.values.items()}
        width = max(map(len, values.values()), default=0)
        if width:
            found.append((values, range(first, first + width)))
            first += width
    return found


def _number(asked: Sequence[Value], random: Random) -> Value:
    numbers = [value for value in asked if not isinstance(value, str)] or [100]
    near = random.choice(numbers) * random.uniform(0.3, 2.0)
    return round(near, 2) if any(isinstance(value, float) for value in numbers) else round(near)


def _is_day(value: Value) -> bool:
    return isinstance(value, str) and len(value) >= 10 and value[4:5] == value[7:8] == "-"


class _Keys:
    """Fields that golds and foreign keys equate form groups; each has one list of keys, by row number."""

    def __init__(
        self,
        schema: Schema,
        joins: Iterable[tuple[Field, Field]],
        rows: Mapping[str, int],
        planted: Sequence[tuple[Mapping[Field, Sequence[Value]], range]],
    ) -> None:
        single = {(table.name, table.key[0]) for table in schema.tables if len(table.key) == 1}
        self._unique = single | {there for _, there in schema.references}
        groups: dict[Field, frozenset[Field]] = {field: frozenset([field]) for field in self._unique}
        for here, there in (*schema.references, *joins):
            both = groups.get(here, frozenset([here])) | groups.get(there, frozenset([there]))
            groups.update(dict.fromkeys(both, both))
        self._keys: dict[Field, list[Value]] = {}
        self._referable: dict[Field, int] = {}
        for group in dict.fromkeys(groups.values()):
            unique = sorted(group & self._unique)
            if not unique:
                continue
            count = max(rows[table] for table, _ in group)
            is_number = all(_column_is_number(schema, field) for field in unique)
            keys = _numbered(unique[0], count, is_number)
            _plant(keys, group, planted, is_number)
            for field in group:
                self._keys[field] = keys
                self._referable[field] = min(rows[table] for table, _ in unique)

    def is_unique(self, field: Field) -> bool:
        return field in self._unique

    def of(self, field: Field) -> Sequence[Value] | None:
        """The keys by row number; for a field that refers, those to which it may; None for no key."""
        keys = self._keys.get(field)
        return keys if keys is None or self.is_unique(field) else keys[: self._referable[field]]


def _column_is_number(schema: Schema, field: Field) -> bool:
    return next(table for table in schema.tables if table.name == field[0]).columns[field[1]]


def _numbered(field: Field, count: int, is_number: bool) -> list[Value]:
    if is_number:
        return list(range(1, count + 1))
    return [f"{field[0][:2].upper()}{number:07d}" for number in range(1, count + 1)]


def _plant(
    keys: list[Value],
    group: Iterable[Field],
    planted: Sequence[tuple[Mapping[Field, Sequence[Value]], range]],
    is_number: bool,
) -> None:
    """Give the golds' row numbers the keys that they compare; a key with another number changes places."""
    places = {key: number for number, key in enumerate(keys)}
    taken: set[Value] = set()
    for field in sorted(group):
        for values, numbers in planted:
            for number, key in zip(numbers, values.get(field, ()), strict=False):
                if key in taken or keys[number] in taken or is_number != isinstance(key, int):
                    continue
                taken.add(key)
                if key in places:
                    other = places[key]
                    keys[other] = keys[number]
                    places[keys[other]] = other
                keys[number] = key
                places[key] = number
