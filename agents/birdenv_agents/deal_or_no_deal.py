"""The rule-based DealOrNoDeal player. It proposes its best share first, and accepts fair shares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from typing import Any, Final, Self

from birdenv.dialogue import Move, View
from birdenv_agents._number_words import plain, with_digits

Share = dict[str, int]

_LEAST: Final = 4
"""Proposals that are worth fewer points than this are never accepted."""

_AGREES: Final = re.compile(
    r"\b(?:deal|ok(?:ay)?|yes|yeah|sure|agreed?|sounds (?:good|fair)|fine|works|that'?s fair|alright)\b"
)
_REFUSES: Final = re.compile(
    r"\b(?:no|nope|not|can'?t|cannot|won'?t|don'?t|but|need|how about|what about|rather)\b"
)
_PARTS: Final = re.compile(
    r"[.;!?]+|\b(?:but|while|and (?=you|i\b|give|take))|,(?= *(?:and )?(?:you|i\b|give|the rest))"
)
_OTHER: Final = re.compile(r"\b(?:you|your|yours|u)\b(?! (?:give|let|can give|could give))")
_REST: Final = re.compile(r"\b(?:the rest|everything else|all the others?|the others?)\b")
_ALL: Final = re.compile(r"\b(?:everything|all of (?:it|them)|them all)\b")


class Sharer:
    """A rule-based player for either seat of DealOrNoDeal.

    Args:
        kb: the kinds of things to share, each with its count and its value for this seat.
    """

    def __init__(self, kb: Sequence[Mapping[str, Any]]) -> None:
        self._counts = {item["Name"]: int(item["Count"]) for item in kb}
        self._values = {item["Name"]: int(item["Value"]) for item in kb}
        names = list(self._counts)
        shares = product(*(range(self._counts[name] + 1) for name in names))
        possible = [dict(zip(names, share, strict=True)) for share in shares]
        useful = [share for share in possible if not any(n and not self._values[t] for t, n in share.items())]
        self._proposals = sorted(useful, key=lambda share: (-self._points(share), sum(share.values())))
        self._own: Share | None = None
        self._said = 0
        self._seen = 0
        self._haste = 0  # the number of proposals by which it gives in earlier than usual

    def move(self, view: View) -> Move:
        """Return the next move: select the share that was agreed on, or propose a share."""
        news = [event for event in view.heard[self._seen :] if event.agent == 1 - view.seat]
        self._seen = len(view.heard)
        theirs: Share | None = None
        for event in news:
            if event.action == "select":  # the other player takes the rest of the last proposal
                return Move("select", self._own or self._proposals[0])
            if event.action == "message" and isinstance(event.data, str):
                theirs = read_share(event.data, self._counts)
                if theirs is None and self._own is not None and agrees(event.data):
                    return Move("select", self._own)
        rest = None if theirs is None else {t: count - theirs[t] for t, count in self._counts.items()}
        best = self._points(self._proposals[0])
        least = min(best, max(9 - 2 * (self._said + self._haste), _LEAST))
        if rest is not None and self._points(rest) >= least:
            self._own = rest
            return Move("select", rest)
        if "message" not in view.legal:
            return Move("select", self._own or self._proposals[0])
        good = [share for share in self._proposals if self._points(share) >= least]
        self._own = good[-1] if self._said else good[0]
        self._said += 1
        return Move("message", f"I would take {_told(self._own)}, and you get the rest.")

    def variants(self) -> Iterator[Self]:
        """Yield a copy of the player for each of its styles of play: usual, firm and eager."""
        for haste in (0, -1, 2):
            other = deepcopy(self)
            other._haste = haste
            yield other

    def _points(self, share: Share) -> int:
        return sum(self._values[thing] * taken for thing, taken in share.items())


def standing_share(view: View) -> Share:
    """Return the seat's share under the last proposal, or half of everything if there is no proposal."""
    counts = {item["Name"]: int(item["Count"]) for item in view.kb}
    share = {thing: count // 2 for thing, count in counts.items()}
    for event in view.heard:
        found = read_share(event.data, counts) if isinstance(event.data, str) else None
        if found is not None:
            is_own = event.agent == view.seat
            share = found if is_own else {thing: count - found[thing] for thing, count in counts.items()}
    return share


def agrees(text: str) -> bool:
    """Return True if a message accepts the last proposal."""
    said = plain(text)
    return _AGREES.search(said) is not None and _REFUSES.search(said) is None


def read_share(text: str, counts: Share) -> Share | None:
    """Return the share that a message proposes for its speaker, or None if the message proposes nothing.

    Things that the message does not name go to the other player or, if the message states only the other
    player's share, to the speaker.
    """
    mine, yours = _named(with_digits(plain(text)), counts)
    if mine:
        return {thing: mine.get(thing, 0) for thing in counts}
    if yours:
        return {thing: count - yours.get(thing, 0) for thing, count in counts.items()}
    return None


def _named(text: str, counts: Share) -> tuple[Share, Share]:
    """Return the things that a text gives to the speaker, and the things for the other player."""
    sides: tuple[Share, Share] = ({}, {})
    is_other = False
    for part in _PARTS.split(text):
        is_other = _OTHER.search(part) is not None or (is_other and not re.search(r"\b(?:i|me|my)\b", part))
        side = sides[is_other]
        if _ALL.search(part):
            side.update(counts)
        if _REST.search(part) and (sides[0] or sides[1]):
            continue
        for thing, count in counts.items():
            found = re.search(
                r"(?:(?<!\d)(\d{1,9})|\b(all|both|every|the|a|an|one))?(?: of)?(?: the| my| your)? ?"
                rf"\b{thing}(s?)\b",
                part,
            )
            if found:
                number, word, plural = found.groups()
                taken = (
                    int(number)
                    if number
                    else count
                    if plural or word in ("all", "both", "every", "the")
                    else 1
                )
                if not re.search(rf"\b(?:no|0|without)\b[^,]{{0,200}}{thing}", part):
                    side[thing] = min(taken, count)
    return sides


def _told(share: Share) -> str:
    parts = [f"{taken} {thing}{'s' if taken > 1 else ''}" for thing, taken in share.items() if taken]
    return " and ".join(parts) or "nothing"
