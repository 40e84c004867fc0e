"""Moves of other dialogues made to fit the present one: slots filled, an item and a share chosen."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from birdenv.dialogue import Action, View
from birdenv.dialogue.acts import Listener
from birdenv_agents import deal_or_no_deal


def grounded(action: Action, data: Any, listener: Listener, view: View, rng: Random) -> Any:
    """Return data for a move of this episode.

    Args:
        action: the action.
        data: the data of such a move in another dialogue, with slots.
        listener: has followed the dialogue up to the view.
        view: what the seat sees.
        rng: chooses among several values.
    """
    kinds = {field.kind for field in action.fields}
    if "item" in kinds:
        return listener.best_item(view) if listener.offered is None else listener.offered
    if kinds == {"integer"}:
        return deal_or_no_deal.standing_share(view)
    if isinstance(data, str):
        return listener.lexicon.put_in(data, listener.heard, rng, listener.prices)
    if isinstance(data, Mapping) and isinstance(data.get("price"), str):
        return {**data, "price": listener.lexicon.price_of(data["price"].strip("{}"), listener.prices)}
    return data
