"""What a seat is shown: what its page is built of, and events as lines. Plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birdenv.dialogue import Event, Game, Rules
from birdenv.dialogue._event import HOUSE


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
