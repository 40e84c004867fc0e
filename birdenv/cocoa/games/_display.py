"""How an episode of CoCoA's games is shown to people: what each seat knew, then the dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from birdenv.dialogue import Seat
from birdenv.dialogue.display import GameDisplay, Section, table_section
from birdenv.dialogue.measures import Record


def knowledge_display(title: str, seats: Sequence[Seat]) -> GameDisplay:
    """Return the display of a game whose seats know different things.

    Args:
        title: what the dialogue is for.
        seats: the seats.
    """

    def sections(record: Record) -> Sequence[Section]:
        known = record["example"]["scenario"].get("kbs") or ()
        return [
            table_section(f"What the seat {seat.name} knows", _rows(each))
            for seat, each in zip(seats, known, strict=False)
        ]

    return GameDisplay(request=lambda record: title, sections=sections)


def _rows(known: Any) -> list[Mapping[str, Any]]:
    """A list of things as it is; what has names as pairs."""
    if isinstance(known, Mapping):
        return [{"": name, "value": value} for name, value in _pairs(known)]
    return [each if isinstance(each, Mapping) else {"": str(each)} for each in known]


def _pairs(known: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in known.items():
        if isinstance(value, Mapping):
            found += _pairs(value, f"{name} ")
        elif value not in (None, "", []):
            words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            found.append((f"{above}{name}", words))
    return found
