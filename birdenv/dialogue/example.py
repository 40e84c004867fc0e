"""The transcript of one dialogue, as it stands in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from birdenv.dialogue._event import Event


@dataclass(frozen=True, slots=True)
class Example:
    """One finished dialogue with the seven keys of CoCoA's `examples.json`.

    `agents` maps the seat ("0", "1") to the name of the system that sat in it. `scenario` is the public
    description of the task; what only the user's side may know is never part of an example.
    """

    uuid: str
    scenario_uuid: str
    scenario: Mapping[str, Any]
    agents: Mapping[str, str]
    outcome: Mapping[str, Any] | None
    events: tuple[Event, ...]
    agents_info: Mapping[str, Any] | None = field(default=None)

    def to_json(self) -> dict[str, Any]:
        return {
            "uuid": self.uuid,
            "scenario_uuid": self.scenario_uuid,
            "scenario": dict(self.scenario),
            "agents": dict(self.agents),
            "agents_info": dict(self.agents_info) if self.agents_info is not None else None,
            "outcome": dict(self.outcome) if self.outcome is not None else None,
            "events": [event.to_json() for event in self.events],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Example:
        return cls(
            uuid=record["uuid"],
            scenario_uuid=record["scenario_uuid"],
            scenario=record["scenario"],
            agents=record["agents"],
            outcome=record["outcome"],
            events=tuple(Event.from_json(event) for event in record["events"]),
            agents_info=record.get("agents_info"),
        )
