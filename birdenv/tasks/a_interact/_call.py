"""Reading a move as a call of a tool."""

from __future__ import annotations

from typing import NamedTuple

from birdenv.dialogue import Move
from birdenv.tasks._actions import ARGUMENTS, MAX_TEXT, SEPARATOR, TOOLS, Kind

__all__ = ["Call", "read_call"]


class Call(NamedTuple):
    """What a move asks for. `text` is None where the tool's argument is missing or malformed.

    `move` is what the log keeps: without text that is too long, or that the tool does not take.
    """

    kind: Kind | None
    text: str | None
    move: Move


def read_call(move: Move) -> Call:
    """The tool of that name with its text; an empty submission is one, any other empty argument is not."""
    kind = next((kind for kind in TOOLS if kind == move.action), None)
    legible = move.data if isinstance(move.data, str) and len(move.data) <= MAX_TEXT else None
    if kind is None:
        return Call(None, None, Move(move.action, legible))
    if not ARGUMENTS[kind]:
        return Call(kind, "", Move(kind, ""))
    complete = legible is not None and (kind == "submit_sql" or _is_complete(kind, legible))
    return Call(kind, legible if complete else None, Move(kind, legible))


def _is_complete(kind: Kind, text: str) -> bool:
    parts = text.split(SEPARATOR) if len(ARGUMENTS[kind]) > 1 else [text]
    return len(parts) == len(ARGUMENTS[kind]) and all(part.strip() for part in parts)
