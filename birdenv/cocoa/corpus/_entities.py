"""Find item values, prices and other numbers in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from birdenv.cocoa.corpus._corpus import CorpusDialogue
from birdenv.cocoa.corpus._text_statistics import tokens
from birdenv.cocoa.games.bargain import margins
from birdenv.dialogue.move import Event
from birdenv.statistics import number

_NUMBER: Final = re.compile(r"(?<![\w.,])\$?\d[\d,]*(?:\.\d+)?(?!\w)")
_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
)
_NONE: Final = {"no": 0, "none": 0, "nobody": 0}
COUNTS: Final = {word: number for number, word in enumerate(_NUMBER_WORDS)} | _NONE
"""The values of numbers that are written as words."""


class Mention(NamedTuple):
    """A scenario value that occurs in a message.

    Attributes:
        start: the position of the value in the message.
        attribute: the attribute that the value belongs to.
        value: the value as the scenario spells it.
    """

    start: int
    attribute: str
    value: str


class Entities:
    """Finds values from both seats' item lists in messages. Longer values take precedence.

    If several attributes have the same value, the value counts for the first of these attributes.

    Attributes:
        lists: the list of items of each seat; empty for a scenario without items.
        attributes: the names of the attributes.
    """

    def __init__(self, dialogue: CorpusDialogue) -> None:
        self.lists = item_lists(dialogue.scenario)
        self.attributes: list[str] = []
        self._found: dict[str, list[Mention]] = {}
        self._known: dict[str, tuple[str, str]] = {}
        for item in (item for each in self.lists for item in each):
            for name, value in item.items():
                if isinstance(value, str) and value.strip():
                    self._known.setdefault(value.lower(), (name, value))
                    if name not in self.attributes:
                        self.attributes.append(name)
        joined = "|".join(re.escape(each) for each in sorted(self._known, key=lambda v: (-len(v), v)))
        self._pattern = re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE) if joined else None

    def mentions(self, text: str) -> list[Mention]:
        """Return the values in a message, in the order in which they occur."""
        if text not in self._found:
            found = self._pattern.finditer(text) if self._pattern is not None else ()
            named = ((m.start(), self._known.get(m.group().lower())) for m in found)
            self._found[text] = [Mention(start, *known) for start, known in named if known is not None]
        return self._found[text]

    def template(self, text: str) -> str:
        """Replace values, prices and other numbers in a message with slots such as `{Company}`."""
        if self._pattern is not None:
            text = self._pattern.sub(self._slot, text)
        return _NUMBER.sub(lambda m: "{price}" if m.group().startswith("$") else "{number}", text)

    def _slot(self, found: re.Match[str]) -> str:
        known = self._known.get(found.group().lower())  # the pattern alone takes ı for i
        return found.group() if known is None else f"{{{known[0]}}}"

    def count(self, seat: int, attribute: str, value: str) -> int:
        """Return the number of items in a seat's list that have the given value."""
        items = self.lists[seat] if seat < len(self.lists) else []
        return sum(str(item.get(attribute, "")).lower() == value.lower() for item in items)

    def distinct(self, seat: int) -> dict[str, int]:
        """Return the number of distinct values for each attribute in a seat's list."""
        items = self.lists[seat] if seat < len(self.lists) else []
        return {name: len({str(item[name]) for item in items if name in item}) for name in self.attributes}


def item_lists(scenario: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """Return both seats' item lists, or an empty list for a scenario without items."""
    kbs = scenario.get("kbs")
    return [
        [item for item in kb if isinstance(item, Mapping)] if isinstance(kb, list) else []
        for kb in (kbs if isinstance(kbs, list) else [])
    ]


def figures(text: str) -> list[float]:
    """Extract the numbers written in digits from a message.

    >>> figures("How about $1,200 or 1100.50?")
    [1200.0, 1100.5]
    """
    return [float(found.strip("$").replace(",", "")) for found in _NUMBER.findall(text)]


_LEAST, _MOST = 0.2, 2.0
"""A number in a message counts as a price between these shares of the advertised price."""
_MARGINS: Final = (-2.0, 2.4)
"""Margins outside this range are dropped, as in CoCoA's analysis: somebody misunderstood the game."""


class PricedListing:
    """The item for sale in a scenario, and the target price of each seat.

    Attributes:
        price: the advertised price in dollars, or None if it is unknown.
        targets: the target price of each seat; None for a seat without a target.
        roles: the role of each seat, such as `buyer`.
        category: the category of the item; empty if unknown.
        words: the words in the advertisement.
    """

    def __init__(self, scenario: Mapping[str, Any]) -> None:
        kbs = [kb for kb in scenario.get("kbs") or [] if isinstance(kb, Mapping)]
        items = _objects(kb.get("item") for kb in kbs)
        people = _objects(kb.get("personal") for kb in kbs)
        self.price = next((p for each in items if (p := number(each.get("Price"))) is not None), None)
        self.targets = [number(each.get("Target")) for each in people]
        self.roles = [str(each.get("Role") or "") for each in people]
        self.category = str(scenario.get("category") or next((i.get("Category") for i in items), "") or "")
        told = [text for each in items for text in (each.get("Title"), *_lines(each.get("Description")))]
        self.words = frozenset(word for text in told if text for word in tokens(str(text)))
        self._title = frozenset(word for each in items for word in tokens(str(each.get("Title") or "")))

    def price_in(self, text: str) -> float | None:
        """Return the last price in a message, or None if there is no price.

        Numbers that occur in the item's title, and numbers far from the advertised price, are not prices.
        """
        if not self.price:
            return None
        titles = {number for word in self._title for number in figures(word)}
        found = [
            n for n in figures(text) if _LEAST * self.price <= n <= _MOST * self.price and n not in titles
        ]
        return found[-1] if found else None

    def named(self, event: Event) -> float | None:
        """Return the price in a message or an offer, or None if there is no price."""
        if isinstance(event.data, Mapping):
            return number(event.data.get("price"))
        return self.price_in(event.data) if isinstance(event.data, str) else None

    def margin(self, seat: int, price: float) -> float | None:
        """Return a seat's margin at a price: 1 at the seat's target, 0 halfway, -1 at the partner's target.

        The result is None if the margin is undefined or implausible (below -2 or above 2.4).
        """
        if len(self.targets) != 2 or set(self.roles) != {"buyer", "seller"}:
            return None
        buyer, seller = (self.targets[self.roles.index(role)] for role in ("buyer", "seller"))
        if buyer is None or seller is None:
            return None
        both = margins(price, buyer, seller)
        made = None if both is None else both[("buyer", "seller").index(self.roles[seat])]
        return made if made is not None and _MARGINS[0] <= made <= _MARGINS[1] else None


def agreed_price(dialogue: CorpusDialogue) -> float | None:
    """Return the price that the seats agreed on, or None if there was no deal."""
    offer = dialogue.outcome.get("offer")
    if not dialogue.outcome.get("reward") or not isinstance(offer, Mapping):
        return None
    return number(offer.get("price"))


def stages(dialogue: CorpusDialogue, listing: PricedListing) -> tuple[int, int, int]:
    """Return the number of moves in the three stages of a bargain: inquiry, price discussion and conclusion.

    The price discussion begins with the first price that differs from the advertised price. The conclusion
    begins when the agreed price is named for the first time. Without a deal, there is no conclusion.
    """
    final = agreed_price(dialogue)
    named = [listing.named(each) for each in dialogue.moves]
    count = len(named)
    discuss = next((i for i, p in enumerate(named) if p is not None and p != listing.price), count)
    conclude = count if final is None else next((i for i, p in enumerate(named) if p == final), count)
    discuss = min(discuss, conclude)
    return discuss, conclude - discuss, count - conclude


def _objects(values: Iterable[Any]) -> list[Mapping[str, Any]]:
    return [value if isinstance(value, Mapping) else {} for value in values]


def _lines(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
