"""Replace names, values and prices in messages with slots such as `{Company}`, and fill these slots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final, NamedTuple

_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_PRICE: Final = re.compile(r"(?<![\w.,{])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w{])")
_LEAST, _MOST = 0.2, 1.7
"""A number between these shares of the advertised price counts as a price."""
_SAME: Final = 0.01
_UNREAD: Final = ("Role", "Category", "Description", "Images")


class PriceWords(NamedTuple):
    """The most recent prices named in a dialogue.

    Attributes:
        own: the last price that the seat named; None if the seat has not named a price.
        theirs: the last price that the partner named; None if the partner has not named a price.
    """

    own: float | None = None
    theirs: float | None = None


NO_PRICES: Final = PriceWords()


class Lexicon:
    """Replaces names, values and prices that a seat knows with slots, and fills slots with values.

    If the seats divide things, `{thing 1}` is the thing that is most valuable to the seat.

    Args:
        kb: the seat's knowledge, as JSON data.

    Attributes:
        values: the known values of each attribute, keyed by attribute name.
    """

    def __init__(self, kb: Any) -> None:
        self.values: dict[str, list[str]] = {}
        for name, value in leaves(kb):
            self.values.setdefault(name, []).append(value)
        self._names = {value.lower(): name for name, values in self.values.items() for value in values}
        longest = sorted(self._names, key=lambda value: (-len(value), value))
        joined = "|".join(map(re.escape, longest))
        self._pattern = re.compile(rf"(?<!\w)(?:{joined})(?=s?(?!\w))", re.IGNORECASE) if joined else None
        self._listed = _number_at(kb, "item", "Price")
        self._target = _number_at(kb, "personal", "Target") or self._listed

    def take_out(self, text: str, prices: PriceWords = NO_PRICES) -> str:
        """Replace all known values and all prices in text with slots.

        A value becomes the name of its attribute, such as `{Company}`. A price becomes `{own}` or `{theirs}`
        if it is close to the last price that the seat or the partner named. A price between these two prices
        becomes, for example, `{~0.40}`, which is 40% of the way from the seat's price to the partner's price.
        Any other price becomes a fraction of the seat's target price, such as `{$0.85}`.
        """
        if self._pattern is not None:
            text = self._pattern.sub(self._named, text)
        if not self._listed:
            return text
        return _PRICE.sub(lambda found: self._slot(_number(found), prices) or found.group(), text)

    def _named(self, found: re.Match[str]) -> str:
        name = self._names.get(found.group().lower())  # the pattern alone takes ı for i
        return found.group() if name is None else f"{{{name}}}"

    def slot_of(self, price: float, prices: PriceWords = NO_PRICES) -> Any:
        """Return the slot for an offered price, or the price itself if no slot fits it."""
        return self._slot(price, prices) or price

    def _slot(self, price: float, prices: PriceWords) -> str | None:
        if not self._is_price(price):
            return None
        own, theirs = prices
        for name, named in (("theirs", theirs), ("own", own)):
            if named is not None and abs(price - named) <= _SAME * self._listed:
                return f"{{{name}}}"
        if own is not None and theirs is not None and 0 < (way := (price - own) / (theirs - own or 1)) < 1:
            return f"{{~{way:.2f}}}"
        return f"{{${price / self._target:.2f}}}"

    def _is_price(self, number: float) -> bool:
        return self._listed > 0 and _LEAST * self._listed <= number <= _MOST * self._listed

    def price_in(self, text: str) -> float | None:
        """Return the last plausible price in text, or None if there is none."""
        if not self._listed:
            return None
        bare = text if self._pattern is None else self._pattern.sub(" ", text)
        found = [number for each in _PRICE.finditer(bare) if self._is_price(number := _number(each))]
        return found[-1] if found else None

    def entities(self, text: str) -> frozenset[tuple[str, str]]:
        """Return an (attribute, value) pair for each known value in the text, and one for the last price.

        The attribute in the pair for the last price mentioned is `price`.
        """
        words = map(str.lower, self._found(text))
        found = {(self._names[word], word) for word in words if word in self._names}
        price = self.price_in(text)
        return frozenset(found if price is None else {*found, ("price", f"{price:g}")})

    def _found(self, text: str) -> list[str]:
        return self._pattern.findall(text) if self._pattern is not None else []

    def put_in(self, text: str, said: str, rng: Random, prices: PriceWords = NO_PRICES) -> str | None:
        """Fill the slots in text, or return None if there is no value for a slot.

        Args:
            text: text with slots.
            said: everything that the partner has said, in lower case. Values that occur in it are preferred.
            rng: the random generator that chooses among equally good values.
            prices: the most recent prices named in the dialogue.
        """
        slots = _SLOT.findall(text)
        left: dict[str, list[str]] = {}
        for slot in sorted(set(slots) & set(self.values)):
            values = list(dict.fromkeys(self.values[slot]))
            rng.shuffle(values)
            left[slot] = sorted(values, key=lambda value: value.lower() in said)  # taken from the end
        filled = {slot: self.price_of(slot, prices) for slot in slots if slot not in left}
        if None in filled.values():
            return None

        def fill(found: re.Match[str]) -> str:
            slot = found.group(1)
            if slot in filled:
                return f"{filled[slot]:.0f}"
            return left[slot].pop() if len(left[slot]) > 1 else left[slot][0]

        return _SLOT.sub(fill, text)

    def price_of(self, slot: str, prices: PriceWords = NO_PRICES) -> float | None:
        """Return the price that a slot stands for, rounded to whole dollars.

        The result is None if the slot does not stand for a price, or if the price has not been named yet.
        """
        own, theirs = prices
        price: float | None = None
        if slot == "own":
            price = own
        elif slot == "theirs":
            price = theirs
        elif slot.startswith("$") and self._listed:
            price = float(slot[1:]) * self._target
        elif slot.startswith("~") and own is not None and theirs is not None:
            price = own + float(slot[1:]) * (theirs - own)
        return None if price is None else float(round(price))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key, string) for each string of 3 to 60 characters in JSON data.

    The key is the name of the field that contains the string; `name` is the key of `value` itself. If a list
    contains items with values, the key for an item's name is its rank: `thing 1` is the most valuable item.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, str(key))
    elif isinstance(value, list | tuple):
        if value and all(map(_is_kind, value)):
            ranked = sorted(value, key=lambda each: (-each["Value"], each["Name"]))
            yield from ((f"thing {rank}", str(each["Name"])) for rank, each in enumerate(ranked, 1))
            return
        for inner in value:
            yield from leaves(inner, name)
    elif isinstance(value, str) and 2 < len(value) <= 60 and name not in _UNREAD:
        yield name, value


def _is_kind(value: Any) -> bool:
    return isinstance(value, Mapping) and "Name" in value and isinstance(value.get("Value"), int | float)


def _number_at(kb: Any, *names: str) -> float:
    for name in names:
        kb = kb.get(name) if isinstance(kb, Mapping) else None
    return float(kb) if isinstance(kb, int | float) else 0.0


def _number(found: re.Match[str]) -> float:
    return float(found.group().replace(",", ""))
