"""What a seat is shown: what its page is built of, and events as lines. Plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from birdenv.dialogue import Dialogue, Event, Game, Rules
from birdenv.dialogue.move import HOUSE


class Shown(NamedTuple):
    """What a seat may see: the events so far, and what it may do now. A value; readers need no lock."""

    events: tuple[dict[str, Any], ...]
    state: dict[str, Any]


def setup(game: Game, rules: Rules, seat: int) -> dict[str, Any]:
    """Return what the page of a seat is built of. It never changes in a dialogue."""
    phases = game.seats[seat].phases
    return {**told(game, rules, seat), "phases": phases, "actions": actions(game, rules, seat)}


def show(
    dialogue: Dialogue, seat: int, numbers: Mapping[float, str], before: tuple[dict[str, Any], ...] = ()
) -> Shown:
    """Return what a seat may see now.

    Args:
        dialogue: the dialogue.
        seat: the seat.
        numbers: the browser's numbers of moves, by the time of their events; a seat sees its own.
        before: the lines that it was shown already.
    """
    new = tuple(
        {
            "number": len(before) + place,
            "cid": numbers.get(event.time) if event.agent == seat else None,
            **line(event, seat),
        }
        for place, event in enumerate(dialogue.heard(seat, len(before)))
    )
    view = dialogue.view(seat)
    state: dict[str, Any] = {
        "legal": list(view.legal),
        "phase": view.phase,
        "gauges": dict(view.gauges),
        "choices": list(view.choices),
        "over": dialogue.is_over,
    }
    if dialogue.is_over:
        state |= {"status": dialogue.status, "reward": dialogue.rewards[seat]}
    return Shown((*before, *new), state)


def told(game: Game, rules: Rules, seat: int) -> dict[str, Any]:
    """Return what a seat is told before the first move. It never changes in a dialogue."""
    said, voice = rules.opening(seat)
    return {
        "guide": game.seats[seat].guide,
        "instruction": rules.instruction(seat),
        "knowledge": rules.knowledge(seat),
        "opening": said,
        "voice": voice,
    }


def actions(game: Game, rules: Rules, seat: int) -> list[dict[str, Any]]:
    """Return the actions of a seat, from which its controls are made."""
    scale = rules.scale(seat)
    return [
        {
            "name": action.name,
            "about": action.about,
            "fields": [
                {
                    "name": each.name,
                    "kind": each.kind,
                    "low": each.low,
                    "high": scale.get(each.name, each.high),
                    "length": each.max_length,
                    "optional": each.optional,
                }
                for each in action.fields
            ],
        }
        for action in game.seats[seat].actions
    ]


def line(event: Event, seat: int) -> dict[str, Any]:
    """Return an event that a seat saw, as the line of its page."""
    metadata: Mapping[str, Any] = event.metadata or {}
    return {
        "who": "house" if event.agent == HOUSE else "you" if event.agent == seat else "partner",
        "action": event.action,
        "data": event.data,
        "reply": metadata.get("reply"),
        "voice": metadata.get("sender"),
        "refused": bool(metadata.get("refused")),
    }
