"""Generate scenarios of Bargain: the item for sale, and the target price of each seat."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from birdenv.cocoa.files import Attribute, Scenario
from birdenv.cocoa.games._scenario_tasks import column, new_id
from birdenv.cocoa.games.bargain._listings import LISTINGS, Listing

DISCOUNTS: Final[tuple[float, ...]] = (0.92, 0.76, 0.6)
"""The buyer's targets as shares of the price, as in CoCoA's files (in its paper: 0.9, 0.7, 0.5)."""

_ATTRIBUTES: Final = (
    ("Role", "role"),
    ("Bottomline", "price"),
    ("Target", "price"),
    ("Title", "text"),
    ("Category", "text"),
    ("Price", "price"),
    ("Images", "text"),
    ("Description", "text"),
)


def generate(
    number: int,
    seed: int = 0,
    discounts: tuple[float, ...] = DISCOUNTS,
    listings: Sequence[Listing] = LISTINGS,
    attributes: Sequence[Attribute] | None = None,
) -> list[Scenario]:
    """Generate scenarios from advertisements in random order, each with every discount; repeat if necessary.

    The seller's target is the price, and the buyer's target is a share of it, rounded down. The buyer sees
    the first half of the description. The prices of the built-in advertisements are varied at random; those
    of a file are kept.
    """
    rng = Random(seed)
    columns = attributes or [column(name, value_type, entity=False) for name, value_type in _ATTRIBUTES]
    made: list[Scenario] = []
    while len(made) < number:
        pairs = [(listing, discount) for listing in listings for discount in discounts]
        rng.shuffle(pairs)
        for listing, discount in pairs[: number - len(made)]:
            price = _price(listing, rng) if listings is LISTINGS else listing.price
            made.append(_scenario(listing, price, discount, columns, rng))
    return made


def _price(listing: Listing, rng: Random) -> int:
    share = rng.choice((0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3))
    return int(round(listing.price * share, -1 if listing.price >= 100 else 0))


def _scenario(
    listing: Listing, price: float, discount: float, columns: Sequence[Attribute], rng: Random
) -> Scenario:
    item = {
        "Category": listing.category,
        "Title": listing.title,
        "Price": price,
        "Images": list(listing.images),
    }
    lines = list(listing.description)
    first_half = lines[: (len(lines) + 1) // 2]
    kbs = [
        {
            "personal": {"Role": role, "Target": target, "Bottomline": None},
            "item": {**item, "Description": seen},
        }
        for role, target, seen in (
            ("buyer", int(discount * price), first_half),
            ("seller", price, lines),
        )
    ]
    return Scenario(
        uuid=new_id(rng),
        post_id=listing.post_id or str(rng.randrange(10**9, 10**10)),
        category=listing.category,
        attributes=list(columns),
        kbs=kbs,
    )
