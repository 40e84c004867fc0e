"""Generate scenarios of Bargain from advertisements: the item for sale, and the target price of each seat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from birdenv.cocoa.files import Attribute, Scenario
from birdenv.cocoa.files._values import read_list
from birdenv.cocoa.games._shared_rules import column, new_id
from birdenv.files import read_records

MOST_PRICE: Final = 1e7


class Listing(NamedTuple):
    """An advertisement from which scenarios are made.

    Attributes:
        category: the category of the item.
        title: the title.
        price: the price in dollars.
        description: the lines of the description.
        images: the names of the images; may be empty.
        post_id: the id of the advertisement; empty if it has none.
    """

    category: str
    title: str
    price: float
    description: Sequence[str]
    images: Sequence[str] = ()
    post_id: str = ""


class _ListingRecord(BaseModel):
    """An advertisement as it is written in a file."""

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
    return [Listing(**dict(each)) for each in read_list(_ListingRecord, records, str(path))]


LISTINGS: Final = (
    Listing(
        "bike",
        "Blue city bike, 7 gears, size 54",
        180,
        (
            "I rode this bike to work for two years and always kept it in the garage.",
            "New brakes last spring. The back tyre will need replacing some day.",
            "A lock and two lights come with it.",
        ),
    ),
    Listing(
        "bike",
        "Mountain bike with 29 inch wheels (2016)",
        650,
        (
            "Front suspension, disc brakes, a few scratches on the frame.",
            "I bought a lighter one and have no room for both.",
        ),
    ),
    Listing(
        "bike",
        "Children's bike with training wheels",
        45,
        (
            "Our daughter has grown out of it. Red, with a bell.",
            "The saddle has a small tear.",
        ),
    ),
    Listing(
        "car",
        "2009 hatchback, 98k miles, one owner",
        4800,
        (
            "A reliable car that has been serviced every year; the papers are complete.",
            "There is a dent in the left door. The winter tyres are in good shape.",
            "I am moving to a city where I will not need it.",
        ),
    ),
    Listing(
        "car",
        "Family van 2012 with 7 seats",
        8900,
        (
            "Plenty of room, clean, never smoked in. Air conditioning works well.",
            "The battery is new. The paint has faded a little on the roof.",
        ),
    ),
    Listing(
        "car",
        "Classic convertible from 1988",
        12500,
        (
            "Restored over three winters, with a new roof and new seats.",
            "It runs well, and only comes out on sunny days.",
            "Serious buyers may take it for a drive.",
        ),
    ),
    Listing(
        "electronics",
        "Noise cancelling headphones",
        120,
        (
            "Used for half a year, mostly on flights. Battery lasts about 20 hours.",
            "Case and cable are included.",
        ),
    ),
    Listing(
        "electronics",
        "Camera with 18-55 lens",
        340,
        (
            "Takes very good pictures, about 9000 shots so far.",
            "With a bag, two batteries and a 32 GB card.",
            "The lens cap is missing.",
        ),
    ),
    Listing(
        "electronics",
        "42 inch television",
        210,
        (
            "Full HD, three HDMI inputs, remote control.",
            "Selling it since we got a bigger one. You would have to pick it up.",
        ),
    ),
    Listing(
        "electronics",
        "Turntable with built-in preamp",
        95,
        (
            "Plays both speeds. The needle was changed last year.",
            "The cover has light scratches.",
        ),
    ),
    Listing(
        "furniture",
        "Oak dining table and 4 chairs",
        420,
        (
            "Solid wood, seats six if you squeeze in. Some marks from daily life.",
            "It can be taken apart, and I can help to carry it.",
        ),
    ),
    Listing(
        "furniture",
        "Grey sofa bed",
        260,
        (
            "Two years old, from a home without pets. Opens to a double bed.",
            "The cover can be washed.",
        ),
    ),
    Listing(
        "furniture",
        "Standing desk, electric, 140 cm",
        310,
        (
            "Goes up and down without noise and remembers three heights.",
            "The top has a coffee ring.",
        ),
    ),
    Listing(
        "furniture",
        "Bookcase, white, 5 shelves",
        60,
        (
            "Holds more books than you would think. No damage.",
            "Screws and wall mount are included.",
        ),
    ),
    Listing(
        "housing",
        "Room in a shared flat near the park",
        780,
        (
            "A bright room of 15 square metres, furnished, with a big window.",
            "Bills are included. Two quiet flatmates and a cat.",
            "The rent is by the month; available from the first.",
        ),
    ),
    Listing(
        "housing",
        "1 bedroom apartment, second floor",
        1450,
        (
            "Newly painted, with a small balcony. Washing machine in the basement.",
            "Ten minutes on foot to the station. No smoking, please.",
        ),
    ),
    Listing(
        "housing",
        "Garden studio with its own entrance",
        1100,
        (
            "A quiet place behind the main house, with a kitchen and a shower.",
            "Parking on the street. Water and internet are included.",
        ),
    ),
    Listing(
        "phone",
        "Smartphone 128 GB, unlocked, black",
        380,
        (
            "Always in a case, no scratches on the screen. Battery at 91 percent.",
            "Charger and two cases come with it.",
        ),
    ),
    Listing(
        "phone",
        "Older phone, 64 GB, cracked back",
        110,
        (
            "Everything works; the glass on the back has a crack.",
            "No contract, any network.",
        ),
    ),
    Listing(
        "phone",
        "Phone with big buttons for grandparents",
        35,
        (
            "Loud, simple, and the battery holds a week.",
            "Comes in its box with a stand for charging.",
        ),
    ),
)


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
    rounded down, and the buyer sees only the first half of the description. The prices of built-in
    advertisements are varied at random; other prices are kept.
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
