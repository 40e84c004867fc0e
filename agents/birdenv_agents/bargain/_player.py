"""The rule-based Bargain player. It opens at its target, and concedes in ever smaller steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, Self

from birdenv.dialogue import Event, Move, View
from birdenv_agents._number_words import in_words
from birdenv_agents._phrase_bank import PhraseBank
from birdenv_agents.bargain._reader import Prices, Reading, read

_STEPS: Final = (0.6, 1.0)
"""The first concessions, as shares of the way from the target to the middle."""

_FURTHER: Final = 0.12
"""Each further concession, as a share of the way to the other player's target."""

_FURTHEST: Final = 0.9
_CLOSE: Final = 0.06
"""Prices that differ by less than this share of the way between both targets count as equal."""

_MANNERS: Final = ((_CLOSE, False), (_CLOSE, True), (2.0, False))
"""The usual, firm and eager style: how near an acceptable price must be, and whether to concede nothing."""

_MOST_INSISTED: Final = 3
"""After insisting this often, the player accepts the other player's price, or quits if it is too bad."""

_LEAST_GUESS: Final = 0.55
"""The player assumes that a buyer's target is at least this share of the list price."""


class Bargainer:
    """A rule-based player for either seat of Bargain.

    Args:
        kb: the seat's private knowledge: its role, its target price, and the item with its list price.
        bank: the phrases that the player can say.
    """

    def __init__(self, kb: Mapping[str, Any], bank: PhraseBank) -> None:
        self.role = str(kb["personal"]["Role"])
        self.target = float(kb["personal"]["Target"])
        self.listed = float(kb["item"]["Price"])
        self.title = str(kb["item"]["Title"])
        self._bank = bank
        self._seen = 0
        self._own: float | None = None  # the last price that the player named
        self._theirs: float | None = None  # the other player's last price
        self._first: float | None = None  # the other player's first price
        self._concessions = 0
        self._insisted = 0  # how often the same price was repeated
        self._close, self._is_firm = _MANNERS[0]

    def move(self, view: View) -> Move | None:
        """Return the next move: accept or reject an offer, offer a price, send a message, or quit."""
        news = [event for event in view.heard[self._seen :] if event.agent == 1 - view.seat]
        self._seen = len(view.heard)
        if "accept" in view.legal:
            return Move("accept" if self._takes(offered(news)) else "reject")
        if "offer" not in view.legal:
            return None
        return self._answer(self._hear(news))

    def _answer(self, reading: Reading) -> Move:
        """Return the answer to a message: an offer, a message, or leaving."""
        if reading.agrees and reading.price is None and self._own is not None:
            return self._offer(self._own)
        if reading.price is not None and self._is_agreed(reading.price):
            return self._offer(reading.price)
        if self._insisted >= _MOST_INSISTED:  # neither player concedes any more
            worth_it = self._theirs is not None and self._gain(self._theirs) >= -1
            return self._offer(self._theirs or 0.0) if worth_it else Move("quit")
        return Move("message", self._reply(reading))

    def variants(self) -> Iterator[Self]:
        """Yield a copy of the player for each of its styles of play, the usual style first."""
        for close, is_firm in _MANNERS:
            other = deepcopy(self)
            other._close, other._is_firm = close, is_firm
            yield other

    def _hear(self, news: list[Event]) -> Reading:
        """Read new messages, and remember the prices."""
        said = " ".join(
            event.data for event in news if event.action == "message" and isinstance(event.data, str)
        )
        reading = read(said, self.title, Prices(self.listed, self._own, self._theirs))
        if reading.price is not None:
            self._theirs = reading.price
            self._first = reading.price if self._first is None else self._first
        return reading

    def _is_agreed(self, price: float) -> bool:
        """Return True if the other player's price is nearly as good as the player's own next price."""
        return self._gain(price) >= self._gain(self._next()) - self._close

    def _takes(self, price: float | None) -> bool:
        """Return True if an offer is good enough to accept. If it is rejected, no other offer can follow."""
        if price is None:
            return False
        agreed = [each for each in (self._own, self._theirs) if each is not None]
        if any(abs(price - each) <= 0.02 * self.listed for each in agreed):
            return self._gain(price) >= 1 - _FURTHEST * 2
        return self._gain(price) >= -0.6

    def _gain(self, price: float) -> float:
        """Return the estimated gain from a price: -1 at the other player's target, 1 at the own target."""
        half = (self.target - self._others_target()) / 2
        return (price - (self.target + self._others_target()) / 2) / half

    def _others_target(self) -> float:
        """Return an estimate of the other player's target: its first price, within limits."""
        if self.role == "buyer":
            most = max(self.listed, self.target * 1.02 + 1)
            return most if self._first is None else min(max(self._first, self.target * 1.02 + 1), most)
        least, most = self.listed * _LEAST_GUESS, self.target * 0.98 - 1
        first = self.listed * 0.75 if self._first is None else self._first
        return min(max(first, least), most)

    def _next(self) -> float:
        """Return the price that the player would name next."""
        if self._is_firm and self._own is not None:
            return self._own
        count = self._concessions
        middle = (self.target + self._others_target()) / 2
        if count < len(_STEPS):
            return self._rounded(self.target + _STEPS[count] * (middle - self.target))
        beyond = min(0.5 + _FURTHER * (count - len(_STEPS) + 1), _FURTHEST)
        return self._rounded(self.target + beyond * (self._others_target() - self.target))

    def _reply(self, reading: Reading) -> str:
        """Return a message with a price, and with an answer if there was a question."""
        price = self.target if self._own is None else self._next()
        answer = self._bank.say("answer", self.role) if reading.asks and self._own is not None else ""
        act = "open" if self._own is None else "insist" if price == self._own else "counter"
        if self._own is not None and reading.asks and self._theirs is None:
            price, act = self._own, "insist"  # nothing to concede to
        elif self._own is not None:
            self._concessions += not self._is_firm
            self._insisted = self._insisted + 1 if price == self._own else 0
        self._own = price
        words = self._bank.say(
            act, self.role, price=shown(price), price_words=in_words(round(price)), title=self.title
        )
        return f"{answer} {words}".strip()

    def _offer(self, price: float) -> Move:
        return Move("offer", {"price": price, "sides": ""})

    def _rounded(self, price: float) -> float:
        """Return a price, rounded as people round prices."""
        unit = 50 if self.listed >= 5000 else 10 if self.listed >= 800 else 5 if self.listed >= 200 else 1
        whole = round(price / unit) * unit
        low, high = sorted((self.target, self._others_target()))
        return float(min(max(whole, low), high))


def offered(news: list[Event]) -> float | None:
    """Return the price of the last offer among the events, or None if there is no offer."""
    for event in reversed(news):
        if (
            event.action == "offer"
            and isinstance(event.data, Mapping)
            and event.data.get("price") is not None
        ):
            return float(event.data["price"])
    return None


def shown(price: float) -> str:
    """Return a price in digits, without cents if the price is a whole number."""
    return f"{price:,.0f}" if price == int(price) else f"{price:,.2f}"
