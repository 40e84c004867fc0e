"""Generate MutualFriends scenarios: two lists with exactly one friend in common."""

from __future__ import annotations

from random import Random
from typing import Final, TypeAlias

import numpy as np

from birdenv.cocoa.files import Attribute, Scenario, Schema
from birdenv.cocoa.games._shared_rules import column, new_id
from birdenv.errors import InputError

_NAMES = (
    "Adrian, Beatrice, Camille, Dmitri, Elena, Farid, Greta, Hassan, Ingrid, Jonas, Keiko, Lars, "
    "Marta, Nadia, Olga, Pedro, Quentin, Rosa, Samir, Tessa, Umar, Vera, Wanda, Xenia, Yusuf, Zoe, "
    "Anton, Bruno, Clara, Diego, Esther, Felix"
)
_SCHOOLS = (
    "Arizona State University, Boston College, Brown University, Carleton College, Clark University,"
    " Colorado State University, Cornell University, Duke University, Emory University, Florida "
    "State University, Georgia State University, Harvard University, Indiana State University, Lake "
    "Forest College, Michigan State University, New York University, Northern Arizona University, "
    "Ohio University, Oregon State University, Princeton University, Purdue University, Rice "
    "University, Rutgers University, Smith College, Stanford University, Trinity College, Tulane "
    "University, University of Chicago, University of Florida, University of Michigan, University of"
    " Pennsylvania, Yale University"
)
_MAJORS = (
    "Accounting, Agricultural Sciences, Anthropology, Architecture, Art History, Biochemistry, "
    "Biology, Business Management, Chemistry, Civil Engineering, Computer Science, Creative Writing,"
    " Dance, Economics, Electrical Engineering, French, Geography, Geology, History, Journalism, "
    "Linguistics, Marketing, Mathematics, Mechanical Engineering, Music, Nursing, Philosophy, "
    "Physics, Political Science, Psychology, Sociology, Statistics"
)
_COMPANIES = (
    "Adidas, Adobe, Airbus, Apple, Bayer, Best Buy, Boeing, Canon, Cisco, Dell, Disney, Dropbox, "
    "eBay, Electronic Arts, Ford, General Electric, Google, Honda, IBM, Ikea, Intel, Kraft Foods, "
    "Lego, Microsoft, Nike, Nintendo, Nokia, Oracle, Siemens, Sony, Toyota, Uber, Whole Foods"
)
_HOBBIES = (
    "Archery, Astronomy, Baking, Beekeeping, Bird watching, Board games, Camping, Cooking, Dance, "
    "Drawing, Fishing, Gardening, Hiking, Ice skating, Juggling, Kayaking, Knitting, Listening to "
    "music, Mountain biking, Painting, Photography, Playing cards, Pottery, Reading, Rock climbing, "
    "Sailing, Skiing, Soccer, Surfing, Table tennis, Watching movies, Yoga"
)
_VALUES: Final = {
    "name": _NAMES,
    "school": _SCHOOLS,
    "major": _MAJORS,
    "company": _COMPANIES,
    "hobby": _HOBBIES,
    "time_pref": "Morning, Afternoon, Evening",
    "loc_pref": "Indoor, Outdoor",
}

SCHEMA: Final = Schema(
    values={value_type: values.split(", ") for value_type, values in _VALUES.items()},
    attributes=[
        column("Name", "name"),
        column("School", "school"),
        column("Major", "major"),
        column("Company", "company"),
        column("Hobby", "hobby"),
        column("Time Preference", "time_pref"),
        column("Location Preference", "loc_pref"),
    ],
)


ALPHAS: Final = (0.3, 1.0, 3.0)
"""Concentrations of the distributions of values: the smaller, the fewer different values are in a list."""

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
        raise InputError(f"the schema has {most} attributes, fewer than {attributes[0]}")
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
    raise InputError(f"the schema has too few values for two lists of {size} items of {columns} attributes")


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
