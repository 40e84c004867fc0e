"""The records in the database of a study: people, dialogues, moves and problem reports."""

from __future__ import annotations

from typing import Any, NamedTuple

from birdenv.dialogue import Event


class Person(NamedTuple):
    """One person in the study.

    Attributes:
        id: a random id, which the person's signed cookie contains.
        external: the person's id on a recruiting platform, or None.
        platform: all parameters that the platform sent.
        status: `instructions`, `waiting`, `chat`, `alone`, `survey` or `finished`.
        since: the time when `status` began, in seconds since 1970.
        tries: how many times the person has failed the comprehension check.
        dialogue: the id of the person's last dialogue; None before the first dialogue.
        seat: the index of the person's seat in `dialogue`; None before the first dialogue.
        ending: why the person's part in the study ended; None before the end.
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
    """One dialogue in the database. `seats` says who sits in each seat: `human`, or a player's spec."""

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
    """A person's report of a problem to the study's team. `status` is the person's status at that time."""

    person: str
    dialogue: str | None
    status: str
    time: float
    text: str


class StoredMove(NamedTuple):
    """One move in the database: its event in the log, and the value of `Rules.noted` after the move."""

    seat: int
    cid: str | None
    event: Event
    noted: Any = None
