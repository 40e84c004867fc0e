"""One entry of the event log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Event(NamedTuple):
    """What one seat did, in the fields of CoCoA's event files.

    `time` is a step counter from 1 in simulated dialogues, unique within a dialogue. `data` is a JSON value.
    `metadata` holds what the environment replied to the move (`{"sender": ..., "reply": ...}`) or null; it
    contains only what both seats may read afterwards.
    """

    agent: int
    time: float
    action: str
    data: Any = None
    start_time: float | None = None
    metadata: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
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
        return cls(
            agent=record["agent"],
            time=record["time"],
            action=record["action"],
            data=record.get("data"),
            start_time=record.get("start_time"),
            metadata=record.get("metadata"),
        )
