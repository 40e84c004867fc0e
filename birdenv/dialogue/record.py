"""The transcript of one dialogue, and the records of an episode as run folders hold them.

`Example` is the transcript, in the form of CoCoA's files. An episode has a public record, a private one, and
its durations, which say what broke it off, too. A fault that breaks an episode off is the machine's, or that
of another seat's player, and never the policy's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final

from birdenv.dialogue.dialogue import Dialogue, spoken
from birdenv.dialogue.games import Game, TaskList
from birdenv.dialogue.measures import PARTNER_ERROR
from birdenv.dialogue.move import HOUSE, Event
from birdenv.dialogue.players import Player, SeatError
from birdenv.dialogue.usage import Usage
from birdenv.errors import InfrastructureError, describe_error


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


INFRA_ERROR: Final = "infra_error"
"""Status of an episode in which something was lost that it needs; it says nothing about anybody."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an episode broke off: the status it gets, one line for people, and whose player it was."""

    status: str
    error: str
    seat: int | None = None


def end_by_fault(dialogue: Dialogue, error: InfrastructureError | SeatError) -> Failure:
    """End a dialogue because of a fault, and return the fault."""
    if isinstance(error, SeatError):
        found = Failure(PARTNER_ERROR, describe_error(error.cause), error.seat)
    else:
        found = Failure(INFRA_ERROR, str(error))
    dialogue.stop(found.status)
    return found


def fault_words(failure: Failure) -> str:
    """Return what a policy reads of a fault. The cause may tell of the solution, so it is not said."""
    return f"The dialogue was ended: {failure.status}."


_MOST_FAULTS: Final = 100  # kinds, and characters of one

Records = dict[str, dict[str, Any]]
"""A record for each stream of the run directory."""


def record_episode(
    game: Game,
    tasks: TaskList,
    name: str,
    dialogue: Dialogue,
    players: Sequence[Player | None],
    names: Sequence[str],
    used: Sequence[Usage | None],
    broken: Failure | None,
    started: float,
) -> Records:
    """Return the records of an episode that was played.

    Args:
        game: the game.
        tasks: its tasks.
        name: the id of the task.
        dialogue: its log.
        players: who played, by seat; None for a seat that was played from outside.
        names: their specs, by seat.
        used: what they took, by seat.
        broken: why it broke off, if it did.
        started: `time.perf_counter()` at its start.
    """
    rules = dialogue.rules
    status = dialogue.status if tasks.is_graded(name) else "ungraded"
    if broken is not None:
        status = broken.status
    faults = {seat.name: model_faults(player) for seat, player in zip(game.seats, players, strict=True)}
    example = Example(
        uuid=f"E_{name}",
        scenario_uuid=name,
        scenario=tasks.scenario(name),
        agents={str(seat): each for seat, each in enumerate(names)},
        outcome=dialogue.outcome() | {"status": status},
        events=tuple(dialogue.events),
    )
    public = {
        **tasks.fields(name),
        "status": status,
        "reward": dialogue.rewards[game.evaluated],
        **rules.record(dialogue.events),
        "example": example.to_json(),
        **_end(game, used, broken),
        **({"model_faults": shown} if (shown := {k: v for k, v in faults.items() if v}) else {}),
    }
    return _bundle(name, public, rules.private_record(), started, rules.durations())


def skipped_record(tasks: TaskList, name: str, why: Failure) -> Records:
    """Return the records of an episode that was skipped, or that could not even begin."""
    public = {**tasks.fields(name), "status": why.status, "reward": 0.0, **tasks.skipped(name)}
    public |= {"error": why.error} if why.error else {}
    return _bundle(name, public, dict(tasks.skipped_private(name)), time.perf_counter(), {})


def mark_repeat(records: Mapping[str, dict[str, Any]], repeat: int) -> Records:
    """Return the records of one of several episodes of a task, marked with which one it is."""
    marked = {
        stream: {"instance_id": record["instance_id"], "repeat": repeat, **record}
        for stream, record in records.items()
    }
    example = marked["runs"].get("example")
    if example is not None:
        marked["runs"]["example"] = example | {"uuid": f"{example['uuid']}_{repeat}"}
    return marked


def model_faults(player: Player | None) -> dict[str, int]:
    """Return what a player's model did wrong, by kind; a player without a model has no such method.

    Somebody's player may have one of this name that means something else.
    """
    count = getattr(player, "faults", None)
    try:
        found = dict(count()).items() if callable(count) else ()
    except Exception:
        return {}
    return {
        kind: number
        for kind, number in islice(found, _MOST_FAULTS)
        if isinstance(kind, str) and len(kind) <= _MOST_FAULTS and isinstance(number, int)
    }


def _end(game: Game, used: Sequence[Usage | None], broken: Failure | None) -> dict[str, Any]:
    known = {
        seat.name: usage.to_json()
        for seat, usage in zip(game.seats, used, strict=True)
        if usage is not None and usage.to_json()
    }
    evaluated = known.pop(game.seats[game.evaluated].name, None)
    fields: dict[str, Any] = {"usage": evaluated} if evaluated else {}
    fields |= {"usage_of_others": known} if known else {}
    if broken is not None:
        fields["error"] = broken.error
        if broken.seat is not None:
            fields["failed_seat"] = game.seats[broken.seat].name
    return fields


def _bundle(
    instance_id: str,
    public: Mapping[str, Any],
    private: Mapping[str, Any],
    started: float,
    durations: Mapping[str, float],
) -> Records:
    """Return an episode's records; times go to their own stream, so that the others repeat byte for byte."""
    key = {"instance_id": instance_id}
    stamp = {"timestamp": int(time.time() * 1000), "str": datetime.now().strftime("%Y-%m-%d %H:%M:%S")}
    timings = {**key, "time": stamp, "wall_s": round(time.perf_counter() - started, 6), **durations}
    return {"runs": {**key, **public}, "private": {**key, **private}, "timings": timings}
