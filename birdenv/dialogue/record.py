"""The transcript of a dialogue (`Example`), and the records of an episode in run folders.

An episode has a public record, a private record, and a record of durations. If the infrastructure or the
player of another seat fails, the episode ends at once, and its public record describes the failure.
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
from birdenv.dialogue.players import Player, SeatError, Watched
from birdenv.dialogue.usage import Usage
from birdenv.errors import InfrastructureError, describe_error


@dataclass(frozen=True, slots=True)
class Example:
    """The transcript of a finished dialogue, in the format of CoCoA's `examples.json`.

    Attributes:
        uuid: the id of the dialogue.
        scenario_uuid: the id of the task.
        scenario: the public description of the task, which contains nothing that only the user may know.
        agents: the name of the player in each seat, keyed by the index of the seat as text ("0", "1").
        outcome: the public result of the episode; None if the file does not contain it.
        events: the log of the dialogue.
        agents_info: the field with this name in CoCoA's files; None in birdenv's records.
    """

    uuid: str
    scenario_uuid: str
    scenario: Mapping[str, Any]
    agents: Mapping[str, str]
    outcome: Mapping[str, Any] | None
    events: tuple[Event, ...]
    agents_info: Mapping[str, Any] | None = field(default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the transcript as a JSON object."""
        return {
            "uuid": self.uuid,
            "scenario_uuid": self.scenario_uuid,
            "scenario": dict(self.scenario),
            "agents": dict(self.agents),
            "agents_info": dict(self.agents_info) if self.agents_info is not None else None,
            "outcome": dict(self.outcome) if self.outcome is not None else None,
            "events": [event.to_json() for event in self.events],
        }

    def annotation_item(self, seats: Sequence[str]) -> dict[str, Any]:
        """Return the dialogue in the format of annotation tools such as Potato, as turns and as one text.

        The result excludes refused moves, and the event that birdenv logs when it ends a dialogue.

        Args:
            seats: the names of the seats.
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
            "id": self.uuid,
            "text": "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns),
            "dialogue": turns,
            "scenario": self.scenario_uuid,
            "agents": dict(self.agents),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Example:
        """Read a transcript from a JSON object."""
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
"""The status of an episode that an infrastructure failure ended, so that it says nothing about any player."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure that ended an episode.

    Attributes:
        status: the status of the episode, such as `infra_error`.
        error: a one-line, human-readable description of the failure.
        seat: the index of the seat with the player that failed; None if no player failed.
    """

    status: str
    error: str
    seat: int | None = None


def end_by_fault(dialogue: Dialogue, error: InfrastructureError | SeatError) -> Failure:
    """End a dialogue because of an error, and return a description of the failure."""
    if isinstance(error, SeatError):
        found = Failure(PARTNER_ERROR, describe_error(error.cause), error.seat)
    else:
        found = Failure(INFRA_ERROR, str(error))
    dialogue.stop(found.status)
    return found


def left_alone(dialogue: Dialogue, players: Sequence[Watched | None], agent: int) -> Failure | None:
    """Return the failure of a seat other than the agent's that can only answer and has stopped answering."""
    fault = {"silence": "said nothing", "left": "left"}.get(dialogue.status)
    if fault is None:
        return None
    for place, (seat, player) in enumerate(zip(dialogue.rules.seats, players, strict=True)):
        only_answers = place != agent and len(seat.actions) == 1
        if only_answers and player is not None and player.left == fault:
            return Failure(PARTNER_ERROR, f"the player of the seat {seat.name} {fault}", place)
    return None


def fault_words(failure: Failure) -> str:
    """Return the message that tells a policy that a failure ended the episode.

    The message does not give the cause, which may reveal the solution.
    """
    return f"The dialogue was ended: {failure.status}."


_MOST_FAULTS: Final = 100  # the largest number of kinds, and of characters in the name of a kind

Records = dict[str, dict[str, Any]]
"""The records of an episode: one for each file of the run folder (`runs`, `private`, `timings`)."""


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
    """Return the records of a finished episode.

    Args:
        game: the game that was played.
        tasks: the tasks of the game.
        name: the id of the task.
        dialogue: the finished dialogue.
        players: the player in each seat; None for a seat that the caller played.
        names: the name of the player in each seat.
        used: the model usage of the player in each seat; None if it is not known.
        broken: the failure that ended the episode; None if there was no failure.
        started: the value of `time.perf_counter()` at the start of the episode.
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
    """Return the records of an episode that was skipped or could not begin. `why` is the reason."""
    public = {**tasks.fields(name), "status": why.status, "reward": 0.0, **tasks.skipped(name)}
    public |= {"error": why.error} if why.error else {}
    return _bundle(name, public, dict(tasks.skipped_private(name)), time.perf_counter(), {})


def mark_repeat(records: Mapping[str, dict[str, Any]], repeat: int) -> Records:
    """Return copies of an episode's records with the field `repeat`, the zero-based index of the repetition.

    The index is also appended to the id of the transcript.
    """
    marked = {
        stream: {"instance_id": record["instance_id"], "repeat": repeat, **record}
        for stream, record in records.items()
    }
    example = marked["runs"].get("example")
    if example is not None:
        marked["runs"]["example"] = example | {"uuid": f"{example['uuid']}_{repeat}"}
    return marked


def model_faults(player: Player | None) -> dict[str, int]:
    """Return how often a player's model made each kind of mistake, as reported by the player's `faults()`.

    The mapping is empty if the player has no such method, or if the method does not return such numbers.
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
    """Return the records of an episode. Durations are kept separate, so the others are reproducible."""
    key = {"instance_id": instance_id}
    stamp = {"timestamp": int(time.time() * 1000), "str": datetime.now().strftime("%Y-%m-%d %H:%M:%S")}
    timings = {**key, "time": stamp, "wall_s": round(time.perf_counter() - started, 6), **durations}
    return {"runs": {**key, **public}, "private": {**key, **private}, "timings": timings}
