"""The records in a study's database: people, dialogues, moves and problem reports."""

from __future__ import annotations

from typing import Any, NamedTuple

from birdenv.dialogue import Event


class Person(NamedTuple):
    """A participant in a study.

    Attributes:
        id: a random id, which is also in the person's signed cookie.
        external: the person's id on a recruiting platform; None if no platform sent the person.
        platform: all parameters that the platform sent.
        status: `instructions`, `waiting`, `chat`, `alone`, `survey` or `finished`.
        since: the time when `status` began, in seconds since 1970.
        tries: how many times the person has failed the comprehension check.
        dialogue: the id of the person's last dialogue; None before the first dialogue.
        seat: the index of the person's seat in `dialogue`; None before the first dialogue.
        ending: why the person's participation ended; None before the end.
        code: the completion code; None if the person has none.
    """

    id: str
    external: str | None
    platform: dict[str, str]
    status: str
    since: float
    tries: int
    dialogue: str | None
    seat: int | None
    ending: str | None
    code: str | None


class StoredDialogue(NamedTuple):
    """A dialogue in a study's database. Fields about the end are None while the dialogue is running.

    Attributes:
        id: the id of the dialogue.
        task: the id of the task.
        partner: the kind of partner, a key of `StudyConfig.partners`.
        seed: the seed for the players.
        seats: who sits in each seat: `human`, or a player such as `learned:FILE`.
        started: when the dialogue began, in seconds since 1970.
        ended: when the dialogue ended, in seconds since 1970.
        status: why the dialogue ended.
        outcome: the public result of the dialogue.
        rewards: the reward of each seat.
    """

    id: str
    task: str
    partner: str
    seed: int
    seats: list[str]
    started: float
    ended: float | None
    status: str | None
    outcome: dict[str, Any] | None
    rewards: list[float] | None


class ProblemReport(NamedTuple):
    """A person's report of a problem, with the person's dialogue and status at that time.

    Attributes:
        person: the id of the person.
        dialogue: the id of the person's last dialogue; None before the first dialogue.
        status: the status of the person.
        time: the time of the report, in seconds since 1970.
        text: the report.
    """

    person: str
    dialogue: str | None
    status: str
    time: float
    text: str


class StoredMove(NamedTuple):
    """A move in a study's database.

    Attributes:
        seat: the seat that made the move.
        cid: the browser's id for the move; None if a player made the move.
        event: the event of the move in the log.
        noted: the value of `Rules.noted` that was recorded after the move, which a replay needs; None if
            there is none.
    """

    seat: int
    cid: str | None
    event: Event
    noted: Any = None
