"""A dialogue as plain text, for `render_mode="ansi"`."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.dialogue import Event
from birdenv.tasks import SYSTEM

__all__ = ["transcript_text"]


def transcript_text(title: str, opening: str, events: Sequence[Event]) -> str:
    """The title, the user's request, then who did or said what, one entry a line or more."""
    lines = [title, f"user: {opening}"]
    for event in events:
        text = "" if event.data is None else f": {event.data}"
        lines.append(f"system, {event.action}{text}" if event.agent == SYSTEM else f"user{text}")
        if event.metadata is not None:
            lines.append(f"{event.metadata['sender']}: {event.metadata['reply']}")
    return "\n".join(lines)
