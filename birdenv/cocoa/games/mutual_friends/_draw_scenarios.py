"""Generate MutualFriends scenarios: two lists with exactly one friend in common."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final, TypeAlias

import numpy as np

from birdenv.cocoa.files import Attribute, Scenario, Schema, read_schema
from birdenv.cocoa.games._shared_rules import new_id
from birdenv.errors import InputError

SCHEMA: Final = read_schema(Path(__file__).parent / "schema.json")
"""The attributes and values of generated scenarios."""

ALPHAS: Final = (0.3, 1.0, 3.0)
"""Dirichlet parameters for drawing values. Smaller ones yield fewer distinct values in a list."""

_TRIES: Final = 300
"""The number of items to draw for each place in a list before new distributions are drawn."""

_REDRAWS: Final = 60

Item: TypeAlias = dict[str, str]


def generate(
    schema: Schema,
    number: int,
    seed: int = 0,
    items: tuple[int, int] = (5, 12),
    attributes: tuple[int, int] = (3, 3),
    alphas: tuple[float, ...] = ALPHAS,
) -> list[Scenario]:
    """Generate scenarios from a schema.

    For each scenario, draw the number of items and the attributes. For each attribute, draw an alpha, and
    twice as many values as items. For each seat, draw a distribution over these values from a Dirichlet
    distribution with that alpha. Then draw items for the two seats in turn, until both lists are full and
    have one item in common (He et al. 2017). If full lists have no common item, which is likely with many
    attributes, copy an item from one list to the other.

    Args:
        schema: the attributes and their values.
        number: the number of scenarios.
        seed: the seed of all random choices.
        items: the minimum and maximum number of items in a seat's list.
        attributes: the minimum and maximum number of attributes.
        alphas: the values of alpha that the generator draws from.

    Raises:
        InputError: the schema has too few values or attributes.
    """
    rng = Random(seed)
    most = min(attributes[1], len(schema.attributes))
    if most < attributes[0]:
        raise InputError(
            f"the schema has only {most} attributes, but a scenario needs at least {attributes[0]}"
        )
    values = {each.name: schema.distinct(each.value_type) for each in schema.attributes}
    if len(values) < len(schema.attributes):
        raise InputError("the schema has two attributes with the same name")
    return [
        _scenario(schema, values, rng, rng.randint(*items), rng.randint(attributes[0], most), alphas)
        for _ in range(number)
    ]


def _scenario(
    schema: Schema,
    values: dict[str, list[str]],
    rng: Random,
    size: int,
    columns: int,
    alphas: tuple[float, ...],
) -> Scenario:
    for _ in range(_REDRAWS):  # attributes with few values cannot fill two long lists
        places = sorted(rng.sample(range(len(schema.attributes)), columns))
        chosen = [schema.attributes[place] for place in places]
        drawn = [rng.choice(alphas) for _ in chosen]
        kbs = _lists(chosen, values, drawn, rng, size)
        if kbs is not None:
            return Scenario(uuid=new_id(rng), attributes=chosen, alphas=drawn, kbs=kbs)
    raise InputError(f"the schema has too few values for lists of {size} items with {columns} attributes")


def _lists(
    chosen: list[Attribute], values: dict[str, list[str]], alphas: list[float], rng: Random, size: int
) -> list[list[Item]] | None:
    """Return two lists with exactly one item in common, or None if too many draws fail."""
    arrays = np.random.default_rng(rng.getrandbits(64))
    candidates = [rng.sample(values[c.name], min(2 * size, len(values[c.name]))) for c in chosen]
    weights = [
        [
            arrays.dirichlet([alpha] * len(of)).cumsum().tolist()
            for of, alpha in zip(candidates, alphas, strict=True)
        ]
        for _ in range(2)
    ]
    lists: list[list[Item]] = [[], []]
    match: Item | None = None
    for attempt in range(_TRIES * size):
        seat = attempt % 2
        item = {
            column.name: rng.choices(of, cum_weights=share)[0]
            for column, of, share in zip(chosen, candidates, weights[seat], strict=True)
        }
        if item in lists[seat]:
            continue
        if item in lists[1 - seat]:
            if match is not None:
                continue
            match = item
        lists[seat].append(item)
        if match is None and min(map(len, lists)) >= size:  # with many attributes, hardly ever by chance
            match = rng.choice(lists[seat])
            lists[1 - seat].append(match)
        if match is not None and min(map(len, lists)) >= size:
            return [_cut(own, match, size, rng) for own in lists]
    return None


def _cut(own: list[Item], match: Item, size: int, rng: Random) -> list[Item]:
    """Return a shuffled list of `size` items: the common item and other items of `own`."""
    kept = [match, *(item for item in own if item != match)][:size]
    rng.shuffle(kept)
    return kept
