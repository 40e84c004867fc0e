"""What a study's database tells of people, dialogues, moves and problems, as values."""

from __future__ import annotations

from typing import Any, NamedTuple

from birdenv.dialogue import Event


class Person(NamedTuple):
    """One person of the study, as stored.

    Attributes:
        id: a random number; the signed cookie holds it.
        external: the id that a platform gave, or None.
        platform: the platform's other parameters.
        status: `instructions`, `waiting`, `chat`, `alone`, `survey`, `finished`.
        since: when that status began, in seconds.
        tries: failed tries of the comprehension check.
        dialogue: the last dialogue.
        seat: the seat in it.
        ending: how it ended.
        code: the completion code.
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
    """One dialogue, as stored. `seats` says who sits there: `human`, or a player's spec."""

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
    """A problem that a person reported to the study's owner, and the page on which they were."""

    person: str
    dialogue: str | None
    status: str
    time: float
    text: str


class StoredMove(NamedTuple):
    """One move as it was sent, the event that was heard of it, and what the rules noted (`Rules.noted`)."""

    seat: int
    cid: str | None
    event: Event
    noted: Any = None
