"""Adapt moves from other dialogues to the present one, by filling slots and choosing items."""

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
    """Adapt the data of a move from another dialogue to the present episode.

    Args:
        action: the action of the move.
        data: the data of the move. Slots stand for words of the other dialogue's scenario.
        listener: a listener that has followed the present dialogue up to `view`.
        view: what the player sees now.
        rng: the random generator that chooses among several values.
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
    """Return a text that describes the present situation: the task's question and the last message.

    The text is empty in games whose moves are learned with slots, because such moves fit any situation.

    Args:
        task: the public description of the task.
        view: what the player sees now.
        listener: a listener that has followed the dialogue up to `view`.
    """
    if listener.lexicon.values:
        return ""
    return f"{getattr(task, 'question', '')} {view.message}".strip()[:_MOST_ABOUT]


def data_of(known: KnownAct, about: str, rng: Random) -> Iterator[Any]:
    """Yield the learned data of an act. Data from the situations most similar to `about` come first.

    Data with slots fit any situation. In this case, yield only one of them, drawn by frequency.
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
    """Return a fallback move: accept an offer, repeat an earlier move, or quit. None if none is legal."""
    if "accept" in view.legal:
        return Move("accept")
    own = (event for event in view.heard if event.agent == view.seat)
    refused = [Move(each.action, each.data) for each in own if (each.metadata or {}).get("refused")]
    possible = (move for move in reversed(made) if move.action in view.legal and move not in refused)
    fits = (move for move in possible if seat.by_name[move.action].fault(move.data, view.choices) is None)
    again = next(fits, None)
    return again or (Move("quit") if "quit" in view.legal else None)
