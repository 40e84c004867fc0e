"""Read dialogue files, including irregular ones, and write files that CoCoA's own reader accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, nextafter
from pathlib import Path
from typing import Any, Final

from pydantic import Field, field_validator, model_validator

from birdenv.cocoa.files._negotiate_lines import has_lines, negotiate_records
from birdenv.cocoa.files._scenarios import Scenario, as_scenario
from birdenv.cocoa.files._values import (
    FileObject,
    as_terms,
    as_time,
    from_text,
    read_list,
    without_nan,
    write_list,
)
from birdenv.dialogue.move import HOUSE, Event
from birdenv.dialogue.record import Example
from birdenv.errors import InputError
from birdenv.files import read_records

JUDGED: Final = "eval"
"""The action of a judgement. A judgement has the time of the message that it is about."""

_TICK: Final = 0.001  # seconds between events that a file gives the same time


def with_own_times(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return events with strictly increasing times. A judgement gets the time of the event it judges.

    A judgement about an event that is not in the file is left out, because CoCoA's reader would fail.
    """
    times: dict[int, int | float] = {}
    last: int | float = -inf
    for place, event in enumerate(events):
        if event["action"] != JUDGED:
            time = event["time"]
            last = time if time > last else max(round(last + _TICK, 3), nextafter(last, inf))
            times[place] = last
    judged: set[tuple[int, int]] = set()
    made = []
    for place, event in enumerate(events):
        if event["action"] != JUDGED:
            made.append({"start_time": None, "metadata": None, "data": None, **event, "time": times[place]})
            continue
        about = _judged(event, events, times, judged)
        if about is not None:
            judged.add((about, event["agent"]))
            made.append({**event, "time": times[about]})
    return made


def _judged(
    judgement: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    places: Mapping[int, Any],
    judged: set[tuple[int, int]],
) -> int | None:
    """Return the index of the event that a judgement is about, or None if there is no such event.

    Among events with the judgement's time, an event with its words (`utterance`) is preferred, then an event
    of the partner, then an event that this seat has not judged. If no event has this time, exactly one event
    must have the words.
    """
    words = _words(judgement["data"].get("utterance")) if isinstance(judgement.get("data"), Mapping) else None
    at = [place for place in places if events[place]["time"] == judgement["time"]]
    if not at:
        said = [place for place in places if words and _words(events[place].get("data")) == words]
        return said[0] if len(said) == 1 else None

    def distance(place: int) -> tuple[bool, bool, bool]:
        is_own = events[place]["agent"] == judgement["agent"]
        is_judged = (place, judgement["agent"]) in judged
        return _words(events[place].get("data")) != words, is_own, is_judged

    return min(at, key=distance)


def _words(data: Any) -> str | None:
    """Return text with normalised spaces and case for comparison, or None if the data is not text."""
    return " ".join(data.split()).casefold() if isinstance(data, str) else None


_STRUCTURED: Final = ("select", "offer", JUDGED)
"""The actions with structured data, which some files store as JSON text."""
_BARE: Final = ("accept", "reject", "quit")
"""The actions without data."""


class EventRecord(FileObject):
    """An event in a dialogue file.

    Attributes:
        agent: the seat that acted, or `HOUSE`.
        time: the time of the event.
        action: the name of the action.
        data: the data of the action; structured data is parsed.
        start_time: the time at which the person began to type; None if unknown.
        metadata: additional data about the event; None if there is none.
    """

    agent: int
    time: int | float
    action: str
    data: Any = None
    start_time: int | float | None = None
    metadata: Any = None

    @field_validator("time", "start_time", mode="before")
    @classmethod
    def _is_time(cls, value: Any) -> Any:
        return as_time(value)

    @field_validator("metadata", mode="before")
    @classmethod
    def _is_structured(cls, value: Any) -> Any:
        return from_text(value)

    @model_validator(mode="after")
    def _regular(self) -> EventRecord:
        # Some files have JSON as text, or only the price of an offer.
        if self.action in _STRUCTURED:
            data = as_terms(self.data) if self.action == "offer" else from_text(self.data)
        else:
            data = None if self.action in _BARE and self.data in ("", "null") else self.data
        if data is not self.data:
            self.data = data
        return self

    def event(self) -> Event:
        """Convert the record to an `Event`."""
        metadata = self.metadata if isinstance(self.metadata, Mapping) else None
        return Event(self.agent, self.time, self.action, self.data, self.start_time, metadata)


class ExampleRecord(FileObject):
    """A dialogue in a dialogue file.

    Attributes:
        uuid: the id of the dialogue.
        scenario_uuid: the id of the scenario; empty if the file does not name a scenario.
        scenario: the whole scenario; None if the file has only the scenario's id.
        agents: the name of the system in each seat ("0" or "1"); empty if the file does not name systems.
        agents_info: additional data about the systems, and survey answers; None if there is none.
        outcome: the result of the dialogue; None if the file does not contain a result.
        events: the events of the dialogue.
    """

    uuid: str
    scenario_uuid: str = ""
    scenario: Scenario | None = None
    agents: dict[str, str] = Field(default_factory=dict)
    agents_info: dict[str, Any] | None = None
    outcome: dict[str, Any] | None = None
    events: list[EventRecord]

    @field_validator("events", mode="before")
    @classmethod
    def _events(cls, value: Any) -> Any:
        return [] if value is None else value

    @field_validator("scenario", "agents_info", mode="before")
    @classmethod
    def _is_structured(cls, value: Any) -> Any:
        return from_text(value)

    @field_validator("agents", mode="before")
    @classmethod
    def _agents(cls, value: Any) -> Any:
        value = from_text(value)
        if value is not None and not isinstance(value, Mapping):
            raise ValueError("the agents must be an object that maps seats to names")
        return {str(seat): name or "" for seat, name in (value or {}).items()}

    @field_validator("outcome", mode="before")
    @classmethod
    def _outcome(cls, value: Any) -> Any:
        # The shares of a split are a list or an object by seat; here they become a list.
        value = from_text(value)
        split = value.get("item_split") if isinstance(value, Mapping) else None
        if not isinstance(split, Mapping):
            return value
        return {**value, "item_split": [split.get(seat, split.get(int(seat))) for seat in ("0", "1")]}

    @model_validator(mode="after")
    def _known_scenario(self) -> ExampleRecord:
        if not self.scenario_uuid and self.scenario is not None:
            self.scenario_uuid = self.scenario.uuid
        return self

    def example(self) -> Example:
        """Convert the record to an `Example`, the type in which runs store dialogues."""
        return Example(
            self.uuid,
            self.scenario_uuid,
            {} if self.scenario is None else self.scenario.to_json(),
            self.agents,
            self.outcome,
            tuple(record.event() for record in self.events),
            self.agents_info,
        )


def read_examples(path: Path, scenarios: Iterable[Scenario] = ()) -> list[ExampleRecord]:
    """Read the dialogues in a file such as `examples.json` or `transcripts.json`.

    Args:
        path: a JSON list, a JSON Lines file, or a `.txt` or `.txt.gz` file from end-to-end-negotiator.
        scenarios: the scenarios of dialogues that contain only a scenario id.

    Raises:
        InputError: the file cannot be read, or a record is invalid; the message names the record.
    """
    records = negotiate_records(path) if has_lines(path) else read_records(path, "dialogues")
    examples = as_examples(records, str(path))
    known = {scenario.uuid: scenario for scenario in scenarios}
    for example in examples:
        if example.scenario is None and example.scenario_uuid in known:
            example.scenario = known[example.scenario_uuid]
    return examples


def as_examples(records: Iterable[Mapping[str, Any]], where: str) -> list[ExampleRecord]:
    """Validate dialogues that a run or a study stores as JSON objects, and return them as records.

    Args:
        records: the JSON objects.
        where: the origin of the objects, such as a file, for error messages.

    Raises:
        InputError: a record is invalid; the message names the record.
    """
    examples = read_list(ExampleRecord, list(records), where)
    for number, example in enumerate(examples, 1):
        last = max(len(example.agents), 2) - 1
        for place, event in enumerate(example.events):
            if not HOUSE <= event.agent <= last:
                field = f"{where}: record {number}: the field `events.{place}.agent`"
                raise InputError(f"{field} is invalid: seats are numbered 0 to {last}, not {event.agent}")
    return examples


def write_examples(path: Path, examples: Iterable[ExampleRecord | Example | Mapping[str, Any]]) -> None:
    """Write dialogues to a file that CoCoA's own reader accepts."""
    write_list(path, [exact(each) for each in examples])


def exact(example: ExampleRecord | Example | Mapping[str, Any]) -> dict[str, Any]:
    """Return a dialogue in the form that CoCoA reads and displays.

    `agents` and `scenario` are objects or missing, never null. Every event gets a distinct time, and every
    judgement gets the time of the message that it judges. Environment events and refused moves are left out.
    """
    found = example if isinstance(example, Mapping) else example.to_json()
    made = {"agents_info": None, "outcome": None, **without_nan(found)}
    made.setdefault("scenario_uuid", "")
    if made.get("scenario"):
        made["scenario"] = as_scenario(made["scenario"])
    for name in ("agents", "scenario"):
        if not made.get(name):
            made.pop(name, None)
    made["events"] = with_own_times([each for each in made["events"] or () if _was_heard(each)])
    return made


def _was_heard(event: Mapping[str, Any]) -> bool:
    metadata = event.get("metadata")
    return event["agent"] != HOUSE and not (isinstance(metadata, Mapping) and metadata.get("refused"))
