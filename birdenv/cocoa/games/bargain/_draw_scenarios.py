"""Generate Bargain scenarios from advertisements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from birdenv.cocoa.files import Attribute, Scenario
from birdenv.cocoa.files._values import read_list
from birdenv.cocoa.games._shared_rules import column, new_id
from birdenv.files import read_records

MOST_PRICE: Final = 1e7


class Listing(BaseModel):
    """An advertisement that scenarios are generated from.

    Attributes:
        category: the category of the item.
        title: the title.
        price: the price in dollars.
        description: the lines of the description; a file can give them as one string.
        images: the names of the images; may be empty.
        post_id: the id of the advertisement; empty if it has none.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)

    category: str = "other"
    title: str = Field(min_length=1)
    price: int | float = Field(gt=0, le=MOST_PRICE)
    description: list[str] = Field(min_length=1)
    images: list[str] = Field(default_factory=list)
    post_id: str = ""

    @field_validator("description", mode="before")
    @classmethod
    def _lines(cls, value: Any) -> Any:
        return [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value


def read_listings(path: Path) -> list[Listing]:
    """Read advertisements from a file.

    An advertisement has a `title`, a `price` and a `description` (a string or a list of lines), and may have
    a `category`, `images` and a `post_id`. Field names may begin with a capital letter, as in scenarios.

    Raises:
        InputError: the file cannot be read, or an advertisement cannot be used.
    """
    records = [
        {name.lower(): value for name, value in each.items()} for each in read_records(path, "listings")
    ]
    return read_list(Listing, records, str(path))


LISTINGS: Final = tuple(read_listings(Path(__file__).with_name("listings.json")))

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
    """Generate scenarios, each from an advertisement and a discount.

    All pairs of an advertisement and a discount are used, in random order, before a pair is repeated. The
    seller's target is the advertised price. The buyer's target is the advertised price times the discount,
    rounded down, and the buyer sees only the first half of the description. The prices in built-in
    advertisements are varied at random; other prices are kept.

    Args:
        number: the number of scenarios.
        seed: the seed of all random choices.
        discounts: the ratios of the buyer's target to the advertised price.
        listings: the advertisements.
        attributes: the attributes in each scenario; None for the standard attributes.
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
