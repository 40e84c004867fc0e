"""The transcript of one dialogue, as it stands in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from birdenv.dialogue.dialogue import spoken
from birdenv.dialogue.move import HOUSE, Event


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

    def annotation_item(self, seats: Sequence[str], name: str | None = None) -> dict[str, Any]:
        """Return an item for annotation tools (Potato): the words of all seats, as turns and as one text.

        What the house did and moves that were refused are left out.

        Args:
            seats: names of the seats.
            name: the item's id; default: that of the dialogue.
        """
        turns = []
        for event in self.events:
            metadata = event.metadata or {}
            if event.agent == HOUSE or metadata.get("refused"):
                continue
            turns.append({"speaker": seats[event.agent], "text": spoken(event)})
            if "reply" in metadata:
                turns.append({"speaker": metadata["sender"], "text": metadata["reply"]})
        return {
            "id": name or self.uuid,
            "text": "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns),
            "dialogue": turns,
            "scenario": self.scenario_uuid,
            "agents": dict(self.agents),
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
