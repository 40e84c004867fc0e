"""Measures for dialogues in CoCoA's games, and tables that show each seat's knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Final

from birdenv.dialogue import Seat
from birdenv.dialogue.measures import (
    Details,
    GameDisplay,
    GameMeasures,
    Measure,
    Record,
    Section,
    table_section,
)


def knowledge_display(title: str, seats: Sequence[Seat]) -> GameDisplay:
    """Return a display for reports that shows each seat's knowledge in a table.

    Args:
        title: the text that every dialogue shows as its request.
        seats: the game's seats.
    """

    def sections(record: Record) -> Sequence[Section]:
        known = record["example"]["scenario"].get("kbs") or ()
        return [
            table_section(f"What the seat {seat.name} knows", _rows(each))
            for seat, each in zip(seats, known, strict=False)
        ]

    return GameDisplay(request=lambda record: title, sections=sections)


def _rows(known: Any) -> list[Mapping[str, Any]]:
    """Return the rows of a table that shows a seat's knowledge: its items, or names and values."""
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


def _events(run: Record) -> float | None:
    return float(len(run["example"]["events"])) if "example" in run else None


def _actions(run: Record, name: str) -> float | None:
    if "example" not in run:
        return None
    return float(sum(event["action"] == name for event in run["example"]["events"]))


def _found(run: Record) -> float | None:
    return float(run["reward"] > 0) if "reward" in run else None


def _deal(run: Record) -> float | None:
    return float(run["example"]["outcome"]["reward"]) if "example" in run else None


def _margin(run: Record) -> float | None:
    return float(run["reward"]) if _deal(run) else None


def _fits(run: Record) -> float | None:
    return float(run["example"]["outcome"]["valid_deal"]) if "example" in run else None


def _points(run: Record) -> float | None:
    return float(run["reward"]) if "reward" in run else None


_LENGTH: Final = Measure(
    "events", "Events in a dialogue", _events, is_rate=False, most=inf, less_is_better=True, compared=False
)


def _by_selection(records: Sequence[Record], private: Sequence[Record]) -> Details:
    found = sum(_found(record) or 0.0 for record in records)
    selections = sum(_actions(record, "select") or 0.0 for record in records)
    share = round(found / selections, 4) if selections else None
    line = "Success per selection: " + (
        f"{share:.3f}" if share is not None else "not defined, nobody selected"
    )
    return Details({"success_per_selection": share}, (line,))


MUTUAL_FRIENDS: Final = GameMeasures(
    (
        Measure("success", "Success", _found, drawn=True),
        _LENGTH,
        Measure(
            "selections",
            "Selections",
            lambda run: _actions(run, "select"),
            is_rate=False,
            most=inf,
            less_is_better=True,
        ),
    ),
    details=_by_selection,
)
BARGAIN: Final = GameMeasures(
    (
        Measure("deals", "Deals", _deal, drawn=True),
        Measure(
            "margin",
            "Margin of the agent",
            _margin,
            is_rate=False,
            least=-inf,
            most=inf,
            silent="without a deal",
        ),
        _LENGTH,
    )
)
DEAL_OR_NO_DEAL: Final = GameMeasures(
    (
        Measure("deals", "Valid deals", _fits, drawn=True),
        Measure("points", "Points of the agent", _points, is_rate=False, most=10.0),
        _LENGTH,
    )
)
