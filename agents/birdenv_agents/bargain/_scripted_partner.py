"""A scripted partner for Bargain. It haggles as people do, in words from a phrase bank."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from birdenv.dialogue import Move
from birdenv_agents._number_words import in_words
from birdenv_agents._phrase_bank import PhraseBank
from birdenv_agents.bargain._player import Bargainer, shown
from birdenv_agents.bargain._reader import Reading


class ScriptedBargainer(Bargainer):
    """A partner that opens at about its target price, and concedes in random steps up to a limit.

    Args:
        kb: the seat's private knowledge: its role, its target price, and the item with its list price.
        bank: the phrases that the partner can say.
        rng: the random generator for the partner's choices.
    """

    def __init__(self, kb: Mapping[str, Any], bank: PhraseBank, rng: Random) -> None:
        super().__init__(kb, bank)
        self._rng = rng
        sign = 1 if self.role == "buyer" else -1
        room = (self.listed - self.target) if sign > 0 else self.listed * 0.3
        self._limit = self.target + sign * room * rng.uniform(0.45, 0.9)
        opening = rng.choice((1.0, 1.0, 0.95, 0.9)) if sign > 0 else rng.choice((1.0, 1.0, 1.05))
        self._opening = round(self.target * opening)
        self._agreed: float | None = None
        self._greeted = False

    def _answer(self, reading: Reading) -> Move:
        if self._agreed is not None:
            return self._offer(self._agreed)
        if reading.agrees and self._own is not None and reading.price is None:
            return self._offer(self._own)
        price = self._theirs
        if price is not None and reading.price is not None and self._settles(price):
            self._agreed = price
            return self._offer(price) if self._rng.random() < 0.4 else self._said("agree", price)
        if not self._greeted:
            self._greeted = True
            act = self._rng.choice(("greet", "ask", "open", "open"))
            if act != "open" and self._bank.knows(act, self.role):
                return self._said(act)
        if self._own is not None and self._bank.knows("better", self.role) and self._rng.random() < 0.15:
            return self._said("better")
        return self._haggle(price)

    def _haggle(self, price: float | None) -> Move:
        if self._own is None:
            self._own = float(self._opening)
            return self._said("open", self._own)
        step = self._rng.choice((0.0, 0.2, 0.35, 0.5, 0.7))
        towards = self._limit if price is None else price
        wished = self._own + step * (towards - self._own)
        bound = min if self.role == "buyer" else max
        named = float(round(bound(wished, self._limit)))
        act = "insist" if named == self._own else "counter"
        self._own = named
        return self._said(act, named)

    def _takes(self, price: float | None) -> bool:
        return price is not None and self._likes(price)

    def _likes(self, price: float) -> bool:
        """Return True if a price is within the limit."""
        return price <= self._limit * 1.01 if self.role == "buyer" else price >= self._limit * 0.99

    def _settles(self, price: float) -> bool:
        """Return True if the other player's price is close enough to settle, in part at random."""
        if not self._likes(price) or self._own is None:
            return False
        return abs(price - self._own) <= 0.05 * self.listed or self._rng.random() < 0.35

    def _said(self, act: str, price: float | None = None) -> Move:
        named = 0.0 if price is None else price
        words = in_words(round(named))
        return Move(
            "message", self._bank.say(act, self.role, price=shown(named), price_words=words, title=self.title)
        )
