"""The records in the database of a study: people, dialogues, moves and problem reports."""

from __future__ import annotations

from typing import Any, NamedTuple

from birdenv.dialogue import Event


class Person(NamedTuple):
    """One person in the study.

    Attributes:
        id: a random id, which is in the signed cookie.
        external: the id on a platform, or None.
        platform: all parameters of the platform.
        status: `instructions`, `waiting`, `chat`, `alone`, `survey` or `finished`.
        since: the time in seconds when that status began.
        tries: the number of failed tries of the comprehension check.
        dialogue: the id of the last dialogue, or None.
        seat: the index of the seat in that dialogue, or None.
        ending: the reason why the person's part ended, or None.
        code: the completion code, or None.
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
    """A problem that a person reported to the study's team, with the person's status at that time."""

    person: str
    dialogue: str | None
    status: str
    time: float
    text: str


class StoredMove(NamedTuple):
    """One move in the database: its event in the log, and the value of `Rules.noted` after it."""

    seat: int
    cid: str | None
    event: Event
    noted: Any = None
