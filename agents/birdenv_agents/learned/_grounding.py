"""Adapt moves from recorded dialogues to the current dialogue: fill slots, and choose items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from birdenv.cocoa.acts import Listener
from birdenv.cocoa.games.deal_or_no_deal import THINGS
from birdenv.dialogue import Action, Move, Seat, View
from birdenv_agents import deal_or_no_deal
from birdenv_agents.learned._policy import KnownAct

_WORD: Final = re.compile(r"\w+")
_MOST_ABOUT: Final = 2000


def grounded(action: Action, data: Any, listener: Listener, view: View, rng: Random) -> Any:
    """Return the data of a recorded move, adapted to the current dialogue.

    Args:
        action: the action of the move.
        data: the data of the move, with slots for words from the recorded scenario.
        listener: a listener that has followed the current dialogue up to `view`.
        view: the player's current view.
        rng: the random generator that chooses among several values for a slot.
    """
    items = [field.name for field in action.fields if field.kind == "item"]
    if items:
        chosen = dict(zip(items, listener.best_items(view), strict=False))
        others = data if isinstance(data, Mapping) else {}
        return chosen.get(items[0]) if len(action.fields) == 1 else {**others, **chosen}
    if {field.name for field in action.fields} == set(THINGS):
        return deal_or_no_deal.standing_share(view)
    if isinstance(data, str):
        return listener.lexicon.put_in(data, listener.heard, rng, listener.prices)
    if isinstance(data, Mapping) and isinstance(data.get("price"), str):
        return {**data, "price": listener.lexicon.price_of(data["price"].strip("{}"), listener.prices)}
    return data


def situation(task: Any, view: View, listener: Listener) -> str:
    """Return a text that describes the current situation: the task's question and the last message.

    The text is empty in games whose moves are learned with slots, because such moves fit any situation.

    Args:
        task: the public description of the task.
        view: the player's current view.
        listener: a listener that has followed the dialogue up to `view`.
    """
    if listener.lexicon.values:
        return ""
    return f"{getattr(task, 'question', '')} {view.message}".strip()[:_MOST_ABOUT]


def data_of(known: KnownAct, about: str, rng: Random) -> Iterator[Any]:
    """Yield the learned data of an act, beginning with data from the situations most similar to `about`.

    If the data have slots, they fit any situation; in that case, yield a single item, drawn by frequency.
    """
    if not known.about:
        yield from rng.choices(known.data, known.counts)
        return
    words = _words(about)
    places = list(range(len(known.data)))
    rng.shuffle(places)
    yield from (known.data[place] for place in sorted(places, key=lambda p: -_alike(words, known.about[p])))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _alike(words: frozenset[str], about: str) -> float:
    others = _words(about)
    return len(words & others) / max(len(words | others), 1)


def last_resort(view: View, made: Sequence[Move], seat: Seat) -> Move | None:
    """Return a fallback move: accept an offer, repeat an earlier move, or quit; None if no move is legal.

    Args:
        view: the player's current view.
        made: the earlier moves that may be repeated.
        seat: the player's seat.
    """
    if "accept" in view.legal:
        return Move("accept")
    own = (event for event in view.heard if event.agent == view.seat)
    refused = [Move(each.action, each.data) for each in own if (each.metadata or {}).get("refused")]
    possible = (move for move in reversed(made) if move.action in view.legal and move not in refused)
    fits = (move for move in possible if seat.by_name[move.action].fault(move.data, view.choices) is None)
    again = next(fits, None)
    return again or (Move("quit") if "quit" in view.legal else None)
