"""One entry of the event log, and the seat that is the house's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

HOUSE: Final = -1
"""The seat of the house in the log: time limits, people who leave, lost servers."""

STOP: Final = "stop"
"""The action of the house that ends a dialogue; its data is the status."""

DECORATIVE: Final = frozenset({"join", "leave", "typing", "eval"})
"""Actions in files that stand beside the log: they never reach the rules. No move has such a name."""

UNKNOWN: Final = "unknown"
"""The name in the log of a move that was called as one of those."""


class Event(NamedTuple):
    """One thing that a seat did, in the fields of CoCoA's event files.

    `time` is unique in a dialogue and grows: a step counter from 1, or the driver's clock in seconds. `data`
    is a JSON value, as its action declares it. `metadata` holds the house's reply to the move
    (`{"sender": ..., "reply": ...}`) or null. `"refused": true` stands there where the move changed nothing
    and was seen by its author only. Who sees an event: `_dialogue.seen_by`, `Rules.shown`.
    """

    agent: int
    time: float
    action: str
    data: Any = None
    start_time: float | None = None
    metadata: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {
            "agent": self.agent,
            "time": self.time,
            "action": self.action,
            "data": self.data,
            "start_time": self.start_time,
            "metadata": dict(self.metadata) if self.metadata is not None else None,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Event:
        """Read an event from a JSON object."""
        return cls(
            agent=record["agent"],
            time=record["time"],
            action=record["action"],
            data=record.get("data"),
            start_time=record.get("start_time"),
            metadata=record.get("metadata"),
        )
